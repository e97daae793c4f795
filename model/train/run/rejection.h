// Decides by clicks whether the model of a run replaces the served one, and
// keeps a model that does not.
//
//   Threads  one thread calls; the pool works.
#ifndef SEMRANK_MODEL_TRAIN_RUN_REJECTION_H_
#define SEMRANK_MODEL_TRAIN_RUN_REJECTION_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/report/training_report.h"
#include "model/train/run/publication.h"
#include "model/train/run/training_state.h"

namespace semrank {

// The rejected models of a model directory, as its versions 1, 2, .... Their
// numbers count all that there were; the newest kMaxRejected are kept.
inline constexpr char kRejectedFolder[] = "rejected";
inline constexpr std::size_t kMaxRejected = 3;

// Why the new clicks cannot judge a model of --publish=if_better; nullopt if
// they can.
std::optional<std::string> DescribeTooFewClicks(const TrainOptions& options,
                                                const TrainingData& data);

// With --publish=if_better, compares the best epoch with the model of
// --init_from as it is served, prints what the clicks say, and adds it to
// `report`, which has the model's configuration. Fails as LoadModel and
// JudgeCandidate.
absl::Status JudgeModel(const TrainOptions& options, const TrainingData& data,
                        const TrainingState& state, ThreadPool& pool,
                        ReportContent& report);

// As PublishBest, but into kRejectedFolder, where older models are removed;
// `fault` says why. Completes `report`.
absl::StatusOr<TrainingSummary> Reject(const TrainOptions& options,
                                       const TrainingData& data,
                                       const std::string& fault,
                                       ReportContent& report,
                                       TrainingState& state);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_REJECTION_H_
