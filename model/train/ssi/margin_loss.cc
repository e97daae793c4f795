#include "model/train/ssi/margin_loss.h"

#include <algorithm>
#include <cstddef>

namespace semrank {
namespace {

// The number of pairs of one task: few enough that a small mini-batch has work
// for all threads. Each task has a list of violations of its own.
constexpr int kBlockPairs = 16;

// Lists the clicked title, then its negatives: the listed ones, or all titles
// of the batch except the masked ones, and the ones listed in addition.
void ListTitles(const MiniBatch& batch, int pair,
                std::vector<std::uint32_t>& titles) {
  titles.clear();
  if (batch.all_titles) {
    titles.push_back(static_cast<std::uint32_t>(pair));
    // Both lists are in ascending order, so one pass omits the masked titles.
    const std::span<const std::uint32_t> masked = batch.MaskedFor(pair);
    auto next_masked = masked.begin();
    const auto num_pairs = static_cast<std::uint32_t>(batch.num_pairs());
    for (std::uint32_t other = 0; other < num_pairs; ++other) {
      if (next_masked != masked.end() && *next_masked == other) {
        ++next_masked;
      } else {
        titles.push_back(other);
      }
    }
  }
  if (batch.candidates.num_texts() == 0) return;
  const auto candidates = batch.candidates.Indices(pair);
  titles.insert(titles.end(), candidates.begin(), candidates.end());
}

void Append(const BagBatch& from, BagBatch& to) {
  const auto before = static_cast<std::uint32_t>(to.indices.size());
  to.indices.insert(to.indices.end(), from.indices.begin(), from.indices.end());
  to.counts.insert(to.counts.end(), from.counts.begin(), from.counts.end());
  for (int bag = 1; bag <= from.num_texts(); ++bag) {
    to.offsets.push_back(before + from.offsets[bag]);
  }
}

}  // namespace

double MarginLoss::Compute(const MiniBatch& batch, Range pairs,
                           const ScoreTitles& score_titles, ThreadPool& pool) {
  const int num_pairs = batch.num_pairs();
  const int num_blocks = (num_pairs + kBlockPairs - 1) / kBlockPairs;
  // The mean is over the whole batch, also where this process has only some of
  // its pairs: the losses of all processes then add up to it.
  const double total_weight = batch.total_weight();
  scratch_.resize(static_cast<std::size_t>(pool.num_threads()));
  blocks_.resize(static_cast<std::size_t>(num_blocks));
  pool.ParallelFor(num_blocks, [&](int b, int worker) {
    Block& block = blocks_[b];
    Scratch& scratch = scratch_[worker];
    block.violations.Clear();
    block.loss = 0;
    const int last = std::min(num_pairs, (b + 1) * kBlockPairs);
    for (int pair = b * kBlockPairs; pair < last; ++pair) {
      if (pair < pairs.first || pair >= pairs.last) {
        // The pair belongs to another process; an empty bag keeps bag i that of
        // pair i.
        block.violations.EndBag();
        continue;
      }
      ListTitles(batch, pair, scratch.titles);
      scratch.scores.resize(scratch.titles.size());
      score_titles(pair, scratch.titles, scratch.scores, worker);
      const double weight = batch.weight(pair);
      block.loss +=
          weight * AddPair(scratch, weight / total_weight, block.violations);
    }
  });
  violations_.Clear();
  double loss = 0;
  // Blocks are added in their order, whatever thread had which: the sum in
  // double and the list of violations are the same in each run.
  for (const Block& block : blocks_) {
    loss += block.loss;
    Append(block.violations, violations_);
  }
  return loss / total_weight;
}

double MarginLoss::AddPair(const Scratch& scratch, double share,
                           BagBatch& violations) const {
  const std::size_t num_negatives = scratch.titles.size() - 1;
  // dloss/df(q, d-) of a violated tuple. dloss/df(q, d+) is minus their sum,
  // because one d+ is in all tuples of the pair.
  const auto weight =
      static_cast<float>(share / static_cast<double>(num_negatives));
  double loss = 0;
  int num_violated = 0;
  for (std::size_t k = 1; k <= num_negatives; ++k) {
    const float hinge = margin_ - scratch.scores[0] + scratch.scores[k];
    // The negation also counts NaN.
    if (hinge <= 0) continue;
    loss += hinge;
    ++num_violated;
    violations.indices.push_back(scratch.titles[k]);
    violations.counts.push_back(weight);
  }
  if (num_violated > 0) {
    violations.indices.push_back(scratch.titles[0]);
    violations.counts.push_back(-weight * static_cast<float>(num_violated));
    loss /= static_cast<double>(num_negatives);
  }
  violations.EndBag();
  return loss;
}

}  // namespace semrank
