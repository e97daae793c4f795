#include "model/train/batches/negative_sampler.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace semrank {

void NegativeSampler::Sample(std::span<const TextPair> pairs, Random& random,
                             MiniBatch& batch) {
  batch.queries.clear();
  batch.titles.clear();
  batch.weights.clear();
  batch.corrections.clear();
  for (const TextPair& pair : pairs) {
    batch.queries.push_back(pair.query);
    batch.titles.push_back(pair.title);
    const bool by_clicks = options_.clicks == v1::CLICK_USE_WEIGHT;
    if (by_clicks || CorrectsPositions(options_)) {
      batch.weights.push_back(
          (by_clicks ? static_cast<float>(pair.clicks) : 1) * pair.weight);
    }
  }
  batch.candidates.Clear();
  batch.masked.Clear();
  batch.all_titles = false;
  // A stream knows the clicks of this batch only.
  if (clicked_ == nullptr) clicked_in_batch_ = ClickedTitles(pairs);
  NumberTitles(batch);
  if (DrawsTitles(options_)) {
    DrawLists(random, batch);
    return;
  }
  MaskClicked(batch);
  // With J as large as the batch a list for each pair would only repeat
  // the batch.
  if (options_.negatives == 0 || options_.negatives >= batch.num_pairs() - 1) {
    batch.all_titles = true;
    for (int i = 0; options_.hard_negatives > 0 && i < batch.num_pairs(); ++i) {
      AddShown(i, options_.hard_negatives, random, batch);
      batch.candidates.EndBag();
    }
  } else {
    DrawRotations(random, batch);
  }
}

std::span<const TextId> NegativeSampler::Clicked(TextId query) const {
  return (clicked_ != nullptr ? *clicked_ : clicked_in_batch_).Of(query);
}

// Fills the map from titles to positions that AddCandidate uses.
void NegativeSampler::NumberTitles(const MiniBatch& batch) {
  places_.clear();
  for (int i = 0; i < batch.num_pairs(); ++i) {
    places_.try_emplace(batch.titles[i], i);
  }
}

// Pairs of one query have the same titles masked.
void NegativeSampler::MaskClicked(MiniBatch& batch) {
  by_title_.clear();
  for (int i = 0; i < batch.num_pairs(); ++i) {
    by_title_.emplace_back(batch.titles[i], i);
  }
  // A title that several pairs have clicked stands once for each of them, and
  // all of these positions are masked.
  std::ranges::sort(by_title_);
  first_pairs_.clear();
  for (int i = 0; i < batch.num_pairs(); ++i) {
    // A popular query may have many pairs in the batch, and many clicked
    // titles: its list is made once and then copied.
    const auto [first, is_new] = first_pairs_.try_emplace(batch.queries[i], i);
    std::vector<std::uint32_t>& positions = batch.masked.indices;
    if (is_new) {
      AppendPositions(Clicked(batch.queries[i]), positions);
    } else {
      const BagBatch& masked = batch.masked;
      for (std::uint32_t k = masked.offsets[first->second];
           k < masked.offsets[first->second + 1]; ++k) {
        positions.push_back(positions[k]);
      }
    }
    batch.masked.EndBag();
  }
}

// Appends the positions in the batch of the titles in `clicked`, by looking up
// each element of the shorter of two sorted lists in the longer one.
void NegativeSampler::AppendPositions(
    std::span<const TextId> clicked,
    std::vector<std::uint32_t>& positions) const {
  const auto begin = static_cast<std::ptrdiff_t>(positions.size());
  if (clicked.size() > by_title_.size()) {
    for (const auto& [title, position] : by_title_) {
      if (std::ranges::binary_search(clicked, title)) {
        positions.push_back(position);
      }
    }
  } else {
    for (const TextId title : clicked) {
      auto entry = std::lower_bound(by_title_.begin(), by_title_.end(),
                                    std::pair(title, std::uint32_t{0}));
      for (; entry != by_title_.end() && entry->first == title; ++entry) {
        positions.push_back(entry->second);
      }
    }
  }
  std::sort(positions.begin() + begin, positions.end());
}

// Lists that grow by doubling are expensive with J up to a thousand.
void NegativeSampler::ReserveLists(MiniBatch& batch) const {
  const std::size_t candidates =
      1 + options_.negatives + options_.hard_negatives;
  batch.candidates.indices.reserve(batch.queries.size() * candidates);
}

void NegativeSampler::DrawLists(Random& random, MiniBatch& batch) {
  ReserveLists(batch);
  DrawPool(random, batch.num_pairs());
  for (int i = 0; i < batch.num_pairs(); ++i) {
    batch.candidates.indices.push_back(i);
    int missing = options_.negatives;
    if (options_.sampling == v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED) {
      missing -= AddShown(i, missing, random, batch);
    }
    AddUniform(i, missing, random, batch);
    batch.candidates.EndBag();
  }
}

