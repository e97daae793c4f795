// The texts of a training set, each distinct one kept once: queries and titles
// repeat, and "the same title" is then a comparison of numbers.
//
//   TextInterner  gives each distinct normalised text a number.
//   TextBags      a bag of features for each text; or, for towers that read
//                 words in order, the sequence of its words and a bag for each
//                 distinct word. Takes 5 bytes a feature, where a BagBatch
//                 takes 8, and 4 a word.
//   Threads       const after construction. Intern is not thread-safe.
#ifndef SEMRANK_MODEL_DATA_TEXT_TABLE_H_
#define SEMRANK_MODEL_DATA_TEXT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/text/featurizer.h"

namespace semrank {

// Index of a distinct text, in order of first appearance.
using TextId = std::uint32_t;

class TextInterner {
 public:
  // The number of `text`, the next free one if it is new.
  TextId Intern(std::string_view text);

  std::optional<TextId> Find(std::string_view text) const;

  std::size_t size() const { return texts_.size(); }
  // The length of all texts together, in bytes.
  std::int64_t num_characters() const { return num_characters_; }
  const std::string& text(TextId id) const { return texts_[id]; }

 private:
  std::deque<std::string> texts_;  // keys point into it
  std::int64_t num_characters_ = 0;
  absl::flat_hash_map<absl::string_view, TextId> ids_;
};

enum class TextForm { kBags, kWordSequences };

class TextBags {
 public:
  // The bag of kPaddingWord in word sequences.
  static constexpr std::uint32_t kPadding = 0;

  TextBags(const TextInterner& texts, const Featurizer& featurizer,
           TextForm form = TextForm::kBags);
  // Has all texts of `base`, which must outlive it and have no base itself;
  // Append adds the texts of a single mini-batch.
  static TextBags Extend(const TextBags& base);

  // Returns the number of the text.
  TextId Append(std::string_view text, const Featurizer& featurizer);

  // Bag i is that of text i, or of word i.
  std::size_t num_bags() const { return base_bags_ + offsets_.size() - 1; }
  // Word sequences only: the words of a text as numbers of their bags.
  std::span<const std::uint32_t> words(TextId id) const {
    if (id < base_texts_) return base_->words(id);
    const std::size_t i = id - base_texts_;
    return std::span(words_).subspan(word_offsets_[i],
                                     word_offsets_[i + 1] - word_offsets_[i]);
  }

  // Makes room in `batch` for the bags ids[0], ids[1], ... ResourceExhausted
  // when they have 2^32 features or more in all.
  absl::Status Layout(std::span<const std::uint32_t> ids,
                      BagBatch& batch) const;
  // Writes the bags of ids[first, last) into their places; in any thread.
  void Fill(std::span<const std::uint32_t> ids, int first, int last,
            BagBatch& batch) const;

 private:
  explicit TextBags(TextForm form) : form_(form) {}
  void AppendBags(const TextInterner& texts, const Featurizer& featurizer);
  void AppendSequences(const TextInterner& texts, const Featurizer& featurizer);
  void AppendEntries(const BagBatch& bag);
  std::uint32_t BagSize(std::uint32_t id) const;

  TextForm form_;
  // The bags and texts of the base have the first numbers.
  const TextBags* base_ = nullptr;
  std::size_t base_bags_ = 0;
  std::size_t base_texts_ = 0;  // 0 also without word sequences
  // Bag i: entries [offsets_[i], offsets_[i + 1]).
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint8_t> counts_;
  // Counts that do not fit, by entry; counts_ has kLargeCount there.
  absl::flat_hash_map<std::uint64_t, float> large_counts_;
  // Words of text i: [word_offsets_[i], word_offsets_[i + 1]).
  std::vector<std::size_t> word_offsets_ = {0};
  std::vector<std::uint32_t> words_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_TEXT_TABLE_H_
