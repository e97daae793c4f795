#include "model/train/batches/batch_share.h"

namespace semrank {

Range SliceOf(Range whole, int index, int count) {
  // 64 bits, as the products may exceed 32.
  const std::int64_t size = whole.size();
  return {whole.first + static_cast<int>(size * index / count),
          whole.first + static_cast<int>(size * (index + 1) / count)};
}

BatchShare ShareOf(const MiniBatch& batch, int rank, int num_processes) {
  const int num_pairs = batch.num_pairs();
  // Pairs and drawn titles are split separately: a query stays with its clicked
  // title, while a drawn title belongs to no single pair.
  return {SliceOf({0, num_pairs}, rank, num_processes),
          SliceOf({num_pairs, batch.num_titles()}, rank, num_processes)};
}

void PlacedTexts::Clear() {
  num_queries = 0;
  ids.clear();
  places.clear();
}

void PlacedTexts::AppendQueries(const MiniBatch& batch,
                                const BatchShare& share) {
  for (int i = share.pairs.first; i < share.pairs.last; ++i) {
    ids.push_back(batch.queries[i]);
    places.push_back(i);
  }
  num_queries += share.pairs.size();
}

void PlacedTexts::AppendTitles(const MiniBatch& batch,
                               const BatchShare& share) {
  for (const Range& range : {share.pairs, share.drawn}) {
    for (int t = range.first; t < range.last; ++t) {
      ids.push_back(batch.titles[t]);
      // After the queries, so that a query and a title of the same number have
      // different dropout.
      places.push_back(batch.num_pairs() + t);
    }
  }
}

}  // namespace semrank
