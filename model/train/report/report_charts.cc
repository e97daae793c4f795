#include "model/train/report/report_charts.h"

#include <optional>

#include "absl/strings/str_format.h"
#include "model/train/report/svg_chart.h"

namespace semrank {
namespace {

void MarkBest(const std::vector<EpochRecord>& epochs, Chart& chart) {
  for (const EpochRecord& record : epochs) {
    if (record.best) chart.mark = record.epoch;
  }
  if (chart.mark) chart.mark_label = absl::StrFormat("best: %g", *chart.mark);
}

ChartSeries LengthSeries(std::string name, const LengthHistogram& lengths) {
  ChartSeries series = {.name = std::move(name), .points = {}};
  for (int words = 1; words <= LengthHistogram::kMaxWords; ++words) {
    series.points.push_back(
        {.x = static_cast<double>(words), .y = 100 * lengths.Share(words)});
  }
  return series;
}

}  // namespace

std::string LossChart(const std::vector<EpochRecord>& epochs) {
  Chart chart = {.title = "Loss by epoch",
                 .x_label = "epoch",
                 .y_label = "mean loss a pair",
                 .series = {{.name = "training", .points = {}}},
                 .mark = std::nullopt,
                 .mark_label = ""};
  ChartSeries validation = {.name = "validation", .points = {}};
  for (const EpochRecord& record : epochs) {
    const double epoch = record.epoch;
    chart.series[0].points.push_back({epoch, record.train_loss});
    if (record.validation.loss) {
      validation.points.push_back({epoch, *record.validation.loss});
    }
  }
  if (!validation.points.empty()) chart.series.push_back(validation);
  MarkBest(epochs, chart);
  return LineChart(chart);
}

std::string NdcgChart(const std::vector<EpochRecord>& epochs) {
  Chart chart = {.title = "NDCG by epoch",
                 .x_label = "epoch",
                 .y_label = "mean NDCG",
                 .series = {},
                 .mark = std::nullopt,
                 .mark_label = ""};
  for (const auto& [name, metric] : {std::pair{"NDCG@1", kNdcgAt1},
                                     {"NDCG@3", kNdcgAt3},
                                     {"NDCG@10", kNdcgAt10}}) {
    ChartSeries series = {.name = name, .points = {}};
    for (const EpochRecord& record : epochs) {
      if (!record.validation.metrics) continue;
      series.points.push_back({static_cast<double>(record.epoch),
                               (*record.validation.metrics)[metric]});
    }
    chart.series.push_back(std::move(series));
  }
  MarkBest(epochs, chart);
  return LineChart(chart);
}

std::string LengthChart(const DataStatistics& data) {
  return BarChart({.title = "Lengths of queries and titles",
                   .x_label = absl::StrFormat("words (%d or more in the last)",
                                              LengthHistogram::kMaxWords),
                   .y_label = data.distinct_texts ? "% of the distinct texts"
                                                  : "% of the texts",
                   .series = {LengthSeries("queries", data.queries),
                              LengthSeries("titles", data.titles)},
                   .mark = std::nullopt,
                   .mark_label = ""});
}

}  // namespace semrank
