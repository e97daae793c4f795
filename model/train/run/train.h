// A training run from files to a published model.
//
//   Result   the weights of the epoch with the best validation score; without
//            validation those of the last.
//   Promise  the same options and files give the same weights, bit for bit, on
//            one machine and build, whatever the number of threads.
//   Stop     Ctrl-C ends it between two mini-batches; the best of the finished
//            epochs is published.
//   Output   progress on standard error; training.jsonl and report.html in
//            model_dir.
//   Errors   InvalidArgument: the content of the files.
//            FailedPrecondition: another run writes to model_dir, or its
//            checkpoint is of another run, or validation finds the result
//            worse than the weights before training (--force).
//            ResourceExhausted: the model does not fit in memory, or not in
//            memory_limit.
//            OutOfRange: the weights grew beyond single precision.
//            Ctrl-C before the end of the first epoch gives Cancelled.
//            Other errors are those of the file system.
//   Threads  one thread calls; it makes the pool that does the work.
#ifndef SEMRANK_MODEL_TRAIN_RUN_TRAIN_H_
#define SEMRANK_MODEL_TRAIN_RUN_TRAIN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "model/cli/command_line.h"
#include "model/train/distributed/communicator.h"
#include "model/train/options/train_options.h"
#include "model/train/run/publication.h"

namespace semrank {

// `options` are resolved; `flags` are those that were given, for the report. In
// a distributed run each process calls it with the same options; all fail
// together, and the first returns the summary.
absl::StatusOr<TrainingSummary> Train(
    TrainOptions options, std::vector<FlagValue> flags = {},
    Communicator& processes = SingleProcess());

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_TRAIN_H_
