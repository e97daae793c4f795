#include "model/nn/sparse_scorer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "model/nn/kernels.h"

namespace semrank {

void WeighTfIdf(const float* idf, int first, int last, BagBatch& bags) {
  for (int text = first; text < last; ++text) {
    const std::uint32_t begin = bags.offsets[text];
    const std::uint32_t end = bags.offsets[text + 1];
    // The sum is in double, as the norm of a long text is a sum of many
    // small squares.
    double squares = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
      bags.counts[i] *= idf[bags.indices[i]];
      squares += static_cast<double>(bags.counts[i]) * bags.counts[i];
    }
    // No known word, or idf 0 for all of them: the zero vector has
    // no direction.
    if (squares == 0) continue;
    const double scale = 1 / std::sqrt(squares);
    for (std::uint32_t i = begin; i < end; ++i) {
      bags.counts[i] = static_cast<float>(bags.counts[i] * scale);
    }
  }
}

absl::StatusOr<std::unique_ptr<SparseScorer>> SparseScorer::Create(
    const SparseWeights& weights, std::shared_ptr<const void> storage) {
  const int num_kinds = (weights.diagonal != nullptr ? 1 : 0) +
                        (weights.matrix != nullptr ? 1 : 0) +
                        (weights.pair_weights != nullptr ? 1 : 0);
  if (weights.num_words < 1 || weights.idf == nullptr || num_kinds > 1 ||
      (weights.pair_weights != nullptr) != (weights.num_buckets > 0) ||
      (!weights.adds_identity && weights.pair_weights == nullptr)) {
    return absl::InvalidArgumentError(
        "the sparse part of a score has missing or contradictory weights");
  }
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<SparseScorer>(
      new SparseScorer(weights, std::move(storage)));
}

void SparseScorer::Weigh(BagBatch& bags) const {
  WeighTfIdf(weights_.idf, 0, bags.num_texts(), bags);
}

SparseScorer::PreparedQuery::PreparedQuery(const SparseScorer& scorer,
                                           const BagBatch& queries, int query,
                                           Scratch& scratch)
    : weights_(scorer.weights_),
      query_(queries.Bag(query)),
      values_(scratch.values) {
  // A dense row, so that a word of a document is one look-up. It is 0 between
  // queries, and only the words of a query are written and reset, as a
  // vocabulary may have millions.
  values_.resize(static_cast<std::size_t>(weights_.num_words), 0.0f);
  // q'W fills the whole row: each query word has a weight for every word.
  if (weights_.matrix != nullptr) {
    SumBags(queries, query, query + 1, weights_.matrix, weights_.num_words,
            values_.data());
    return;
  }
  if (!weights_.adds_identity) return;
  for (std::size_t i = 0; i < query_.indices.size(); ++i) {
    const std::uint32_t word = query_.indices[i];
    // S = I or D: a word matches itself alone. Hashed pairs have the I here
    // too, and their weights in SumOfPairs.
    values_[word] = weights_.diagonal == nullptr
                        ? query_.counts[i]
                        : query_.counts[i] * weights_.diagonal[word];
  }
}

SparseScorer::PreparedQuery::~PreparedQuery() {
  if (weights_.matrix != nullptr) {
    std::fill(values_.begin(), values_.end(), 0.0f);
    return;
  }
  for (const std::uint32_t word : query_.indices) values_[word] = 0;
}

// SSI eq. 5 for one word of the document: the hash needs both words, so nothing
// can be computed before the document is known.
float SparseScorer::PreparedQuery::SumOfPairs(
    std::uint32_t document_word) const {
  float sum = 0;
  for (std::size_t i = 0; i < query_.indices.size(); ++i) {
    sum += query_.counts[i] *
           weights_.pair_weights[PairBucket(query_.indices[i], document_word,
                                            weights_.num_buckets)];
  }
  return sum;
}

float SparseScorer::PreparedQuery::Score(const BagBatch& documents,
                                         int document) const {
  float sum = 0;
  const BagView words = documents.Bag(document);
  for (std::size_t i = 0; i < words.indices.size(); ++i) {
    const std::uint32_t word = words.indices[i];
    float value = values_[word];
    if (weights_.pair_weights != nullptr) value += SumOfPairs(word);
    sum += value * words.counts[i];
  }
  return sum;
}

}  // namespace semrank
