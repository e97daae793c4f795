#include "tests/support/tiny_ssi_model.h"

#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "model/format/model_config.h"
#include "model/format/model_tensors.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

constexpr int kDim = 5;

std::string WordName(int word) { return "w" + std::to_string(word); }

const std::vector<std::string> kBigrams = {"w0 w1", "w3 w3"};

Featurizer MakeFeaturizer(int num_bigrams) {
  std::vector<std::string> words;
  for (int w = 0; w < TinySsiModel::kNumWords - num_bigrams; ++w)
    words.push_back(WordName(w));
  std::optional<WordVocabulary> bigrams;
  if (num_bigrams > 0) bigrams = *WordVocabulary::FromBigramList(kBigrams);
  return Featurizer::Create(std::nullopt, *WordVocabulary::FromList(words),
                            std::move(bigrams))
      .value();
}

v1::ModelConfig MakeConfig(const TinySsiOptions& options) {
  v1::ModelConfig config;
  config.set_name("tiny");
  config.set_tower(v1::TOWER_KIND_SSI);
  config.set_embedding_dim(HasSsiVectors(options.variant) ? kDim : 0);
  config.set_activation(v1::ACTIVATION_IDENTITY);
  config.set_shared_towers(options.variant == v1::SSI_VARIANT_SYMMETRIC);
  config.set_score_kind(v1::SCORE_KIND_SSI_DOT);
  v1::FeatureSpec& features = *config.mutable_features();
  features.set_normalizer_version(kNormalizerVersion);
  features.set_kind(options.num_bigrams > 0 ? v1::FEATURE_KIND_WORDS_AND_BIGRAMS
                                            : v1::FEATURE_KIND_WORDS);
  features.set_num_words(TinySsiModel::kNumWords - options.num_bigrams);
  features.set_num_bigrams(options.num_bigrams);
  features.set_weighting(v1::FEATURE_WEIGHTING_TF_IDF);
  v1::SsiSpec& ssi = *config.mutable_ssi();
  ssi.set_variant(options.variant);
  ssi.set_num_dense_words(options.num_dense_words);
  ssi.set_pair_hash_buckets(options.pair_hash_buckets);
  ssi.set_num_frequent_words(options.num_frequent_words);
  ssi.set_correlated_top_k(options.correlated_top_k);
  ssi.set_correlated_pairing(options.correlated_pairing);
  ssi.set_mixes_parts(options.mixes_parts);
  config.set_format_version(FormatVersionOf(config));
  return config;
}

