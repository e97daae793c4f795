#include "model/html/svg_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/html/html_text.h"

namespace semrank {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

int Count(const std::string& text, std::string_view part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;
       at += part.size()) {
    ++count;
  }
  return count;
}

Chart TestChart(std::vector<ChartPoint> points) {
  Chart chart;
  chart.title = "t";
  chart.x_label = "epoch";
  chart.y_label = "loss";
  chart.series = {{.name = "training", .points = std::move(points)}};
  return chart;
}

TEST(HtmlTextTest, NothingInEscapedTextCanBeMarkup) {
  EXPECT_EQ(EscapeHtml("<script>\"a\" & 'b'\n\x01</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;  &lt;/script&gt;");
  EXPECT_EQ(EscapeHtml("größe 東京"), "größe 東京");
}

TEST(SvgChartTest, TicksAreOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(TickStep(1), 0.2);
  EXPECT_DOUBLE_EQ(TickStep(7), 1);
  EXPECT_DOUBLE_EQ(TickStep(9.9), 2);
  EXPECT_DOUBLE_EQ(TickStep(30), 5);
  EXPECT_DOUBLE_EQ(TickStep(0.03), 0.005);
}

TEST(SvgChartTest, EveryPointIsDrawnWithItsValue) {
  const std::string svg = LineChart(TestChart({{1, 2.5}, {2, 1.25}, {3, 1}}));
  EXPECT_EQ(Count(svg, "<circle"), 3);
  EXPECT_EQ(Count(svg, "<polyline"), 1);
  EXPECT_THAT(svg, HasSubstr("<title>training, epoch 2: 1.25</title>"));
}

TEST(SvgChartTest, ABarAtZeroIsLabelledZero) {
  const std::string svg = BarChart(TestChart({{0, 2}, {1, 3}}));
  EXPECT_THAT(svg, Not(HasSubstr(">-0<")));
  EXPECT_THAT(svg, HasSubstr(">0</text>"));
}

TEST(SvgChartTest, AFileOfItsOwnHasNamespaceAndColours) {
  const std::string chart = BarChart(TestChart({{1, 2}}));
  const std::string file = SvgFile(chart);
  EXPECT_THAT(file, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" "
                               "role=\"img\""));
  EXPECT_THAT(file, HasSubstr(".series-0 { fill: #"));
  EXPECT_THAT(file, EndsWith(chart.substr(chart.find('\n') + 1)));
}

TEST(SvgChartTest, PointsThatAreNoNumbersAreLeftOut) {
  const std::string svg = LineChart(
      TestChart({{1, 2}, {2, std::numeric_limits<double>::quiet_NaN()}}));
  EXPECT_EQ(Count(svg, "<circle"), 1);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgChartTest, ASinglePointAndNoPointAreChartsToo) {
  for (const std::string& svg :
       {LineChart(TestChart({{1, 0}})), LineChart(TestChart({})),
        BarChart(TestChart({{1, 0}})), BarChart(TestChart({}))}) {
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(SvgChartTest, TheMarkSaysWhatItMarks) {
  Chart chart = TestChart({{1, 2}, {2, 1}});
  chart.mark = 2;
  chart.mark_label = "best: 2";
  EXPECT_THAT(LineChart(chart), HasSubstr(">best: 2</text>"));
}

TEST(SvgChartTest, BarsOfEachSeriesStandAtTheirValues) {
  Chart chart = TestChart({{1, 10}, {2, 30}});
  chart.series.push_back({.name = "titles", .points = {{1, 5}}});
  const std::string svg = BarChart(chart);
  EXPECT_THAT(svg, HasSubstr("<title>training, epoch 2: 30</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>titles, epoch 1: 5</title>"));
}

TEST(SvgChartTest, NamesCannotBreakOutOfTheDrawing) {
  Chart chart = TestChart({{1, 1}});
  chart.series[0].name = "</title><script>alert(1)</script>";
  EXPECT_THAT(LineChart(chart), Not(HasSubstr("<script>")));
}

TEST(SvgChartTest, LongNamesKeepTheLegendInside) {
  Chart chart = TestChart({{1, 1}});
  chart.series.resize(kMaxChartSeries);
  for (ChartSeries& series : chart.series) {
    series = {.name = "model:/srv/models/größen/tests/3", .points = {{1, 1}}};
  }
  const std::string svg = LineChart(chart);
  EXPECT_THAT(svg, Not(HasSubstr(" x=\"-")));
  EXPECT_THAT(svg, HasSubstr(">...en/tests/3<"));
  EXPECT_THAT(svg, HasSubstr("<title>model:/srv/models/größen/tests/3,"));
}

}  // namespace
}  // namespace semrank
