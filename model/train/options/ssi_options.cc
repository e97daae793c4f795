#include "model/train/options/ssi_options.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

// Section and equation numbers are those of Bai et al., CIKM 2009;
// MATHEMATICS.md, "SSI", has the forms of W.

// For options that need U and V.
absl::Status CheckUse(std::string_view flag, int value, bool has_vectors) {
  if (value == 0 || has_vectors) return absl::OkStatus();
  return FlagError(flag, value,
                   "says what U and V are for, and --ssi=diagonal, full and "
                   "full_no_identity have none");
}

absl::Status ResolveVariant(SsiOptions& ssi) {
  // These checks hold with other towers too: a contradiction between two flags
  // of SSI is an error whatever --tower is.
  const bool has_vectors = HasSsiVectors(ssi.variant);
  SEMRANK_RETURN_IF_ERROR(
      CheckUse("ssi_dense_words", ssi.dense_words, has_vectors));
  SEMRANK_RETURN_IF_ERROR(
      CheckUse("ssi_frequent_words", ssi.frequent_words, has_vectors));
  const bool hashed = ssi.variant == v1::SSI_VARIANT_FULL_NO_IDENTITY;
  if (ssi.pair_hash_buckets > 0 && !hashed &&
      ssi.variant != v1::SSI_VARIANT_FULL) {
    return FlagError("ssi_pair_hash_buckets", ssi.pair_hash_buckets,
                     "hashes the pairs of --ssi=full and full_no_identity");
  }
  if (hashed && ssi.pair_hash_buckets == 0) {
    return FlagError("ssi_pair_hash_buckets", "0",
                     "--ssi=full_no_identity is the hash kernel, so it must "
                     "be above 0");
  }
  // F words without k, or k without F, would be correlated feature hashing that
  // hashes nothing.
  if ((ssi.frequent_words > 0) != (ssi.correlated_top_k > 0)) {
    return FlagError("ssi_correlated_top_k", ssi.correlated_top_k,
                     "belongs together with --ssi_frequent_words; one is 0");
  }
  if (ssi.correlated_pairing == v1::CORRELATED_PAIRING_SAME_RANK &&
      ssi.frequent_words == 0) {
    return FlagError("ssi_correlated_pairing", "same_rank",
                     "pairs correlated words, so --ssi_frequent_words must be "
                     "above 0");
  }
  if (ssi.mix_parts && ssi.frequent_words == 0) {
    return FlagError("ssi_mix_parts", "true",
                     "mixes in correlated words, so --ssi_frequent_words must "
                     "be above 0");
  }
  if (ssi.frequent_words > 0 && ssi.dense_words > 0) {
    return FlagError("ssi_dense_words", ssi.dense_words,
                     "gives rare words no row of U and V, "
                     "--ssi_frequent_words those of others; choose one");
  }
  if (!MatchesUnknownWords(ssi.variant, ssi.pair_hash_buckets > 0)) {
    // Unknown words match by I, D or hashed pairs; without these, an index
    // would have no weight.
    ssi.unknown_word_buckets = 0;
  }
  return absl::OkStatus();
}

// Blocks make a vector longer than the rank of U and V.
absl::Status CheckSsiVectors(const TrainOptions& options) {
  const SsiOptions& ssi = options.ssi;
  const std::int64_t num_blocks =
      (ssi.mix_parts ? 1 : 0) +
      // Block p of a vector is U S_p(q) (eq. 6), one for each rank; with all
      // words mixed there is a single block.
      (ssi.correlated_pairing == v1::CORRELATED_PAIRING_SAME_RANK
           ? ssi.correlated_top_k
           : 1);
  if (options.tower.embedding_dim * num_blocks <= kMaxLayerWidth) {
    return absl::OkStatus();
  }
  return FlagError(
      "embedding_dim", options.tower.embedding_dim,
      absl::StrFormat("vectors of --ssi_correlated_pairing and --ssi_mix_parts "
                      "are %d times as long; at most %d elements",
                      num_blocks, kMaxLayerWidth));
}

// SSI leaves no choice of the features and the layers.
absl::Status FitOptionsToSsi(TrainOptions& options) {
  if (HasLetters(options.features.kind)) {
    return FlagError("features", NameOf(options.features.kind, kFeatureNames),
                     "--tower=ssi compares words and bigrams");
  }
  if (options.features.lexical_weight != 0) {
    return FlagError("lexical", options.features.lexical,
                     "--tower=ssi has words of its own");
  }
  if (options.tower.dropout > 0) {
    return FlagError("dropout", options.tower.dropout,
                     "drops hidden units, and --tower=ssi has none");
  }
  if (options.loss.logq > 0) {
    return FlagError("logq", options.loss.logq,
                     "corrects a softmax, and --tower=ssi has none");
  }
  options.loss.logq = 0;
  options.tower.hidden_dims.clear();
  // U'U has one matrix for both sides.
  options.tower.shared = options.ssi.variant == v1::SSI_VARIANT_SYMMETRIC;
  // diagonal and full have no vectors, which the model file states as 0.
  if (!HasSsiVectors(options.ssi.variant)) options.tower.embedding_dim = 0;
  SEMRANK_RETURN_IF_ERROR(CheckSsiVectors(options));
  // The buckets would come before the bigrams, and have no rows of U and V.
  if (HasBigrams(options.features.kind)) options.ssi.unknown_word_buckets = 0;
  options.features.unknown_word_buckets = options.ssi.unknown_word_buckets;
  return absl::OkStatus();
}

}  // namespace