// Weights in (-1, 1); idf in (1, 3); of correlated words all, some or none.
std::vector<float> MakeValues(const ExpectedTensor& tensor,
                              std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    float value = uniform(random);
    if (tensor.name == kIdfTensor) value += 2;
    if (tensor.name == kCorrelatedTensor) {
      const std::int64_t word = i / tensor.shape[1];
      const std::int64_t p = i % tensor.shape[1];
      value = p < word % (tensor.shape[1] + 1)
                  ? static_cast<float>((word + p) % 3)
                  : -1;
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

std::vector<TinySsiCase> AllTinySsiCases() {
  return {
      {"LowRank", {}},
      {"Symmetric", {.variant = v1::SSI_VARIANT_SYMMETRIC}},
      {"NoIdentity", {.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}},
      {"Diagonal", {.variant = v1::SSI_VARIANT_DIAGONAL}},
      {"Full", {.variant = v1::SSI_VARIANT_FULL}},
      {"Hashed", {.variant = v1::SSI_VARIANT_FULL, .pair_hash_buckets = 17}},
      {"HashedNoIdentity",
       {.variant = v1::SSI_VARIANT_FULL_NO_IDENTITY, .pair_hash_buckets = 17}},
      {"DenseWords", {.num_dense_words = 4}},
      {"Correlated", {.num_frequent_words = 4, .correlated_top_k = 2}},
      {"SymmetricCorrelated",
       {.variant = v1::SSI_VARIANT_SYMMETRIC,
        .num_frequent_words = 3,
        .correlated_top_k = 3}},
      {"CorrelatedSameRank",
       {.num_frequent_words = 4,
        .correlated_top_k = 3,
        .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK}},
      {"MixedParts",
       {.num_frequent_words = 7, .correlated_top_k = 2, .mixes_parts = true}},
      {"SymmetricMixedSameRank",
       {.variant = v1::SSI_VARIANT_SYMMETRIC,
        .num_frequent_words = 3,
        .correlated_top_k = 2,
        .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK,
        .mixes_parts = true}},
      {"Bigrams", {.num_bigrams = 2}},
      {"CorrelatedBigrams",
       {.num_frequent_words = 4, .correlated_top_k = 2, .num_bigrams = 2}}};
}

TinySsiModel::TinySsiModel(const TinySsiOptions& options)
    : featurizer_(MakeFeaturizer(static_cast<int>(options.num_bigrams))) {
  bundle_.config = MakeConfig(options);
  bundle_.featurizer = &featurizer_;
  std::mt19937 random(1);
  for (const ExpectedTensor& tensor : ExpectedTensors(bundle_.config)) {
    storage_.push_back(MakeValues(tensor, random));
    bundle_.tensors.push_back(
        {tensor.name, tensor.shape, storage_.back().data()});
  }
}

std::vector<float>& TinySsiModel::values(std::string_view tensor) {
  auto storage = storage_.begin();
  for (const TensorView& view : bundle_.tensors) {
    if (view.name == tensor) break;
    ++storage;
  }
  return *storage;
}

std::shared_ptr<const TwoTowerModel> TinySsiModel::model() const {
  TensorMap tensors;
  for (const TensorView& view : bundle_.tensors) tensors[view.name] = view;
  return MakeModel({"tiny", 1, "identity-of-tiny-ssi"}, bundle_.config,
                   featurizer_, tensors, nullptr)
      .value();
}

const float* TinySsiModel::Find(std::string_view tensor) const {
  for (const TensorView& view : bundle_.tensors) {
    if (view.name == tensor) return view.data;
  }
  return nullptr;
}

std::vector<double> TinySsiModel::TfIdf(const std::string& text) const {
  std::vector<double> values(kNumWords);
  const auto num_words =
      static_cast<int>(bundle_.config.features().num_words());
  std::string before;
  ForEachWord(text, [&](std::string_view word) {
    for (int w = 0; w < kNumWords; ++w) {
      const bool stands_here =
          w < num_words
              ? word == WordName(w)
              : before + " " + std::string(word) == kBigrams[w - num_words];
      if (stands_here) values[w] += Find(kIdfTensor)[w];
    }
    before = word;
  });
  double squares = 0;
  for (const double value : values) squares += value * value;
  for (double& value : values) value /= squares > 0 ? std::sqrt(squares) : 1;
  return values;
}

TinySsiModel::DoubleMatrix TinySsiModel::ColumnsOf(std::string_view tensor,
                                                   int first_row,
                                                   int rank) const {
  const v1::SsiSpec& ssi = bundle_.config.ssi();
  const float* table = Find(tensor) + first_row * kDim;
  const auto top_k = static_cast<int>(ssi.correlated_top_k());
  int num_own = static_cast<int>(NumSsiRows(ssi, kNumWords));
  if (ssi.mixes_parts()) num_own /= 2;
  const int first_mapped =
      kNumWords - static_cast<int>(NumCorrelatedWords(ssi, kNumWords));
  DoubleMatrix columns(kNumWords, std::vector<double>(kDim));
  const auto add = [&](int w, int p, double share) {
    const auto row = static_cast<int>(
        Find(kCorrelatedTensor)[(w - first_mapped) * top_k + p]);
    for (int d = 0; row >= 0 && d < kDim; ++d) {
      columns[w][d] += share * table[row * kDim + d];
    }
  };
  for (int w = 0; w < kNumWords; ++w) {
    if (rank >= 0) {
      add(w, rank, 1);
    } else if (w < num_own) {
      for (int d = 0; d < kDim; ++d) columns[w][d] = table[w * kDim + d];
    } else if (first_row > 0 || !ssi.mixes_parts()) {
      for (int p = 0; p < top_k; ++p) add(w, p, 1.0 / top_k);
    }
  }
  return columns;
}

TinySsiModel::DoubleMatrix TinySsiModel::WholeW() const {
  const v1::SsiSpec& ssi = bundle_.config.ssi();
  const bool full = ssi.variant() == v1::SSI_VARIANT_FULL;
  const bool has_identity =
      ssi.variant() != v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY &&
      ssi.variant() != v1::SSI_VARIANT_FULL_NO_IDENTITY;
  DoubleMatrix w(kNumWords, std::vector<double>(kNumWords));
  for (std::uint64_t s = 0; s < kNumWords; ++s) {
    for (std::uint64_t t = 0; t < kNumWords; ++t) {
      if (full && ssi.pair_hash_buckets() == 0) {
        w[s][t] = Find(kMatrixTensor)[s * kNumWords + t];
      } else if (ssi.variant() == v1::SSI_VARIANT_DIAGONAL) {
        w[s][t] = s == t ? Find(kDiagonalTensor)[s] : 0;
      } else if (has_identity) {
        w[s][t] = s == t ? 1 : 0;
      }
      if (ssi.pair_hash_buckets() > 0) {
        w[s][t] += Find(
            kPairWeightsTensor)[(s * 2654435761 + t) % ssi.pair_hash_buckets()];
      }
    }
  }
  if (!HasSsiVectors(ssi.variant())) return w;
  const char* const v_table =
      bundle_.config.shared_towers() ? "query.0.weight" : "document.0.weight";
  const auto add_product = [&](int first_row, int rank, double factor) {
    const DoubleMatrix u = ColumnsOf("query.0.weight", first_row, rank);
    const DoubleMatrix v = ColumnsOf(v_table, first_row, rank);
    for (int s = 0; s < kNumWords; ++s) {
      for (int t = 0; t < kNumWords; ++t) {
        for (int d = 0; d < kDim; ++d) w[s][t] += factor * u[s][d] * v[t][d];
      }
    }
  };
  double factor = 1;
  int first_row = 0;
  if (ssi.mixes_parts()) {
    factor = 1 / (1 + std::exp(-double{Find(kMixingTensor)[0]}));
    add_product(0, -1, 1 - factor);
    first_row = static_cast<int>(ssi.num_frequent_words());
  }
  if (!PairsSameRank(ssi)) {
    add_product(first_row, -1, factor);
    return w;
  }
  const auto top_k = static_cast<int>(ssi.correlated_top_k());
  for (int p = 0; p < top_k; ++p) add_product(first_row, p, factor / top_k);
  return w;
}

double TinySsiModel::Score(const std::string& query,
                           const std::string& title) const {
  const std::vector<double> q = TfIdf(query), d = TfIdf(title);
  const DoubleMatrix w = WholeW();
  double score = 0;
  for (int s = 0; s < kNumWords; ++s) {
    for (int t = 0; t < kNumWords; ++t) score += q[s] * w[s][t] * d[t];
  }
  return score;
}

std::vector<std::string> TinySsiModel::Texts() {
  return {"w0 w1 w2",
          "w3 w3 w11 unknown",
          "w5",
          "",
          "unknown words",
          "w11 w10 w9 w8 w7 w6",
          "w2 w0 w0 w4 w9"};
}

}  // namespace semrank
