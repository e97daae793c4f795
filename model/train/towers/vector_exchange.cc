#include "model/train/towers/vector_exchange.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "model/train/batches/batch_share.h"

namespace semrank {

LossInput VectorExchange::Gather(const LossInput& own,
                                 Communicator& communicator) {
  const MiniBatch& batch = *own.batch;
  const std::size_t num_pairs = batch.queries.size();
  const std::size_t dim = dim_;
  queries_.resize(num_pairs * dim);
  titles_.resize(batch.titles.size() * dim);
  query_gradients_.resize(queries_.size());
  title_gradients_.resize(titles_.size());
  std::vector<int> of_pairs, of_drawn;
  for (int p = 0; p < communicator.num_processes(); ++p) {
    const BatchShare share = ShareOf(batch, p, communicator.num_processes());
    of_pairs.push_back(share.pairs.size() * dim_);
    of_drawn.push_back(share.drawn.size() * dim_);
  }
  const std::size_t pairs = of_pairs[communicator.rank()];
  const std::size_t drawn = of_drawn[communicator.rank()];
  const std::span<float> titles(titles_);
  // The share of a process is contiguous in three places of the batch: queries,
  // clicked titles, and titles drawn beside them. So there are three gathers.
  communicator.AllGather<float>({own.query_vectors, pairs}, of_pairs, queries_);
  communicator.AllGather<float>({own.title_vectors, pairs}, of_pairs,
                                titles.first(num_pairs * dim));
  communicator.AllGather<float>({own.title_vectors + pairs, drawn}, of_drawn,
                                titles.subspan(num_pairs * dim));
  return {&batch, queries_.data(), titles_.data()};
}

LossGradients VectorExchange::gradients() {
  return {query_gradients_.data(), title_gradients_.data()};
}

void VectorExchange::CutOut(const MiniBatch& batch,
                            const Communicator& communicator,
                            const LossGradients& own) const {
  const BatchShare share =
      ShareOf(batch, communicator.rank(), communicator.num_processes());
  const std::size_t dim = dim_;
  const auto copy = [dim](const std::vector<float>& whole, const Range& range,
                          float* part) {
    return std::copy_n(whole.begin() + range.first * dim, range.size() * dim,
                       part);
  };
  copy(query_gradients_, share.pairs, own.queries);
  float* const drawn = copy(title_gradients_, share.pairs, own.titles);
  copy(title_gradients_, share.drawn, drawn);
}

}  // namespace semrank
