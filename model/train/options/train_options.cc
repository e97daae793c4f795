#include "model/train/options/train_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/train/options/option_checks.h"

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
  SEMRANK_RETURN_IF_ERROR(Resolve(checkpoint));
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

}  // namespace

absl::Status ResolveOptions(TrainOptions& options) {
  HoldOutPairsForTheLoss(options);
  SEMRANK_RETURN_IF_ERROR(Resolve(options.data));
  SEMRANK_RETURN_IF_ERROR(ResolveEarlyStopping(options));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.features));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.tower));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.loss));
  SEMRANK_RETURN_IF_ERROR(Resolve(options.optimizer));
  SEMRANK_RETURN_IF_ERROR(ResolveCheckpoint(options.data, options.checkpoint));
  if (!options.data.judged_file.empty() && !UsesShownTitles(options.loss)) {
    return FlagError("judged", options.data.judged_file,
                     "used by --negative_sampling=shown and --hard_negatives "
                     "only");
  }
  SEMRANK_RETURN_IF_ERROR(Resolve(options.ssi));
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    SEMRANK_RETURN_IF_ERROR(ResolveSsi(options));
  }
  // In-batch, one pair alone has nothing to be told apart from.
  const int min_pairs =
      options.loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH ? 2 : 1;
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("batch_size", options.batch_size, min_pairs, kMaxBatchSize));
  SEMRANK_RETURN_IF_ERROR(CheckRange("epochs", options.epochs, 1, 1'000'000));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("patience", options.patience, 0, 1'000'000));
  return CheckRange("threads", options.threads, 0, 1024);
}

}  // namespace semrank
