#include "model/train/options/resolve_options.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/train/options/network_options.h"
#include "model/train/options/ssi_options.h"

namespace semrank {
namespace {

// Each function below resolves one group of options. -1 and kAuto stand for a
// choice that depends on other options; NaN is neither below nor above a bound,
// so ranges are written as what is allowed.

absl::Status CheckValidation(const DataOptions& data) {
  const bool any = !data.valid_queries.empty() || !data.valid_docs.empty() ||
                   !data.valid_qrels.empty();
  // NDCG needs all three files; one of them alone is most likely a
  // typing error.
  for (const auto& [flag, file] :
       {std::pair<std::string_view, const std::string&>{"valid_queries",
                                                        data.valid_queries},
        {"valid_docs", data.valid_docs},
        {"valid_qrels", data.valid_qrels}}) {
    if (any && file.empty()) {
      return FlagError(flag, "",
                       "--valid_queries, --valid_docs and --valid_qrels "
                       "belong together; one is missing");
    }
  }
  if (!(data.valid_fraction >= 0 && data.valid_fraction <= kMaxValidFraction)) {
    return FlagError(
        "valid_fraction", data.valid_fraction,
        absl::StrFormat("must be 0 to %g, or -1", kMaxValidFraction));
  }
  // Both give the validation loss, of which there is one.
  if (!data.valid_pair_files.empty() && data.valid_fraction > 0) {
    return FlagError("valid_fraction", data.valid_fraction,
                     "--valid_pairs are given, so none are held out");
  }
  return absl::OkStatus();
}

// The last epochs of a rate that falls are the best ones, and the loss of
// held-out pairs says little about ranking.
bool LossMayChooseEpoch(const TrainOptions& options) {
  return options.early_stopping == EpochMeasure::kLoss ||
         options.data.valid_halves ||
         options.optimizer.decay == v1::LEARNING_RATE_DECAY_NONE;
}

// `options.data` has its fraction of validation pairs.
absl::Status ResolveEarlyStopping(TrainOptions& options) {
  const DataOptions& data = options.data;
  const bool has_queries = !data.valid_queries.empty();
  switch (options.early_stopping) {
    case EpochMeasure::kAuto:
      // With a constant rate the number of held-out pairs decides.
      if (has_queries) {
        options.early_stopping = EpochMeasure::kNdcg;
      } else if (data.valid_halves) {
        options.early_stopping = EpochMeasure::kLoss;
      } else if (!LossMayChooseEpoch(options)) {
        options.early_stopping = EpochMeasure::kLast;
      }
      break;
    case EpochMeasure::kLast:
      break;
    // A measure that cannot be taken is an error: another one would choose
    // another epoch.
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

absl::Status ResolveValidation(TrainOptions& options) {
  DataOptions& data = options.data;
  if (data.valid_fraction == -1) {
    // Where no loss chooses the epoch, or there is other data to validate on,
    // all pairs are trained on. If the loss is asked for, pairs are held out
    // beside judged queries too.
    const bool by_loss = options.early_stopping == EpochMeasure::kLoss;
    const bool is_needed = data.valid_pair_files.empty() &&
                           options.early_stopping != EpochMeasure::kLast &&
                           (data.valid_queries.empty() || by_loss) &&
                           LossMayChooseEpoch(options);
    data.valid_fraction = is_needed ? kDefaultValidFraction : 0;
    // A fraction that is only a default is dropped again if it holds out too
    // few pairs (load_training_data.cc). One that was asked for stays.
    data.default_valid_fraction = !by_loss && !data.valid_halves;
  }
  SEMRANK_RETURN_IF_ERROR(CheckValidation(data));
  return ResolveEarlyStopping(options);
}

absl::Status ResolvePublication(TrainOptions& options) {
  const bool reads_events = !options.data.event_paths.empty();
  const bool continues = !options.served_version_dir.empty();
  // A run on events is usually a nightly one: no person reads its report before
  // the model is served.
  if (options.publish == PublishMode::kAuto) {
    options.publish = reads_events && continues ? PublishMode::kIfBetter
                                                : PublishMode::kAlways;
  }
  const bool compares = options.publish == PublishMode::kIfBetter;
  if (compares && !continues) {
    return FlagError("publish", "if_better",
                     "compares with the served model, which --init_from has to "
                     "name");
  }
  double& fraction = options.data.judge_fraction;
  if (fraction == -1) {
    // The first night compares with nothing, but what it learns from could not
    // judge a later night.
    fraction = compares || reads_events ? kDefaultJudgeFraction : 0;
  }
  if (!(fraction >= 0 && fraction <= kMaxValidFraction)) {
    return FlagError(
        "judge_fraction", fraction,
        absl::StrFormat("must be 0 to %g, or -1", kMaxValidFraction));
  }
  if (compares && fraction == 0) {
    return FlagError("judge_fraction", "0",
                     "leaves no clicks for --publish=if_better to judge by");
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
  // Checkpoints are on by default, so this is not an error, in contrast
  // to --resume.
  checkpoint = {.every = absl::ZeroDuration(), .batches = 0, .resume = false};
  return absl::OkStatus();
}

absl::Status ResolveLoss(LossOptions& loss) {
  const bool in_batch = loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH;
  // In-batch negatives are embedded anyway and scored by one product, so all
  // are taken; each drawn one costs an embedding.
  if (loss.negatives == -1) {
    loss.negatives = in_batch ? 0 : kDefaultNegatives;
  }
  if (loss.negatives == 0 && !in_batch) {
    return FlagError("negatives", "0",
                     absl::StrFormat("must be 1 to %d, unless "
                                     "--negative_sampling=in_batch",
                                     kMaxNegatives));
  }
  if (loss.hard_negatives > 0 && !in_batch) {
    return FlagError("hard_negatives", loss.hard_negatives,
                     "they stand beside those of "
                     "--negative_sampling=in_batch; with shown, --negatives "
                     "says how many there are");
  }
  // The range of the flag begins at -1, which is one value and not a range.
  if (loss.logq < 0 && loss.logq != kAutoLogQ) {
    return FlagError("logq", loss.logq, "must be 0 to 1, or -1");
  }
  if (loss.logq == kAutoLogQ && !in_batch) loss.logq = 0;
  // Uniform titles are negatives equally often: there is nothing to correct.
  if (loss.logq > 0 && !in_batch) {
    return FlagError("logq", loss.logq,
                     "corrects for titles that are often in a batch; needs "
                     "--negative_sampling=in_batch");
  }
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

}  // namespace

absl::Status CheckFilesAreNamed(const DataOptions& data) {
  if (!HasClicks(data) && data.docs_file.empty()) {
    return FlagError("train", "",
                     "names no file of pairs, nor --events a folder of events, "
                     "nor --docs a catalogue");
  }
  if (!data.train_files.empty() && !data.event_paths.empty()) {
    return FlagError("events", absl::StrJoin(data.event_paths, ","),
                     "takes the place of --train; omit one of them");
  }
  if (data.model_dir.empty()) {
    return FlagError("model_dir", "", "names no folder for the model");
  }
  // The content is checked when it is read (CheckPairsCanTeach); a name is
  // refused at once.
  for (const std::string& file : data.train_files) {
    for (const auto& [flag, other] :
         {std::pair<std::string_view, const std::string&>{"valid_queries",
                                                          data.valid_queries},
          {"valid_docs", data.valid_docs},
          {"valid_qrels", data.valid_qrels},
          {"docs", data.docs_file}}) {
      if (file != other) continue;
      return FlagError("train", file,
                       absl::StrFormat("is the file of --%s, too; a line of "
                                       "--train is query TAB title",
                                       flag));
    }
  }
  return absl::OkStatus();
}

// The order matters: features and tower are known before SSI takes its choice
// away from them, and the loss before what depends on its negatives.
absl::Status ResolveOptions(TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ResolveValidation(options));
  SEMRANK_RETURN_IF_ERROR(ResolvePublication(options));
  SEMRANK_RETURN_IF_ERROR(ResolveFeatures(options.features));
  SEMRANK_RETURN_IF_ERROR(ResolveTower(options.tower));
  SEMRANK_RETURN_IF_ERROR(ResolveLoss(options.loss));
  SEMRANK_RETURN_IF_ERROR(CheckTypos(options));
  SEMRANK_RETURN_IF_ERROR(ResolveCheckpoint(options.data, options.checkpoint));
  if (!options.data.judged_file.empty() && !UsesShownTitles(options.loss)) {
    return FlagError("judged", options.data.judged_file,
                     "used by --negative_sampling=shown and --hard_negatives "
                     "only");
  }
  // A CLSM has bags of single words (eq. 1), in which no bigram can occur.
  if (options.tower.kind == v1::TOWER_KIND_CLSM &&
      HasBigrams(options.features.kind)) {
    return FlagError("features", NameOf(options.features.kind, kFeatureNames),
                     "--tower=clsm reads words in order and has no bigrams");
  }
  const bool has_int8 = options.tower.kind == v1::TOWER_KIND_LINEAR ||
                        options.tower.kind == v1::TOWER_KIND_DSSM;
  if (options.weights == v1::WEIGHT_ENCODING_INT8 && !has_int8) {
    return FlagError(
        "weights", "int8",
        absl::StrFormat("--tower=%s has no int8 weights; linear and dssm have",
                        NameOf(options.tower.kind, kTowerNames)));
  }
  SEMRANK_RETURN_IF_ERROR(ResolveSsi(options));
  if (options.batch_size == 1 &&
      options.loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH) {
    return FlagError("batch_size", "1",
                     absl::StrFormat("must be 2 to %d: in-batch, a single pair "
                                     "has no unclicked titles",
                                     kMaxBatchSize));
  }
  return absl::OkStatus();
}

}  // namespace semrank
