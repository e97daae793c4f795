// A training run from files to a published model.
//
//   Result   the weights of the epoch that did best in validation; without
//            validation those of the last.
//   Promise  the same options and files give the same weights, bit for bit,
//            on one machine and build, whatever the number of threads.
//   Stop     Ctrl-C ends it between two mini-batches; the best of the
//            finished epochs is published.
//   Output   progress on standard error; training.jsonl and report.html in
//            model_dir.
//   Errors   InvalidArgument: the options (FlagError) or what the files hold.
//            ResourceExhausted: the model does not fit in memory, or beside
//            streamed pairs not in memory_limit.
//            OutOfRange: the weights grew beyond single precision.
//            Cancelled: Ctrl-C before the end of the first epoch.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TRAINER_H_
#define SEMRANK_MODEL_TRAIN_RUN_TRAINER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/report/training_log.h"
#include "model/train/report/training_report.h"

namespace semrank {

struct TrainingSummary {
  std::string version_dir;  // of the published model
  std::int64_t version = 0;
  EpochRecord best;
  int epochs_run = 0;
};

// {"version_dir": "models/shop/3", "version": 3, "epochs_run": 7,
//  "best_epoch": {...}}, the last as in training.jsonl; one line.
std::string FormatSummaryJson(const TrainingSummary& summary);

// `flags` are for the report, and so that the useless ones are named. Several
// processes call it alike, with the same options; all fail together, and the
// leader's summary is the one that counts.
absl::StatusOr<TrainingSummary> Train(
    TrainOptions options, std::vector<FlagValue> flags = {},
    Communicator& communicator = OneProcess());

// ResourceExhausted when the machine has less memory than weights of so many
// features, their best epoch and the optimizer's state take.
absl::Status CheckMemory(const TrainOptions& options, int num_features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TRAINER_H_
