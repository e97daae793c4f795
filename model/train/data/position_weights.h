// Weights that correct clicks for the position at which a title was shown.
//
//   Model    a click needs that the user looks at the position and finds the
//            title relevant: P(click) = examination(k) x relevance. So a click
//            at position k, weighted by 1 / examination(k), counts as if every
//            position were looked at (Joachims, Swaminathan and Schnabel, WSDM
//            2017).
//   Clip     no weight is above a limit: a few clicks at positions that are
//            hardly looked at would decide all else.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_TRAIN_DATA_POSITION_WEIGHTS_H_
#define SEMRANK_MODEL_TRAIN_DATA_POSITION_WEIGHTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/pair_reader.h"
#include "model/data/text_pairs.h"
#include "model/events/click_rows.h"
#include "model/events/examination.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

inline constexpr std::int64_t kMaxExaminedPositions = 10'000;

// Reads lines `position TAB examination [TAB standard error]`, in any order; a
// first line that begins with "position" is a header. InvalidArgument, with
// file and line, for what is not a number, an examination that is not above 0
// and at most 1, a position twice, and a position that is missing before the
// last.
// Standard errors that the file does not have are 0.
absl::StatusOr<ExaminationCurve> ReadExamination(const std::string& path);

class PositionWeights {
 public:
  // Clicks are not corrected.
  PositionWeights() = default;
  PositionWeights(ExaminationCurve curve, double max_weight)
      : curve_(std::move(curve)), max_weight_(max_weight) {}

  // With the curve of the file that `options` name, or the one that is
  // estimated from `rows`, as EstimateExamination takes them. Prints it.
  static absl::StatusOr<PositionWeights> Create(const TrainOptions& options,
                                                std::span<const ClickRow> rows);

  bool corrects() const { return !curve_.positions.empty(); }
  // Positions beyond the curve weigh as its last. 1 for position 0, of a line
  // that has none.
  double Of(std::int64_t position) const;

  // Without errors for a curve whose file has none.
  void AddTo(v1::TrainingFacts& facts) const;

 private:
  ExaminationCurve curve_;
  double max_weight_ = 1;
};

// How much the loss of a pair counts, as often as --clicks=repeat repeats it.
inline double LossWeight(const TextPair& pair, v1::ClickUse clicks) {
  return (clicks == v1::CLICK_USE_IGNORE ? 1.0 : pair.clicks) *
         static_cast<double>(pair.weight);
}

// Says on standard error how many lines `reader` has read without a position,
// if clicks are corrected. InvalidArgument if none has one.
absl::Status CheckPositions(const PositionWeights& weights,
                            const PairReader& reader);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_POSITION_WEIGHTS_H_
