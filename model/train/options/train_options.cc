#include "model/train/options/train_options.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/train/options/option_names.h"

namespace semrank {
namespace {

// Pairs are held out for the loss if it is asked for, also beside judged
// queries.
void HoldOutPairsForTheLoss(TrainOptions& options) {
  DataOptions& data = options.data;
  if (options.early_stopping == EpochMeasure::kLoss &&
      data.valid_fraction == -1 && data.valid_pair_files.empty()) {
    data.valid_fraction = kDefaultValidFraction;
  }
}

// `options.data` is resolved.
absl::Status ResolveEarlyStopping(TrainOptions& options) {
  const DataOptions& data = options.data;
  const bool has_queries = !data.valid_queries.empty();
  switch (options.early_stopping) {
    case EpochMeasure::kAuto:
      options.early_stopping =
          has_queries ? EpochMeasure::kNdcg : EpochMeasure::kLoss;
      break;
    case EpochMeasure::kNdcg:
      if (has_queries) break;
      return FlagError("early_stopping", "ndcg",
                       "needs --valid_queries, --valid_docs and --valid_qrels");
    case EpochMeasure::kLoss:
      if (!data.valid_pair_files.empty() || data.valid_fraction > 0) break;
      return FlagError("early_stopping", "loss",
                       "needs --valid_pairs or --valid_fraction");
  }
  return absl::OkStatus();
}

// Standard input cannot be read again, so a run that reads it cannot be
// resumed.
absl::Status ResolveCheckpoint(const DataOptions& data,
                               CheckpointOptions& checkpoint) {
  const auto reads_input = [](const std::vector<std::string>& files) {
    return std::find(files.begin(), files.end(), "-") != files.end();
  };
  if (!reads_input(data.train_files) && !reads_input(data.valid_pair_files)) {
    return absl::OkStatus();
  }
  if (checkpoint.resume) {
    return FlagError("resume", "true",
                     "standard input cannot be read again: give the pairs as "
                     "files");
  }
  checkpoint = {.every = absl::ZeroDuration(), .batches = 0, .resume = false};
  return absl::OkStatus();
}

// The number of a kind of features is the sum of its parts' numbers.
absl::Status CheckTypos(const TrainOptions& options) {
  const bool has_letters =
      (options.features.kind & v1::FEATURE_KIND_LETTERS) != 0;
  if (options.loss.query_typos == 0 || has_letters) return absl::OkStatus();
  return FlagError(
      "query_typos", options.loss.query_typos,
      absl::StrFormat("a mistyped word is none of --features=%s; needs letters",
                      NameOf(options.features.kind, kFeatureNames)));
}

// Blocks make a vector longer than the rank of U and V.
absl::Status CheckSsiVectors(const TrainOptions& options) {
  const SsiOptions& ssi = options.ssi;
  const std::int64_t num_blocks =
      (ssi.mix_parts ? 1 : 0) +
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
absl::Status ResolveSsi(TrainOptions& options) {
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
  options.tower.shared = options.ssi.variant == v1::SSI_VARIANT_SYMMETRIC;
  if (!HasSsiVectors(options.ssi.variant)) options.tower.embedding_dim = 0;
  SEMRANK_RETURN_IF_ERROR(CheckSsiVectors(options));
  // The buckets would come before the bigrams, and have no rows of U and V.
  if (HasBigrams(options.features.kind)) options.ssi.unknown_word_buckets = 0;
  options.features.unknown_word_buckets = options.ssi.unknown_word_buckets;
  return absl::OkStatus();
}

}  // namespace

void AddTrainOptions(CommandLine& command_line, TrainOptions& options) {
  AddDataOptions(command_line, options.data);
  AddTowerOptions(command_line, options.tower);
  AddFeatureOptions(command_line, options.features);
  AddSsiOptions(command_line, options.ssi);
  AddLossOptions(command_line, options.loss);
  AddOptimizerOptions(command_line, options.optimizer);
  command_line.Group("Run");
  command_line.Add("batch_size", &options.batch_size,
                   "Largest number of pairs in a mini-batch: an epoch is cut "
                   "into equal ones.",
                   {.min = 1, .max = kMaxBatchSize});
  command_line.Add("epochs", &options.epochs,
                   "Largest number of passes over the pairs.",
                   {.min = 1, .max = 1'000'000});
  command_line.Add("patience", &options.patience,
                   "Epochs without improvement, as --early_stopping measures "
                   "it, before training stops. 0 = never. The best epoch is "
                   "published.",
                   {.min = 0, .max = 1'000'000});
  command_line.Add("early_stopping", &options.early_stopping,
                   "Measure of the best epoch: ndcg (NDCG@10 of "
                   "--valid_queries), loss (of the validation pairs) or auto "
                   "(ndcg with --valid_queries, otherwise loss).",
                   {{"auto", EpochMeasure::kAuto},
                    {"ndcg", EpochMeasure::kNdcg},
                    {"loss", EpochMeasure::kLoss}});
  command_line.Add("force", &options.force,
                   "Publishes the best epoch even if --early_stopping's "
                   "measure finds it worse than the weights before training.");
  command_line.Add("seed", &options.seed,
                   "Random seed. The same seed, files and flags give the same "
                   "model, bit for bit.");
  command_line.Add("threads", &options.threads,
                   "Number of threads; does not change the model. 0 = one for "
                   "each processor.",
                   {.min = 0, .max = 1024});
  AddCheckpointOptions(command_line, options.checkpoint);
}

absl::Status ResolveOptions(TrainOptions& options) {
  // Before the data options are resolved, which replace -1, "as it fits", by a
  // number.
  HoldOutPairsForTheLoss(options);
  SEMRANK_RETURN_IF_ERROR(Resolve(options.data));
  SEMRANK_RETURN_IF_ERROR(ResolveEarlyStopping(options));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.features));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.tower));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.loss));
  SEMRANK_RETURN_IF_ERROR(CheckTypos(options));
  SEMRANK_RETURN_IF_ERROR(ResolveCheckpoint(options.data, options.checkpoint));
  if (!options.data.judged_file.empty() && !UsesShownTitles(options.loss)) {
    return FlagError("judged", options.data.judged_file,
                     "used by --negative_sampling=shown and --hard_negatives "
                     "only");
  }
  if (options.tower.kind == v1::TOWER_KIND_CLSM &&
      HasBigrams(options.features.kind)) {
    return FlagError("features", NameOf(options.features.kind, kFeatureNames),
                     "--tower=clsm reads words in order and has no bigrams");
  }
  SEMRANK_RETURN_IF_ERROR(Resolve(options.ssi));
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    SEMRANK_RETURN_IF_ERROR(ResolveSsi(options));
  }
  if (options.batch_size == 1 &&
      options.loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH) {
    return FlagError("batch_size", "1",
                     absl::StrFormat("must be 2 to %d: in-batch, a single pair "
                                     "has no unclicked titles",
                                     kMaxBatchSize));
  }
  return absl::OkStatus();
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
