#include "model/train/distributed/exchange.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/task_graph.h"
#include "model/nn/kernels.h"

namespace semrank {
namespace {

// The number of rows of one task.
constexpr int kRowBlock = 64;

}  // namespace

absl::Status GradientExchange::Reduce(const GradientSet& gradients,
                                      const Workers& workers) {
  ReduceDense(gradients, workers.processes);
  for (RowGradients* rows : gradients.sparse) {
    SEMRANK_RETURN_IF_ERROR(ReduceRows(*rows, workers));
  }
  return absl::OkStatus();
}

void GradientExchange::ReduceDense(const GradientSet& gradients,
                                   Communicator& communicator) {
  // All tensors travel as one array: a message has a fixed cost, and a bias has
  // few elements.
  dense_.clear();
  for (const std::span<float> values : gradients.dense) {
    dense_.insert(dense_.end(), values.begin(), values.end());
  }
  communicator.AllReduceSum(dense_);
  auto next = dense_.begin();
  for (const std::span<float> values : gradients.dense) {
    std::copy_n(next, values.size(), values.begin());
    next += static_cast<std::ptrdiff_t>(values.size());
  }
}

absl::Status GradientExchange::ReduceRows(RowGradients& gradients,
                                          const Workers& workers) {
  Communicator& communicator = workers.processes;
  const int n = communicator.num_processes();
  const std::uint32_t own_count =
      static_cast<std::uint32_t>(gradients.rows.size());
  std::vector<std::uint32_t> counts(n);
  // Sizes first: AllGather needs to know how much each process sends.
  communicator.AllGather<std::uint32_t>({&own_count, 1}, std::vector<int>(n, 1),
                                        counts);
  std::int64_t total = 0;
  for (const std::uint32_t count : counts) total += count;
  // All processes have the same counts and fail together, before the next
  // collective call.
  if (total * gradients.width > kMaxMessageValues) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d rows of %d gradients are too many to exchange; the limit is %d "
        "numbers. Smaller: --batch_size",
        total, gradients.width, kMaxMessageValues));
  }
  const std::vector<int> row_sizes(counts.begin(), counts.end());
  std::vector<int> value_sizes = row_sizes;
  for (int& size : value_sizes) size *= gradients.width;
  all_rows_.Clear();
  all_rows_.indices.resize(total);
  // Each gathered row counts once in its sum.
  all_rows_.counts.assign(total, 1);
  all_values_.resize(total * gradients.width);
  communicator.AllGather<std::uint32_t>(gradients.rows, row_sizes,
                                        all_rows_.indices);
  communicator.AllGather<float>(gradients.values, value_sizes, all_values_);

  // A transpose with row numbers as features and gathered rows as texts: the
  // gradient of a row is then the sum of its bag, as in the layer itself.
  std::uint32_t num_rows = 0;
  for (std::int64_t i = 0; i < total; ++i) {
    all_rows_.offsets.push_back(static_cast<std::uint32_t>(i + 1));
    num_rows = std::max(num_rows, all_rows_.indices[i] + 1);
  }
  by_row_.Build(all_rows_, static_cast<int>(num_rows));
  // Rows are in order of first appearance in the gathered rows, which is the
  // same in every process, and each is summed in the order of ranks.
  gradients.rows = by_row_.features();
  gradients.values.resize(gradients.rows.size() * gradients.width);
  TaskList tasks;
  tasks.AddBlocks(static_cast<int>(gradients.rows.size()), kRowBlock,
                  [&](int first, int last, int) {
                    SumBags(by_row_.texts(), first, last, all_values_.data(),
                            gradients.width,
                            &gradients.values[static_cast<std::size_t>(first) *
                                              gradients.width]);
                  });
  workers.pool.Run(tasks);
  return absl::OkStatus();
}

absl::Status GatherBags(const BagBatch& own, Communicator& communicator,
                        BagBatch& all) {
  const int n = communicator.num_processes();
  // A count beyond 32 bits is above the limit in any case.
  const std::uint32_t own_counts[] = {
      static_cast<std::uint32_t>(own.num_texts()),
      static_cast<std::uint32_t>(
          std::min<std::size_t>(own.indices.size(), UINT32_MAX))};
  std::vector<std::uint32_t> counts(2 * n);
  communicator.AllGather<std::uint32_t>(own_counts, std::vector<int>(n, 2),
                                        counts);
  std::vector<int> num_bags, num_entries;
  std::int64_t all_bags = 0, all_entries = 0;
  for (int p = 0; p < n; ++p) {
    num_bags.push_back(static_cast<int>(counts[2 * p]));
    num_entries.push_back(static_cast<int>(counts[2 * p + 1]));
    all_bags += counts[2 * p];
    all_entries += counts[2 * p + 1];
  }
  // MPI counts the elements of a message in an int.
  if (all_entries > kMaxMessageValues) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%d words of titles are too many to exchange; the limit is %d. "
        "Smaller: --batch_size",
        all_entries, kMaxMessageValues));
  }
  all.offsets.resize(all_bags + 1);
  all.indices.resize(all_entries);
  all.counts.resize(all_entries);
  communicator.AllGather<std::uint32_t>(std::span(own.offsets).subspan(1),
                                        num_bags,
                                        std::span(all.offsets).subspan(1));
  communicator.AllGather<std::uint32_t>(own.indices, num_entries, all.indices);
  communicator.AllGather<float>(own.counts, num_entries, all.counts);

  // Each process has counted its offsets from its own first entry.
  std::size_t bag = 1;
  std::uint32_t before = 0;
  for (int p = 0; p < n; ++p) {
    for (int i = 0; i < num_bags[p]; ++i) all.offsets[bag++] += before;
    before += static_cast<std::uint32_t>(num_entries[p]);
  }
  return absl::OkStatus();
}

void VectorExchange::Gather(const MiniBatch& batch, const float* queries,
                            const float* titles, Communicator& communicator) {
  const std::size_t num_pairs = batch.queries.size();
  const std::size_t dim = dim_;
  // Buffers of the whole batch, row-major: [pairs, dim] and [titles, dim]. They
  // keep their memory from step to step.
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
  const std::span<float> all_titles(titles_);
  // The share of a process is contiguous in three places of the batch: queries,
  // clicked titles, and titles drawn beside them. So there are three gathers.
  communicator.AllGather<float>({queries, pairs}, of_pairs, queries_);
  communicator.AllGather<float>({titles, pairs}, of_pairs,
                                all_titles.first(num_pairs * dim));
  communicator.AllGather<float>({titles + pairs, drawn}, of_drawn,
                                all_titles.subspan(num_pairs * dim));
}

void VectorExchange::CutOut(const BatchShare& share, float* query_gradients,
                            float* title_gradients) const {
  const std::size_t dim = dim_;
  const auto copy = [dim](const std::vector<float>& whole, const Range& range,
                          float* part) {
    return std::copy_n(whole.begin() + range.first * dim, range.size() * dim,
                       part);
  };
  copy(query_gradients_, share.pairs, query_gradients);
  float* const drawn = copy(title_gradients_, share.pairs, title_gradients);
  copy(title_gradients_, share.drawn, drawn);
}

}  // namespace semrank