// Bounds what a step embeds, whatever J.
void NegativeSampler::DrawPool(Random& random, int num_pairs) {
  pool_.clear();
  if (titles_.size() <= kMaxDrawnTitles ||
      std::int64_t{num_pairs} * options_.negatives <= kMaxDrawnTitles) {
    return;
  }
  for (int i = 0; i < kMaxDrawnTitles; ++i) {
    // With replacement: among more than kMaxDrawnTitles titles repeats are few,
    // and AddCandidate embeds each once.
    pool_.push_back(
        titles_[random.Below(static_cast<std::uint32_t>(titles_.size()))]);
  }
}

void NegativeSampler::AddUniform(int pair, int count, Random& random,
                                 MiniBatch& batch) {
  const std::span<const TextId> clicked = Clicked(batch.queries[pair]);
  for (int j = 0; j < count; ++j) {
    const std::optional<TextId> title =
        DrawUnclicked(batch.titles[pair], clicked, random);
    if (title) AddCandidate(*title, batch);
  }
}

// Draws of the pair's own title do not count, so that a query with a single
// title has all its negatives.
std::optional<TextId> NegativeSampler::DrawUnclicked(
    TextId own_title, std::span<const TextId> clicked, Random& random) {
  const std::span<const TextId> titles =
      pool_.empty() ? titles_ : std::span<const TextId>(pool_);
  for (int draws = 0; draws < kMaxDraws;) {
    const TextId title =
        titles[random.Below(static_cast<std::uint32_t>(titles.size()))];
    if (title == own_title) continue;
    if (!std::ranges::binary_search(clicked, title)) return title;
    ++draws;
  }
  return std::nullopt;
}

// Adds up to `count` distinct shown titles in random order, and returns their
// number. A title that is a negative of the pair already counts too, once.
int NegativeSampler::AddShown(int pair, int count, Random& random,
                              MiniBatch& batch) {
  const std::span<const TextId> below =
      shown_->Below(batch.queries[pair], batch.titles[pair]);
  shuffled_.assign(below.begin(), below.end());
  const int size = static_cast<int>(shuffled_.size());
  count = std::min(count, size);
  for (int j = 0; j < count; ++j) {
    // The first steps of a Fisher-Yates shuffle: `count` distinct titles, each
    // choice equally likely.
    std::swap(shuffled_[j], shuffled_[j + random.Below(size - j)]);
    if (!IsInBatchNegative(pair, shuffled_[j], batch)) {
      AddCandidate(shuffled_[j], batch);
    }
  }
  return count;
}

// Whether a title of the batch is a negative of a pair whose list is not ended.
bool NegativeSampler::IsInBatchNegative(int pair, TextId title,
                                        const MiniBatch& batch) const {
  if (DrawsTitles(options_)) return false;
  const auto place = places_.find(title);
  if (place == places_.end()) return false;
  const auto num_pairs = static_cast<std::uint32_t>(batch.num_pairs());
  if (place->second >= num_pairs) return false;
  if (batch.all_titles) {
    return !std::ranges::binary_search(batch.MaskedFor(pair), place->second);
  }
  const BagBatch& lists = batch.candidates;
  return std::any_of(
      lists.indices.begin() + lists.offsets.back(), lists.indices.end(),
      [&](std::uint32_t listed) { return batch.titles[listed] == title; });
}

// A title drawn for several pairs is embedded once.
void NegativeSampler::AddCandidate(TextId title, MiniBatch& batch) {
  const auto [place, is_new] = places_.try_emplace(
      title, static_cast<std::uint32_t>(batch.titles.size()));
  if (is_new) batch.titles.push_back(title);
  batch.candidates.indices.push_back(place->second);
}

void NegativeSampler::DrawRotations(Random& random, MiniBatch& batch) {
  ReserveLists(batch);
  const int num_pairs = batch.num_pairs();
  shifts_.resize(num_pairs - 1);
  // Pair i gets the titles of pairs i + shift. One set of distinct shifts
  // serves all pairs: no title comes twice, none is the pair's own, and each
  // title is a negative of equally many pairs.
  std::iota(shifts_.begin(), shifts_.end(), 1);
  Shuffle(random, shifts_);
  for (int i = 0; i < num_pairs; ++i) {
    batch.candidates.indices.push_back(i);
    for (int j = 0; j < options_.negatives; ++j) {
      const std::uint32_t other = (i + shifts_[j]) % num_pairs;
      if (!std::ranges::binary_search(batch.MaskedFor(i), other)) {
        batch.candidates.indices.push_back(other);
      }
    }
    if (options_.hard_negatives > 0) {
      AddShown(i, options_.hard_negatives, random, batch);
    }
    batch.candidates.EndBag();
  }
}

}  // namespace semrank
