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
#include "model/base/count_text.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// A line of the table.
struct TableLine {
  std::int64_t position = 0;
  ExaminedPosition point;
};

absl::StatusOr<TableLine> ParseTableLine(std::string_view line) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(ToAbsl(line), '\t');
  if (fields.size() != 2 && fields.size() != 3) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s between tabs, not position, examination and perhaps a standard "
        "error",
        CountText(std::ssize(fields), "field")));
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
  double& error = parsed.point.standard_error;
  if (absl::SimpleAtod(fields[2], &error) && error >= 0 &&
      std::isfinite(error)) {
    return parsed;
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "standard error \"%s\": must be a number from 0", fields[2]));
}

// "examination of positions: 1 1.000, 2 0.512 (standard error 0.013), ...".
void PrintCurve(const ExaminationCurve& curve) {
  constexpr std::size_t kMaxPrinted = 10;
  std::string text = "examination of positions:";
  for (std::size_t k = 0; k < curve.positions.size() && k < kMaxPrinted; ++k) {
    const ExaminedPosition& position = curve.positions[k];
    absl::StrAppendFormat(&text, "%s %d %.3f", k == 0 ? "" : ",", k + 1,
                          position.examination);
    if (position.standard_error == 0) continue;
    absl::StrAppendFormat(&text, " (standard error %.3f)",
                          position.standard_error);
  }
  if (curve.num_changed_titles > 0) {
    absl::StrAppendFormat(
        &text,
        "; estimated from %d clicks on %d titles that were shown at "
        "several positions",
        curve.num_clicks, curve.num_changed_titles);
  }
  absl::FPrintF(stderr, "%s\n", text);
}

absl::Status AtLine(const LineReader& file, std::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s:%d: %s", file.path(), file.line_number(), problem));
}

}  // namespace

absl::StatusOr<ExaminationCurve> ReadExamination(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<LineReader> file,
                           LineReader::Open(path));
  std::map<std::int64_t, ExaminedPosition> points;
  std::string_view line;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, file->Next(line));
    if (!more) break;
    if (file->line_number() == 1 && line.starts_with("position")) continue;
    const absl::StatusOr<TableLine> parsed = ParseTableLine(line);
    if (!parsed.ok()) return AtLine(*file, ToStd(parsed.status().message()));
    if (!points.emplace(parsed->position, parsed->point).second) {
      return AtLine(
          *file, absl::StrFormat("position %d occurs twice", parsed->position));
    }
  }
  if (points.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s has no line position TAB examination", path));
  }
  ExaminationCurve curve;
  for (const auto& [position, point] : points) {
    curve.positions.push_back(point);
    // The map is in the order of positions, so the first gap is the
    // first difference.
    const auto expected = std::ssize(curve.positions);
    if (position == expected) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: position %d is missing, though there is %d", path,
                        expected, position));
  }
  return curve;
}

absl::StatusOr<PositionWeights> PositionWeights::Create(
    const TrainOptions& options, std::span<const ClickRow> rows) {
  const LossOptions& loss = options.loss;
  if (!CorrectsPositions(loss)) return PositionWeights();
  ExaminationCurve curve;
  if (EstimatesPositions(loss)) {
    SEMRANK_ASSIGN_OR_RETURN(curve, EstimateExamination(rows));
  } else {
    SEMRANK_ASSIGN_OR_RETURN(curve, ReadExamination(loss.position_bias));
  }
  PrintCurve(curve);
  return PositionWeights(std::move(curve), loss.max_position_weight);
}

double PositionWeights::Of(std::int64_t position) const {
  if (!corrects() || position == 0) return 1;
  // Clicks beyond the curve are rare. The weight of its last position is the
  // largest that the data support.
  const auto last = std::ssize(curve_.positions);
  const ExaminedPosition& examined =
      curve_.positions[std::min(position, last) - 1];
  // A curve that is estimated may exceed 1 by chance.
  return std::min(max_weight_, 1 / examined.examination);
}

void PositionWeights::AddTo(v1::TrainingFacts& facts) const {
  facts.clear_examination();
  facts.clear_examination_error();
  bool has_errors = false;
  for (const ExaminedPosition& position : curve_.positions) {
    facts.add_examination(position.examination);
    facts.add_examination_error(position.standard_error);
    has_errors = has_errors || position.standard_error > 0;
  }
  // Zeros would say that the curve is exact.
  if (!has_errors) facts.clear_examination_error();
}

absl::Status CheckPositions(const PositionWeights& weights,
                            const PairReader& reader) {
  if (!weights.corrects() || reader.num_without_position() == 0) {
    return absl::OkStatus();
  }
  // A correction that corrects no pair is a mistake in the file. Some lines
  // without a position are not.
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
