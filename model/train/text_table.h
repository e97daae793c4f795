// The texts of a training set, each distinct one kept once: queries and titles
// repeat, and "the same title" is then a comparison of numbers.
//
//   TextInterner  normalised texts to numbers; needed until the vocabulary is
//                 known.
//   TextBags      their bags of features, which is all that training reads:
//                 5 bytes a feature, against 8 in a BagBatch.
//   Threads       const after construction; Intern is for one thread.
#ifndef SEMRANK_MODEL_TRAIN_TEXT_TABLE_H_
#define SEMRANK_MODEL_TRAIN_TEXT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
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

  std::size_t size() const { return texts_.size(); }
  const std::string& text(TextId id) const { return texts_[id]; }

 private:
  std::deque<std::string> texts_;  // keys point into it
  absl::flat_hash_map<absl::string_view, TextId> ids_;
};

class TextBags {
 public:
  TextBags(const TextInterner& texts, const Featurizer& featurizer);

  std::size_t num_texts() const { return offsets_.size() - 1; }

  // Makes room in `batch` for the bags of texts ids[0], ids[1], ...
  // ResourceExhausted when they have 2^32 features or more in all.
  absl::Status Layout(std::span<const TextId> ids, BagBatch& batch) const;
  // Writes the bags of ids[first, last) into their places; in any thread.
  void Fill(std::span<const TextId> ids, int first, int last,
            BagBatch& batch) const;

 private:
  void AppendEntries(const BagBatch& bag);

  // Bag of text i: entries [offsets_[i], offsets_[i + 1]).
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint8_t> counts_;
  // Counts that do not fit, by entry; counts_ has kLargeCount there.
  absl::flat_hash_map<std::uint64_t, float> large_counts_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TEXT_TABLE_H_
