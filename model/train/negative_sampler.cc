#include "model/train/negative_sampler.h"

#include <numeric>

namespace semrank {

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
  if (options_.sampling == v1::NEGATIVE_SAMPLING_UNIFORM) {
    DrawUniform(random, batch);
  } else if (options_.negatives == 0 ||
             options_.negatives >= batch.num_pairs() - 1) {
    batch.all_titles = true;
  } else {
    DrawRotations(random, batch);
  }
}

// A title drawn for several pairs is embedded once.
void NegativeSampler::DrawUniform(Random& random, MiniBatch& batch) {
  const std::uint32_t num_titles = static_cast<std::uint32_t>(titles_.size());
  places_.clear();
  for (int i = 0; i < batch.num_pairs(); ++i) {
    places_.try_emplace(batch.titles[i], i);
  }
  for (int i = 0; i < batch.num_pairs(); ++i) {
    batch.candidates.indices.push_back(i);
    for (int j = 0; j < options_.negatives; ++j) {
      TextId title;
      do {
        title = titles_[random.Below(num_titles)];
      } while (title == batch.titles[i]);
      const auto [place, is_new] = places_.try_emplace(
          title, static_cast<std::uint32_t>(batch.titles.size()));
      if (is_new) batch.titles.push_back(title);
      batch.candidates.indices.push_back(place->second);
    }
    batch.candidates.offsets.push_back(
        static_cast<std::uint32_t>(batch.candidates.indices.size()));
  }
}

void NegativeSampler::DrawRotations(Random& random, MiniBatch& batch) {
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
    batch.candidates.offsets.push_back(
        static_cast<std::uint32_t>(batch.candidates.indices.size()));
  }
}

}  // namespace semrank
