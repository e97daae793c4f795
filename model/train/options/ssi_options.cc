#include "model/train/options/ssi_options.h"

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/format/model_config.h"
#include "model/text/ngram_vocabulary.h"
#include "model/train/options/option_checks.h"
#include "model/train/options/option_names.h"
#include "model/train/options/train_options.h"

namespace semrank {
namespace {

// Of options that need U and V.
absl::Status CheckUse(std::string_view flag, int value, bool has_vectors) {
  if (value == 0 || has_vectors) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%d", value),
                   "says what U and V are for, and --ssi=diagonal and full "
                   "have none");
}

}  // namespace

absl::Status Resolve(SsiOptions& ssi) {
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("ssi_dense_words", ssi.dense_words, 0, kMaxVocabularySize));
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "ssi_pair_hash_buckets", ssi.pair_hash_buckets, 0, kMaxPairHashBuckets));
  SEMRANK_RETURN_IF_ERROR(CheckRange("ssi_frequent_words", ssi.frequent_words,
                                     0, kMaxFrequentWords));
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "ssi_correlated_top_k", ssi.correlated_top_k, 0, kMaxCorrelatedTopK));
  SEMRANK_RETURN_IF_ERROR(CheckPositive("ssi_init_scale", ssi.init_scale, 100));
  const bool has_vectors = HasSsiVectors(ssi.variant);
  SEMRANK_RETURN_IF_ERROR(
      CheckUse("ssi_dense_words", ssi.dense_words, has_vectors));
  SEMRANK_RETURN_IF_ERROR(
      CheckUse("ssi_frequent_words", ssi.frequent_words, has_vectors));
  if (ssi.pair_hash_buckets > 0 && ssi.variant != v1::SSI_VARIANT_FULL) {
    return FlagError("ssi_pair_hash_buckets",
                     absl::StrFormat("%d", ssi.pair_hash_buckets),
                     "hashes the pairs of --ssi=full");
  }
  if ((ssi.frequent_words > 0) != (ssi.correlated_top_k > 0)) {
    return FlagError("ssi_correlated_top_k",
                     absl::StrFormat("%d", ssi.correlated_top_k),
                     "belongs together with --ssi_frequent_words; one is 0");
  }
  if (ssi.frequent_words > 0 && ssi.dense_words > 0) {
    return FlagError("ssi_dense_words", absl::StrFormat("%d", ssi.dense_words),
                     "gives rare words no row of U and V, "
                     "--ssi_frequent_words those of others; choose one");
  }
  return absl::OkStatus();
}

absl::Status ResolveSsi(TrainOptions& options) {
  if (options.features.kind != v1::FEATURE_KIND_WORDS) {
    return FlagError("features", OptionName(options.features.kind),
                     "--tower=ssi compares words");
  }
  if (options.tower.dropout > 0) {
    return FlagError("dropout", absl::StrFormat("%g", options.tower.dropout),
                     "drops hidden units, and --tower=ssi has none");
  }
  options.tower.hidden_dims.clear();
  options.tower.shared = options.ssi.variant == v1::SSI_VARIANT_SYMMETRIC;
  if (!HasSsiVectors(options.ssi.variant)) options.tower.embedding_dim = 0;
  return absl::OkStatus();
}

v1::SsiSpec DescribeSsi(const SsiOptions& options, int num_words) {
  v1::SsiSpec spec;
  spec.set_variant(options.variant);
  spec.set_pair_hash_buckets(options.pair_hash_buckets);
  if (options.dense_words < num_words) {
    spec.set_num_dense_words(options.dense_words);
  }
  if (options.frequent_words < num_words) {
    spec.set_num_frequent_words(options.frequent_words);
    spec.set_correlated_top_k(options.correlated_top_k);
  }
  return spec;
}

absl::StatusOr<std::int64_t> NumSsiParameters(const TrainOptions& options,
                                              int num_words) {
  const v1::SsiSpec spec = DescribeSsi(options.ssi, num_words);
  if (spec.pair_hash_buckets() > 0) return spec.pair_hash_buckets();
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) return num_words;
  if (spec.variant() == v1::SSI_VARIANT_FULL) {
    if (num_words <= kMaxMatrixWords) {
      return std::int64_t{num_words} * num_words;
    }
    return FlagError(
        "max_words", absl::StrFormat("%d", options.features.max_words),
        absl::StrFormat("%d words make a W that is too large to store; "
                        "--ssi=full takes at most %d words, or any number with "
                        "--ssi_pair_hash_buckets",
                        num_words, kMaxMatrixWords));
  }
  return NumSsiRows(spec, num_words) * options.tower.embedding_dim *
         (options.tower.shared ? 1 : 2);
}

}  // namespace semrank
