#include "model/train/train_flags.h"

#include <cstdint>
#include <string>

#include "absl/flags/flag.h"
#include "model/base/status_macros.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"
#include "model/train/options/presets.h"
#include "model/train/run/initial_model.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;

// Defaults are those of the options struct, which has no other home for them.
semrank::TrainOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(std::string, preset, "",
          "Settings of a paper to the letter: dssm2013, clsm2014, ssi2009. "
          "Flags that are set win over it.");
ABSL_FLAG(std::string, init_from, "",
          "Published model to begin from instead of random weights: a model "
          "directory, or one of its versions. It gives the vocabulary, the "
          "features and the shape of the towers (of SSI: idf and the shape of "
          "W); flags that contradict it are refused.");
ABSL_FLAG(Int, batch_size, Int{Defaults().batch_size},
          "Pairs in a mini-batch, at most: an epoch is cut into equal ones.");
ABSL_FLAG(Int, epochs, Int{Defaults().epochs},
          "Passes over the pairs, at most.");
ABSL_FLAG(Int, patience, Int{Defaults().patience},
          "Epochs without a better one, as --early_stopping measures them, "
          "before training stops. 0 = never. The best epoch is published.");
ABSL_FLAG(Text, early_stopping, Text{"auto"},
          "What makes an epoch better: ndcg (NDCG@10 of --valid_queries), loss "
          "(of the validation pairs) or auto (ndcg with --valid_queries, "
          "otherwise loss).");
ABSL_FLAG(std::uint64_t, seed, Defaults().seed,
          "Of every random choice. The same seed, files and flags give the "
          "same model, bit for bit.");
ABSL_FLAG(int, threads, Defaults().threads,
          "0 = one for each processor. Has no influence on the model.");

namespace semrank {

absl::StatusOr<TrainOptions> TrainOptionsFromFlags() {
  TrainOptions options;
  const std::string preset = absl::GetFlag(FLAGS_preset);
  if (!preset.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(options, PresetOptions(preset));
  } else {
    options.tower.kind = DefaultTowerFromFlags();
    SEMRANK_RETURN_IF_ERROR(ReadFlags(options.tower));
    options = DefaultOptions(options.tower.kind);
  }
  if (const std::string path = absl::GetFlag(FLAGS_init_from); !path.empty()) {
    SEMRANK_RETURN_IF_ERROR(
        TakeInitialModel(path, /*has_preset=*/!preset.empty(), options));
  }
  const TrainOptions taken = options;
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.data));
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.features));
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.tower));
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.ssi));
  SEMRANK_RETURN_IF_ERROR(CheckInitialModel(taken, options));
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.loss));
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.optimizer));
  SEMRANK_RETURN_IF_ERROR(ReadFlags(options.checkpoint));
  absl::GetFlag(FLAGS_batch_size).CopyIfSet(options.batch_size);
  absl::GetFlag(FLAGS_epochs).CopyIfSet(options.epochs);
  absl::GetFlag(FLAGS_patience).CopyIfSet(options.patience);
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_early_stopping), options.early_stopping));
  options.seed = absl::GetFlag(FLAGS_seed);
  options.threads = absl::GetFlag(FLAGS_threads);
  return options;
}

}  // namespace semrank
