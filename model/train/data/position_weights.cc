#include "model/train/data/position_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

struct Point {
  double examination = 0;
  double error = 0;
};

// A line of the table.
struct TableLine {
  std::int64_t position = 0;
  Point point;
  bool has_error = false;
};

absl::StatusOr<TableLine> ParseTableLine(std::string_view line) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(ToAbsl(line), '\t');
  if (fields.size() != 2 && fields.size() != 3) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d fields between tabs, not position, examination and perhaps a "
        "standard error",
        fields.size()));
  }
  TableLine parsed;
  if (!absl::SimpleAtoi(fields[0], &parsed.position) || parsed.position < 1 ||
      parsed.position > kMaxExaminedPositions) {
    return absl::InvalidArgumentError(
        absl::StrFormat("position \"%s\": must be a whole number, 1 to %d",
                        fields[0], kMaxExaminedPositions));
  }
  double& examination = parsed.point.examination;
  // The negation refuses NaN too.
  if (!absl::SimpleAtod(fields[1], &examination) ||
      !(examination > 0 && examination <= 1)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "examination \"%s\": must be above 0 and at most 1", fields[1]));
  }
  if (fields.size() == 2) return parsed;
  parsed.has_error = true;
  double& error = parsed.point.error;
  if (absl::SimpleAtod(fields[2], &error) && error >= 0 &&
      std::isfinite(error)) {
    return parsed;
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "standard error \"%s\": must be a number from 0", fields[2]));
}

absl::Status AtLine(const LineReader& file, std::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s:%d: %s", file.path(), file.line_number(), problem));
}

}  // namespace

absl::StatusOr<ExaminationCurve> ReadExamination(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<LineReader> file,
                           LineReader::Open(path));
  std::map<std::int64_t, Point> points;
  bool has_errors = true;
  std::string_view line;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, file->Next(line));
    if (!more) break;
    if (file->line_number() == 1 && line.starts_with("position")) continue;
    const absl::StatusOr<TableLine> parsed = ParseTableLine(line);
    if (!parsed.ok()) return AtLine(*file, ToStd(parsed.status().message()));
    if (!points.emplace(parsed->position, parsed->point).second) {
      return AtLine(*file, absl::StrFormat("position %d stands there twice",
                                           parsed->position));
    }
    has_errors = has_errors && parsed->has_error;
  }
  if (points.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s has no line position TAB examination", path));
  }
  ExaminationCurve curve;
  for (const auto& [position, point] : points) {
    curve.examination.push_back(point.examination);
    if (has_errors) curve.errors.push_back(point.error);
    const auto expected = static_cast<std::int64_t>(curve.examination.size());
    if (position == expected) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: position %d is missing, though there is %d", path,
                        expected, position));
  }
  return curve;
}

absl::StatusOr<PositionWeights> PositionWeights::Create(
    const TrainOptions& options) {
  const LossOptions& loss = options.loss;
  if (!CorrectsPositions(loss)) return PositionWeights();
  SEMRANK_ASSIGN_OR_RETURN(ExaminationCurve curve,
                           ReadExamination(loss.position_bias));
  return PositionWeights(std::move(curve), loss.max_position_weight);
}

double PositionWeights::Of(std::int64_t position) const {
  if (!corrects() || position == 0) return 1;
  const auto last = static_cast<std::int64_t>(curve_.examination.size());
  return std::min(max_weight_,
                  1 / curve_.examination[std::min(position, last) - 1]);
}

void PositionWeights::AddTo(v1::TrainingFacts& facts) const {
  facts.mutable_examination()->Assign(curve_.examination.begin(),
                                      curve_.examination.end());
  facts.mutable_examination_error()->Assign(curve_.errors.begin(),
                                            curve_.errors.end());
}

absl::Status CheckPositions(const PositionWeights& weights,
                            const PairReader& reader) {
  if (!weights.corrects() || reader.num_without_position() == 0) {
    return absl::OkStatus();
  }
  if (reader.num_without_position() == reader.num_pairs()) {
    return absl::InvalidArgumentError(
        "no pair has a position, the fifth column of query TAB title TAB "
        "clicks TAB impressions TAB position, for which --position_bias would "
        "correct its clicks");
  }
  absl::FPrintF(stderr,
                "%d of %d pairs have no position: they have the weight of a "
                "position that every user looks at\n",
                reader.num_without_position(), reader.num_pairs());
  return absl::OkStatus();
}

}  // namespace semrank