void AddSsiFlags(CommandLine& flags, SsiOptions& options) {
  flags.Group("SSI", CommandLine::Level::kAdvanced);
  flags.Add("ssi", &options.variant,
            "W in the score q'Wd of --tower=ssi: low_rank (U'V + I), symmetric "
            "(U'U + I), low_rank_no_identity (U'V), diagonal (a weight a "
            "word), full (a weight a pair of words; small dictionaries, or "
            "hashed), full_no_identity (hashed pairs alone, without I). U and "
            "V have --embedding_dim rows.",
            kSsiVariantNames);
  flags.Add("ssi_dense_words", &options.dense_words,
            "Number of the most frequent words that have columns in U and V; "
            "the columns of the others are zero, so that those words match "
            "only themselves, through I. 0 = all words have columns.",
            {.min = 0, .max = kMaxVocabularySize});
  flags.Add("ssi_pair_hash_buckets", &options.pair_hash_buckets,
            "Hash kernels: number of weights that the word pairs share; "
            "--ssi=full adds them to I, --ssi=full_no_identity does not. 0 = "
            "each pair has its own.",
            {.min = 0, .max = kMaxPairHashBuckets});
  flags.Add(
      "ssi_frequent_words", &options.frequent_words,
      "Correlated feature hashing: number of words that count as frequent. In "
      "U and V any other word is the mean of the --ssi_correlated_top_k "
      "frequent ones that it occurs with most (DICE). 0 = off.",
      {.min = 0, .max = kMaxFrequentWords});
  flags.Add("ssi_correlated_top_k", &options.correlated_top_k,
            "See --ssi_frequent_words; the paper uses 5.",
            {.min = 0, .max = kMaxCorrelatedTopK});
  flags.Add("ssi_correlated_pairing", &options.correlated_pairing,
            "Correlated feature hashing: all (each frequent word that stands "
            "for a word of the query meets each that stands for a word of the "
            "title) or same_rank (the p-th meets the p-th, as in the paper's "
            "eq. 6; vectors are --ssi_correlated_top_k times as long).",
            kCorrelatedPairingNames);
  flags.Add(
      "ssi_mix_parts", &options.mix_parts,
      "Correlated feature hashing: the --ssi_frequent_words have columns of U "
      "and V for themselves, and others for correlated words; the two parts of "
      "the score are mixed by a learned factor. Vectors have a block more.");
  flags.Add(
      "ssi_unknown_word_buckets", &options.unknown_word_buckets,
      "Words that no training text has, or that are beyond --max_words, are "
      "hashed to this many indices and match themselves, with the idf of the "
      "rarest word. 0 = they are dropped, as in the paper and with bigrams. "
      "Nothing with --ssi=low_rank_no_identity and an unhashed full.",
      {.min = 0, .max = kMaxUnknownWordBuckets});
  flags.Add("ssi_init_scale", &options.init_scale,
            "Standard deviation of the initial U and V; 1 in the paper.",
            {.min = 0, .max = 100, .above_min = true});
}

absl::Status ResolveSsi(TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ResolveVariant(options.ssi));
  if (options.tower.kind != v1::TOWER_KIND_SSI) return absl::OkStatus();
  return FitOptionsToSsi(options);
}

v1::SsiSpec DescribeSsi(const SsiOptions& options, int num_words) {
  v1::SsiSpec spec;
  spec.set_variant(options.variant);
  spec.set_pair_hash_buckets(options.pair_hash_buckets);
  spec.set_unknown_word_buckets(options.unknown_word_buckets);
  // Buckets of unknown words come after the listed words and have no rows.
  num_words -= options.unknown_word_buckets;
  // A bound that all words are within is written as none, so that equal models
  // have equal files. 0, no bound, is below any number of words and stays 0.
  if (options.dense_words < num_words) {
    spec.set_num_dense_words(options.dense_words);
  }
  if (options.frequent_words < num_words) {
    spec.set_num_frequent_words(options.frequent_words);
    spec.set_correlated_top_k(options.correlated_top_k);
    // The default is absent, so that models which older releases can compute
    // are equal to theirs.
    if (options.correlated_pairing == v1::CORRELATED_PAIRING_SAME_RANK) {
      spec.set_correlated_pairing(options.correlated_pairing);
    }
    spec.set_mixes_parts(options.mix_parts);
  }
  return spec;
}

absl::StatusOr<std::int64_t> NumSsiParameters(const TrainOptions& options,
                                              int num_words) {
  const v1::SsiSpec spec = DescribeSsi(options.ssi, num_words);
  // The kinds are tested from the special to the general: hashed pairs need no
  // word, D one weight a word, W one a pair.
  if (spec.pair_hash_buckets() > 0) return spec.pair_hash_buckets();
  if (spec.variant() == v1::SSI_VARIANT_DIAGONAL) return num_words;
  if (spec.variant() == v1::SSI_VARIANT_FULL) {
    if (num_words <= kMaxMatrixWords) {
      return std::int64_t{num_words} * num_words;
    }
    return FlagError(
        "max_words", options.features.max_words,
        absl::StrFormat("%d words make a W that is too large to store; "
                        "--ssi=full takes at most %d words, or any number with "
                        "--ssi_pair_hash_buckets",
                        num_words, kMaxMatrixWords));
  }
  return NumSsiRows(spec, num_words) * options.tower.embedding_dim *
             (options.tower.shared ? 1 : 2) +
         (spec.mixes_parts() ? 1 : 0);
}

}  // namespace semrank
