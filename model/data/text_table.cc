#include "model/data/text_table.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The bags of all texts stand one after another, in the layout of a sparse
// matrix by rows (CSR): offsets_ has where each begins, indices_ its features,
// counts_ how often each occurs. A mini-batch gathers some of these rows.

// Counts are bytes, as nearly all are 1 or 2. This one says that the count is
// in large_counts_.
constexpr std::uint8_t kLargeCount = 255;

}  // namespace

std::optional<TextId> TextInterner::Find(std::string_view text) const {
  const auto found = ids_.find(ToAbsl(text));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

TextId TextInterner::Intern(std::string_view text) {
  if (const std::optional<TextId> found = Find(text)) return *found;
  num_characters_ += static_cast<std::int64_t>(text.size());
  const TextId id = static_cast<TextId>(texts_.size());
  texts_.emplace_back(text);
  // The key points into the deque, whose elements never move.
  ids_.emplace(texts_.back(), id);
  return id;
}

TextBags::TextBags(const TextInterner& texts, const Featurizer& featurizer,
                   TextForm form)
    : form_(form) {
  if (form == TextForm::kBags) {
    AppendBags(texts, featurizer);
  } else {
    AppendSequences(texts, featurizer);
  }
  // The vectors have grown by doubling: up to half of them would be unused
  // memory for the whole run.
  indices_.shrink_to_fit();
  counts_.shrink_to_fit();
  words_.shrink_to_fit();
}

TextBags TextBags::Extend(const TextBags& base) {
  TextBags bags(base.form_);
  bags.base_ = &base;
  bags.base_bags_ = base.num_bags();
  bags.base_texts_ = base.word_offsets_.size() - 1;
  return bags;
}

TextId TextBags::Append(std::string_view text, const Featurizer& featurizer) {
  BagBatch bag;
  if (form_ == TextForm::kBags) {
    featurizer.AppendBag(text, bag);
    AppendEntries(bag);
    return static_cast<TextId>(num_bags() - 1);
  }
  // A word that another text has gets a second bag with the same features.
  ForEachWord(text, [&](std::string_view word) {
    words_.push_back(static_cast<std::uint32_t>(num_bags()));
    bag.Clear();
    featurizer.AppendBag(word, bag);
    AppendEntries(bag);
  });
  word_offsets_.push_back(words_.size());
  return static_cast<TextId>(base_texts_ + word_offsets_.size() - 2);
}

void TextBags::AppendBags(const TextInterner& texts,
                          const Featurizer& featurizer) {
  // `bag` keeps its memory from text to text; its counts are floats, as kernels
  // read them.
  BagBatch bag;
  offsets_.reserve(texts.size() + 1);
  for (std::size_t id = 0; id < texts.size(); ++id) {
    bag.Clear();
    featurizer.AppendBag(texts.text(static_cast<TextId>(id)), bag);
    AppendEntries(bag);
  }
}

void TextBags::AppendSequences(const TextInterner& texts,
                               const Featurizer& featurizer) {
  WordNumbers numbers;
  BagBatch bag;
  const auto number_of = [&](std::string_view word) {
    const std::uint32_t number = numbers.Intern(word);
    // Words and bags are numbered alike, so a number without a bag is a new
    // word.
    if (number == num_bags()) {
      bag.Clear();
      featurizer.AppendBag(word, bag);
      AppendEntries(bag);
    }
    return number;
  };
  // The padding must be number kPadding, so it comes first.
  number_of(kPaddingWord);
  word_offsets_.reserve(texts.size() + 1);
  for (std::size_t id = 0; id < texts.size(); ++id) {
    ForEachWord(
        texts.text(static_cast<TextId>(id)),
        [&](std::string_view word) { words_.push_back(number_of(word)); });
    word_offsets_.push_back(words_.size());
  }
}

void TextBags::AppendEntries(const BagBatch& bag) {
  for (const float count : bag.counts) {
    // large_counts_ is keyed by the index of the entry, so a bag can be read
    // without the bags that precede it.
    const bool large = count >= kLargeCount;
    if (large) large_counts_[counts_.size()] = count;
    counts_.push_back(large ? kLargeCount : static_cast<std::uint8_t>(count));
  }
  indices_.insert(indices_.end(), bag.indices.begin(), bag.indices.end());
  offsets_.push_back(indices_.size());
}

std::uint32_t TextBags::BagSize(std::uint32_t id) const {
  if (id < base_bags_) return base_->BagSize(id);
  const std::size_t i = id - base_bags_;
  return static_cast<std::uint32_t>(offsets_[i + 1] - offsets_[i]);
}

absl::Status TextBags::Layout(std::span<const std::uint32_t> ids,
                              BagBatch& batch) const {
  // Offsets are needed before any bag is copied: then threads can fill disjoint
  // ranges without waiting for each other.
  batch.offsets.resize(ids.size() + 1);
  std::uint64_t size = 0;
  batch.offsets[0] = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    size += BagSize(ids[i]);
    // May wrap around; then the batch is refused below.
    batch.offsets[i + 1] = static_cast<std::uint32_t>(size);
  }
  if (size > std::numeric_limits<std::uint32_t>::max()) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "the %d texts or words of a mini-batch have %d features in all, of at "
        "most %d; make --batch_size smaller",
        ids.size(), size, std::numeric_limits<std::uint32_t>::max()));
  }
  batch.indices.resize(size);
  batch.counts.resize(size);
  return absl::OkStatus();
}

void TextBags::Fill(std::span<const std::uint32_t> ids, int first, int last,
                    BagBatch& batch) const {
  // Numbers below base_bags_ are the base's, those above begin at 0 here.
  const auto find = [&](int i) {
    const TextBags& owner = ids[i] < base_bags_ ? *base_ : *this;
    return std::pair<const TextBags&, std::uint64_t>(
        owner, owner.offsets_[ids[i] - owner.base_bags_]);
  };
  // Texts come in random order, so each bag lies in memory that no cache has.
  constexpr int kPrefetchBags = 4;
  constexpr std::uint32_t kLineIndices = 16;
  for (int i = first; i < last; ++i) {
    if (i + kPrefetchBags < last) {
      const auto [owner, begin] = find(i + kPrefetchBags);
      const std::uint32_t size = batch.offsets[i + kPrefetchBags + 1] -
                                 batch.offsets[i + kPrefetchBags];
      for (std::uint32_t k = 0; k < size; k += kLineIndices) {
        __builtin_prefetch(owner.indices_.data() + begin + k);
      }
      __builtin_prefetch(owner.counts_.data() + begin);
    }
    const auto [owner, begin] = find(i);
    const std::uint32_t place = batch.offsets[i];
    const std::uint32_t size = batch.offsets[i + 1] - place;
    std::copy_n(owner.indices_.data() + begin, size,
                batch.indices.data() + place);
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint8_t count = owner.counts_[begin + k];
      batch.counts[place + k] =
          count == kLargeCount ? owner.large_counts_.find(begin + k)->second
                               : static_cast<float>(count);
    }
  }
}

}  // namespace semrank
