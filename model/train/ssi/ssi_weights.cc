#include "model/train/ssi/ssi_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "model/base/random.h"
#include "model/format/model_config.h"
#include "model/train/options/ssi_options.h"
#include "model/train/ssi/ssi_statistics.h"

namespace semrank {
namespace {

// Marsaglia's polar method gives two numbers at a time.
HugePageVector<float> NormalValues(std::size_t count, double deviation,
                                   Random random) {
  HugePageVector<float> values;
  values.reserve(count + 1);
  while (values.size() < count) {
    const double x = random.Between(-1, 1);
    const double y = random.Between(-1, 1);
    const double square = x * x + y * y;
    // A point inside the unit circle, other than 0, whose logarithm is
    // infinite.
    if (square >= 1 || square == 0) continue;
    const double factor = deviation * std::sqrt(-2 * std::log(square) / square);
    values.push_back(static_cast<float>(x * factor));
    values.push_back(static_cast<float>(y * factor));
  }
  values.resize(count);
  return values;
}

LayerWeights InitialTable(const TrainOptions& options, int num_rows,
                          RandomPurpose purpose) {
  const int dim = options.tower.embedding_dim;
  return {.in = num_rows,
          .out = dim,
          .weight = NormalValues(static_cast<std::size_t>(num_rows) * dim,
                                 options.ssi.init_scale,
                                 Random(options.seed, purpose)),
          .bias = {}};
}

std::vector<float> InitialWordWeights(const v1::SsiSpec& spec, int num_words) {
  // W begins as I, so that before the first step a score is the cosine of
  // TF-IDF.
  const auto size = static_cast<std::size_t>(num_words);
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) {
    return std::vector<float>(size, 1.0f);
  }
  if (HasSsiVectors(spec.variant())) return {};
  // I is beside the hashed weights, not in them.
  if (spec.pair_hash_buckets() > 0) {
    return std::vector<float>(spec.pair_hash_buckets());
  }
  std::vector<float> matrix(size * size);
  for (std::size_t w = 0; w < size; ++w) matrix[w * size + w] = 1;
  return matrix;
}

}  // namespace

SsiRows SsiWeights::Rows() const {
  return {.num_words = num_words,
          .num_rows = query.in,
          .top_k = static_cast<int>(spec.correlated_top_k()),
          .correlated = correlated.empty() ? nullptr : correlated.data(),
          .same_rank = PairsSameRank(spec),
          .mixing = mixing.empty() ? nullptr : mixing.data()};
}

SparseWeights SsiWeights::Sparse() const {
  SparseWeights sparse = {.num_words = num_words, .idf = idf.data()};
  if (words.empty()) return sparse;
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) {
    sparse.diagonal = words.data();
  } else if (spec.pair_hash_buckets() > 0) {
    sparse.pair_weights = words.data();
    sparse.num_buckets = spec.pair_hash_buckets();
    sparse.adds_identity = spec.variant() != v1::SSI_VARIANT_FULL_NO_IDENTITY;
  } else {
    sparse.matrix = words.data();
  }
  return sparse;
}

std::vector<TensorView> SsiWeights::Tensors() const {
  std::vector<TensorView> tensors = {{kIdfTensor, {num_words}, idf.data()}};
  const auto top_k = static_cast<std::int64_t>(spec.correlated_top_k());
  if (!correlated.empty()) {
    tensors.push_back({kCorrelatedTensor,
                       {NumCorrelatedWords(spec, num_words), top_k},
                       correlated.data()});
  }
  for (const auto& [name, table] :
       {std::pair<const char*, const LayerWeights&>{"query.0.weight", query},
        {"document.0.weight", document}}) {
    if (table.in == 0) continue;
    tensors.push_back({name, {table.in, table.out}, table.weight.data()});
  }
  if (!mixing.empty()) tensors.push_back({kMixingTensor, {1}, mixing.data()});
  if (words.empty()) return tensors;
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(words.size())};
  if (Sparse().matrix != nullptr) shape = {num_words, num_words};
  tensors.push_back({WordsTensor(), shape, words.data()});
  return tensors;
}

const char* SsiWeights::WordsTensor() const {
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) return kDiagonalTensor;
  return spec.pair_hash_buckets() > 0 ? kPairWeightsTensor : kMatrixTensor;
}

SsiWeights InitialSsiWeights(const TrainOptions& options,
                             const TrainingData& data) {
  SsiWeights weights;
  weights.num_words = data.featurizer.num_features();
  weights.spec = DescribeSsi(options.ssi, weights.num_words);
  // MakeTrainer overwrites these statistics with those of --init_from: nothing
  // needs to be counted.
  const bool given = !options.initial_model.version_dir.empty();
  weights.idf = given ? std::vector<float>(weights.num_words)
                      : InverseDocumentFrequencies(data.bags, data.titles,
                                                   weights.num_words);
  // No listed word is rarer than one that is not listed.
  const auto num_unknown =
      static_cast<int>(weights.spec.unknown_word_buckets());
  const auto unknown_idf = weights.idf.end() - num_unknown;
  std::fill(unknown_idf, weights.idf.end(),
            *std::max_element(weights.idf.begin(), unknown_idf));
  weights.words = InitialWordWeights(weights.spec, weights.num_words);
  if (options.tower.embedding_dim == 0) return weights;
  const auto num_rows =
      static_cast<int>(NumSsiRows(weights.spec, weights.num_words));
  if (const auto top_k = static_cast<int>(weights.spec.correlated_top_k());
      top_k > 0) {
    weights.correlated =
        given ? std::vector<float>(static_cast<std::size_t>(NumCorrelatedWords(
                                       weights.spec, weights.num_words)) *
                                   top_k)
              : CorrelatedWords(data.bags, data.titles,
                                {.num_words = weights.num_words,
                                 .num_frequent = static_cast<int>(
                                     weights.spec.num_frequent_words()),
                                 .top_k = top_k,
                                 .of_all_words = PairsSameRank(weights.spec)});
    // Words share an index by chance, so it says nothing of them.
    if (!given) {
      std::fill_n(weights.correlated.rbegin(),
                  static_cast<std::size_t>(num_unknown) * top_k, -1.0f);
    }
  }
  // a = 1 / (1 + exp(-0)): both parts of the score begin with the same weight.
  if (weights.spec.mixes_parts()) weights.mixing = {0};
  // U and V have random streams of their own: U begins the same with or without
  // a V.
  weights.query = InitialTable(options, num_rows, RandomPurpose::kQueryWeights);
  if (options.tower.shared) return weights;
  weights.document =
      InitialTable(options, num_rows, RandomPurpose::kDocumentWeights);
  return weights;
}

}  // namespace semrank
