#include "model/train/batches/negative_sampler.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace semrank {
namespace {

void EndList(MiniBatch& batch) {
  batch.candidates.offsets.push_back(
      static_cast<std::uint32_t>(batch.candidates.indices.size()));
}

}  // namespace

ClickedTitles::ClickedTitles(std::span<const TextPair> pairs)
    : titles_(pairs.size()) {
  TextId last_query = 0;
  for (const TextPair& pair : pairs) {
    last_query = std::max(last_query, pair.query);
  }
  offsets_.resize(std::size_t{last_query} + 2);
  for (const TextPair& pair : pairs) ++offsets_[pair.query];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  // From the end of each query's range to its beginning.
  for (const TextPair& pair : pairs) {
    titles_[--offsets_[pair.query]] = pair.title;
  }
  for (std::size_t q = 0; q <= last_query; ++q) {
    std::sort(titles_.begin() + offsets_[q], titles_.begin() + offsets_[q + 1]);
  }
}

std::span<const TextId> ClickedTitles::Of(TextId query) const {
  if (std::size_t{query} + 1 >= offsets_.size()) return {};
  return std::span(titles_).subspan(offsets_[query],
                                    offsets_[query + 1] - offsets_[query]);
}

void NegativeSampler::Sample(std::span<const TextPair> pairs, Random& random,
                             MiniBatch& batch) {
  batch.queries.clear();
  batch.titles.clear();
  batch.weights.clear();
  for (const TextPair& pair : pairs) {
    batch.queries.push_back(pair.query);
    batch.titles.push_back(pair.title);
    if (options_.clicks == v1::CLICK_USE_WEIGHT) {
      batch.weights.push_back(static_cast<float>(pair.clicks));
    }
  }
  batch.candidates.Clear();
  batch.all_titles = false;
  if (DrawsTitles(options_) || options_.hard_negatives > 0) {
    NumberTitles(batch);
  }
  if (DrawsTitles(options_)) {
    DrawLists(random, batch);
  } else if (options_.negatives == 0 ||
             options_.negatives >= batch.num_pairs() - 1) {
    batch.all_titles = true;
    for (int i = 0; options_.hard_negatives > 0 && i < batch.num_pairs(); ++i) {
      AddShown(i, options_.hard_negatives, random, batch);
      EndList(batch);
    }
  } else {
    DrawRotations(random, batch);
  }
}

// What AddCandidate looks up.
void NegativeSampler::NumberTitles(const MiniBatch& batch) {
  places_.clear();
  for (int i = 0; i < batch.num_pairs(); ++i) {
    places_.try_emplace(batch.titles[i], i);
  }
}

// With J up to a thousand, lists that grow by doubling are expensive.
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
    EndList(batch);
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
    pool_.push_back(
        titles_[random.Below(static_cast<std::uint32_t>(titles_.size()))]);
  }
}

void NegativeSampler::AddUniform(int pair, int count, Random& random,
                                 MiniBatch& batch) {
  const std::span<const TextId> also_clicked =
      clicked_ == nullptr ? std::span<const TextId>()
                          : clicked_->Of(batch.queries[pair]);
  for (int j = 0; j < count; ++j) {
    AddCandidate(DrawUnclicked(batch.titles[pair], also_clicked, random),
                 batch);
  }
}

TextId NegativeSampler::DrawUnclicked(TextId clicked_title,
                                      std::span<const TextId> also_clicked,
                                      Random& random) {
  const std::span<const TextId> titles =
      pool_.empty() ? titles_ : std::span<const TextId>(pool_);
  for (int draws = 1;; ++draws) {
    const TextId title =
        titles[random.Below(static_cast<std::uint32_t>(titles.size()))];
    if (title == clicked_title) continue;
    const bool clicked = std::ranges::binary_search(also_clicked, title);
    if (!clicked || draws >= kMaxDraws) return title;
  }
}

// Up to `count` distinct ones, in an order drawn anew; how many there were.
int NegativeSampler::AddShown(int pair, int count, Random& random,
                              MiniBatch& batch) {
  const std::span<const TextId> below =
      shown_->Below(batch.queries[pair], batch.titles[pair]);
  shuffled_.assign(below.begin(), below.end());
  const int size = static_cast<int>(shuffled_.size());
  count = std::min(count, size);
  for (int j = 0; j < count; ++j) {
    std::swap(shuffled_[j], shuffled_[j + random.Below(size - j)]);
    AddCandidate(shuffled_[j], batch);
  }
  return count;
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
  std::iota(shifts_.begin(), shifts_.end(), 1);
  Shuffle(random, shifts_);
  for (int i = 0; i < num_pairs; ++i) {
    batch.candidates.indices.push_back(i);
    for (int j = 0; j < options_.negatives; ++j) {
      const std::uint32_t other = (i + shifts_[j]) % num_pairs;
      const bool excluded = batch.titles[other] == batch.titles[i] ||
                            batch.queries[other] == batch.queries[i];
      if (!excluded) batch.candidates.indices.push_back(other);
    }
    if (options_.hard_negatives > 0) {
      AddShown(i, options_.hard_negatives, random, batch);
    }
    EndList(batch);
  }
}

}  // namespace semrank
