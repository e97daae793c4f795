// What a training run does: the flags of semrank-train as values. The values
// written here are the defaults that --help shows.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_TRAIN_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/options/checkpoint_options.h"
#include "model/train/options/data_options.h"
#include "model/train/options/feature_options.h"
#include "model/train/options/loss_options.h"
#include "model/train/options/optimizer_options.h"
#include "model/train/options/ssi_options.h"
#include "model/train/options/tower_options.h"

namespace semrank {

class CommandLine;

// The measure by which the best epoch is chosen.
enum class EpochMeasure {
  kAuto,  // kNdcg with judged validation queries, otherwise kLoss
  kNdcg,  // NDCG@10 of the judged validation queries
  kLoss,  // mean loss of the validation pairs
};

// Weights to begin from; empty = random ones.
struct InitialModelOptions {
  std::string version_dir;
  std::string weights_sha256;
};

struct TrainOptions {
  DataOptions data;
  FeatureOptions features;
  TowerOptions tower;
  SsiOptions ssi;
  LossOptions loss;
  OptimizerOptions optimizer;
  CheckpointOptions checkpoint;
  InitialModelOptions initial_model;
  int batch_size = 1024;
  int epochs = 20;
  // Epochs without improvement before training stops; 0 = never.
  int patience = 3;
  EpochMeasure early_stopping = EpochMeasure::kAuto;
  // Publish also what validation finds worse than the weights before training.
  bool force = false;
  std::uint64_t seed = 1;
  // 0 = one for each processor. Has no influence on the model.
  int threads = 0;
};

inline constexpr int kMaxBatchSize = 16384;

// Binds the flags of all groups; ranges are checked as they are read.
void AddTrainOptions(CommandLine& command_line, TrainOptions& options);

// Replaces -1, kAuto and UNSPECIFIED by what they stand for. Then checks
// values against each other: FlagError naming the flag, the value and the
// limit.
absl::Status ResolveOptions(TrainOptions& options);

// Weights of --tower=ssi that are learned. FlagError when W is too large to be
// stored whole.
absl::StatusOr<std::int64_t> NumSsiParameters(const TrainOptions& options,
                                              int num_words);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_TRAIN_OPTIONS_H_
