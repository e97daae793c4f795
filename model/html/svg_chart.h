// Charts as SVG elements for HTML pages: axes, labels, a legend, and the value
// of every point or bar as text that appears under the pointer and that screen
// readers read. They need no script. Colours come from the page's style sheet:
// classes "series-0", "series-1", ..., "axis", "grid", "mark".
//
//   Errors   none; points that are not finite numbers are omitted.
#ifndef SEMRANK_MODEL_HTML_SVG_CHART_H_
#define SEMRANK_MODEL_HTML_SVG_CHART_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semrank {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points = {};  // x ascending
};

// One colour each.
inline constexpr std::size_t kMaxChartSeries = 4;

struct Chart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ChartSeries> series = {};  // at most kMaxChartSeries
  // A vertical line at this x, with its label.
  std::optional<double> mark = std::nullopt;
  std::string mark_label = "";
};

// Lines through the points, both axes as wide as the values.
std::string LineChart(const Chart& chart);

// Bars beside each other at whole x; the y axis begins at 0.
std::string BarChart(const Chart& chart);

// A chart as a complete SVG file, with the colours that a page would give it.
std::string SvgFile(std::string_view chart);

// Distance of an axis's ticks, 1, 2 or 5 times a power of ten, so that `range`
// (> 0) has 4 to 10 of them.
double TickStep(double range);

}  // namespace semrank

#endif  // SEMRANK_MODEL_HTML_SVG_CHART_H_
