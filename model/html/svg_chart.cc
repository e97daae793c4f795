#include "model/html/svg_chart.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "model/html/html_text.h"

// The drawing, from the top left corner: legend and label of y in the top
// margin, ticks of y in the left one, ticks and label of x in the bottom one.
// Colours come from classes, so that a page can have a dark style. EscapeHtml
// escapes all text: names of models and words of queries may contain anything.
namespace semrank {
namespace {

// The units of the drawing, which the page scales.
constexpr double kWidth = 640, kHeight = 300;
// Margins for the ticks, the labels and the legend.
constexpr double kLeft = 64, kRight = 16, kTop = 40, kBottom = 48;

// An axis: values from `low` to `high` on pixels from `begin` to `end`.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;
  double begin = 0;
  double end = 1;

  double At(double value) const {
    return begin + (value - low) / (high - low) * (end - begin);
  }
};

// The colours of a chart that is a file; pages have their own.
constexpr std::string_view kFileStyle = R"(<style>
svg { background: #fff; } text { fill: #1f2328; font: 12px sans-serif; }
.tick { fill: #59636e; } .axis { stroke: #59636e; }
.grid { stroke: #d1d9e0; stroke-width: .5; }
.mark { stroke: #cf222e; stroke-dasharray: 4 3; }
.series-0 { fill: #0969da; stroke: #0969da; }
.series-1 { fill: #bc4c00; stroke: #bc4c00; }
.series-2 { fill: #1a7f37; stroke: #1a7f37; }
.series-3 { fill: #8250df; stroke: #8250df; }
polyline { fill: none; stroke-width: 2; }
</style>
)";

// A range is empty, with low > high, until a value is added.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool IsFinite(const ChartPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

// An axis that has room for `range` and ends on ticks.
Axis MakeAxis(Range range, double begin, double end) {
  if (range.low > range.high) range = {0, 1};
  if (range.low == range.high) {
    // With one value, or equal ones, an axis of no length would divide by 0.
    const double margin = range.low == 0 ? 1 : std::abs(range.low) * 0.1;
    range = {range.low - margin, range.high + margin};
  }
  const double step = TickStep(range.high - range.low);
  return {.low = std::floor(range.low / step) * step,
          .high = std::ceil(range.high / step) * step,
          .step = step,
          .begin = begin,
          .end = end};
}

// The axis of whole numbers reaches from the first value to the last.
Axis MakeWholeAxis(Range range, double margin) {
  if (range.low > range.high) range = {0, 1};
  if (range.low == range.high && margin == 0) margin = 0.5;
  return {.low = range.low - margin,
          .high = range.high + margin,
          // Epochs and words are whole numbers, so ticks are at least 1 apart.
          .step = std::max(1.0, TickStep(range.high - range.low + 1)),
          .begin = kLeft,
          .end = kWidth - kRight};
}

struct Axes {
  Axis x;
  Axis y;
};

// The length of a bar means something only from 0; a line may use all the
// height. In SVG y grows downwards, so its axis runs from the bottom up.
Axes MakeAxes(const Chart& chart, bool from_zero, double x_margin) {
  Range x, y;
  if (from_zero) y.Add(0);
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (!IsFinite(point)) continue;
      x.Add(point.x);
      y.Add(point.y);
    }
  }
  return {MakeWholeAxis(x, x_margin), MakeAxis(y, kHeight - kBottom, kTop)};
}

// Only `text` may come from outside; `attributes` are markup of this file.
void AppendText(std::string_view attributes, double x, double y,
                std::string_view text, std::string& svg) {
  absl::StrAppendFormat(&svg, "<text %s x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                        attributes, x, y, EscapeHtml(text));
}

void AppendLine(std::string_view style, double x1, double y1, double x2,
                double y2, std::string& svg) {
  absl::StrAppendFormat(
      &svg,
      "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
      style, x1, y1, x2, y2);
}

void AppendFrame(const Chart& chart, const Axes& axes, std::string& svg) {
  const double bottom = axes.y.begin;
  const int num_ticks =
      static_cast<int>(std::lround((axes.y.high - axes.y.low) / axes.y.step));
  // Ticks are counted in whole numbers, as adding up steps would lose the last
  // tick to rounding.
  for (int i = 0; i <= num_ticks; ++i) {
    const double value = axes.y.low + i * axes.y.step;
    AppendLine("grid", axes.x.begin, axes.y.At(value), axes.x.end,
               axes.y.At(value), svg);
    // A tick of 1e-17 is 0.
    AppendText("class=\"tick\" text-anchor=\"end\"", axes.x.begin - 8,
               axes.y.At(value) + 4,
               absl::StrFormat(
                   "%g", std::abs(value) < axes.y.step / 1e6 ? 0.0 : value),
               svg);
  }
  const double first = std::ceil(axes.x.low / axes.x.step);
  const double last = std::floor(axes.x.high / axes.x.step);
  for (int i = 0; first + i <= last; ++i) {
    // ceil(-0.6) is -0, which would be shown; the sum is 0.
    const double value = (first + i) * axes.x.step + 0.0;
    AppendText("class=\"tick\" text-anchor=\"middle\"", axes.x.At(value),
               bottom + 18, absl::StrFormat("%g", value), svg);
  }
  AppendLine("axis", axes.x.begin, bottom, axes.x.end, bottom, svg);
  AppendText("class=\"label\" text-anchor=\"middle\"",
             (axes.x.begin + axes.x.end) / 2, kHeight - 10, chart.x_label, svg);
  AppendText("class=\"label\"", 4, 14, chart.y_label, svg);
}

// The name, or its end after "..." if it is longer: names of models are paths,
// and differ at their ends.
std::string ShortName(std::string_view name, std::size_t max_bytes) {
  if (name.size() <= max_bytes) return std::string(name);
  name.remove_prefix(name.size() + 3 - max_bytes);
  // The name is cut between two characters of UTF-8.
  while (!name.empty() && (name[0] & 0xC0) == 0x80) name.remove_prefix(1);
  return absl::StrFormat("...%s", name);
}

// SVG cannot measure text; this is enough a letter for the page's font.
constexpr double kLetterWidth = 8.5;
constexpr double kMarkWidth = 26;  // of the legend, with the blanks around it

// The legend has the top line, but for the label of y at its left end. Series
// share what is there, so that none begins beyond the edge.
std::size_t MaxLegendBytes(const Chart& chart) {
  const double label = kLetterWidth * static_cast<double>(chart.y_label.size());
  const double width =
      (kWidth - kRight - label) / static_cast<double>(chart.series.size());
  return static_cast<std::size_t>((width - kMarkWidth) / kLetterWidth);
}

void AppendLegend(const Chart& chart, std::string& svg) {
  double x = kWidth - kRight;
  // The legend grows from the right edge, hence the last series first.
  for (std::size_t s = chart.series.size(); s-- > 0;) {
    const std::string name =
        ShortName(chart.series[s].name, MaxLegendBytes(chart));
    x -= kLetterWidth * static_cast<double>(name.size()) + kMarkWidth;
    absl::StrAppendFormat(&svg,
                          "<rect class=\"series-%d\" x=\"%.1f\" y=\"6\" "
                          "width=\"10\" height=\"10\"/>\n",
                          s, x);
    AppendText("class=\"label\"", x + 14, 15, name, svg);
  }
}

std::string Begin(const Chart& chart) {
  return absl::StrFormat(
      "<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %g %g\">\n"
      "<title>%s</title>\n",
      EscapeHtml(chart.title), kWidth, kHeight, EscapeHtml(chart.title));
}

// Browsers show it under the pointer: exact values without a table.
std::string PointTitle(const Chart& chart, const ChartSeries& series,
                       const ChartPoint& point) {
  return absl::StrFormat("<title>%s, %s %g: %.6g</title>",
                         EscapeHtml(series.name), EscapeHtml(chart.x_label),
                         point.x, point.y);
}

// The label is on the side where there is more room.
void AppendMark(const Chart& chart, const Axes& axes, std::string& svg) {
  if (!chart.mark || !std::isfinite(*chart.mark)) return;
  const double x = axes.x.At(*chart.mark);
  const bool left_half = x < (axes.x.begin + axes.x.end) / 2;
  AppendLine("mark", x, kTop - 6, x, axes.y.begin, svg);
  AppendText(
      left_half ? "class=\"label\"" : "class=\"label\" text-anchor=\"end\"",
      left_half ? x + 4 : x - 4, kTop - 8, chart.mark_label, svg);
}

}  // namespace

double TickStep(double range) {
  const double power = std::pow(10, std::floor(std::log10(range)));
  // The smallest of 0.2, 0.5, 1 and 2 powers of ten that gives at most 8 steps.
  for (const double step : {0.2, 0.5, 1.0}) {
    if (range / (step * power) <= 8) return step * power;
  }
  return 2 * power;
}

std::string LineChart(const Chart& chart) {
  const Axes axes = MakeAxes(chart, /*from_zero=*/false, /*x_margin=*/0);
  std::string svg = Begin(chart);
  AppendFrame(chart, axes, svg);
  AppendMark(chart, axes, svg);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const ChartSeries& series = chart.series[s];
    std::string line, points;
    for (const ChartPoint& point : series.points) {
      if (!IsFinite(point)) continue;
      const double x = axes.x.At(point.x), y = axes.y.At(point.y);
      absl::StrAppendFormat(&line, "%.1f,%.1f ", x, y);
      absl::StrAppendFormat(
          &points,
          "<circle class=\"series-%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\">%s"
          "</circle>\n",
          s, x, y, PointTitle(chart, series, point));
    }
    absl::StrAppendFormat(&svg,
                          "<polyline class=\"series-%d\" points=\"%s\"/>\n%s",
                          s, line, points);
  }
  AppendLegend(chart, svg);
  return svg + "</svg>\n";
}

std::string BarChart(const Chart& chart) {
  const Axes axes = MakeAxes(chart, /*from_zero=*/true, /*x_margin=*/0.6);
  // Pixels between two whole numbers; the bars of a group take 80 % of it.
  const double group = axes.x.At(1) - axes.x.At(0);
  const double width =
      0.8 * group /
      std::max<double>(1, static_cast<double>(chart.series.size()));
  std::string svg = Begin(chart);
  AppendFrame(chart, axes, svg);
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    for (const ChartPoint& point : chart.series[s].points) {
      if (!IsFinite(point)) continue;
      const double top = axes.y.At(point.y);
      absl::StrAppendFormat(
          &svg,
          "<rect class=\"series-%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
          "height=\"%.1f\">%s</rect>\n",
          s, axes.x.At(point.x) - 0.4 * group + static_cast<double>(s) * width,
          top, width, axes.y.begin - top,
          PointTitle(chart, chart.series[s], point));
    }
  }
  AppendLegend(chart, svg);
  return svg + "</svg>\n";
}

std::string SvgFile(std::string_view chart) {
  // Inside a page neither the namespace nor the style is needed; a file has no
  // page to inherit them from.
  constexpr std::string_view kBegin = "<svg ";
  assert(chart.starts_with(kBegin));
  const std::size_t content = chart.find('\n') + 1;
  return absl::StrFormat("<svg xmlns=\"http://www.w3.org/2000/svg\" %s%s%s",
                         chart.substr(kBegin.size(), content - kBegin.size()),
                         kFileStyle, chart.substr(content));
}

}  // namespace semrank
