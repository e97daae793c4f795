#include "model/train/report/report_sections.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/thread_pool.h"
#include "model/base/version.h"
#include "model/format/model_config.h"
#include "model/train/data/memory_budget.h"
#include "model/train/report/html_text.h"
#include "model/train/report/svg_chart.h"

namespace semrank {
namespace {

void MarkBest(const std::vector<EpochRecord>& epochs, Chart& chart) {
  for (const EpochRecord& record : epochs) {
    // Each epoch that was the best when it ended is marked; the last one is
    // what is published.
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

std::string Row(std::string_view name, std::string_view value) {
  return absl::StrFormat("<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n",
                         EscapeHtml(name), EscapeHtml(value));
}

std::string Table(std::string_view rows) {
  return absl::StrFormat("<table>\n%s</table>\n", rows);
}

std::string Cell(std::string_view text) {
  return absl::StrFormat("<td class=\"number\">%s</td>", EscapeHtml(text));
}

std::string Cell(const std::optional<double>& value) {
  return Cell(value ? absl::StrFormat("%.4f", *value) : "");
}

std::optional<double> MetricOf(const EpochRecord& record, Metric metric) {
  if (!record.validation.metrics) return std::nullopt;
  return (*record.validation.metrics)[metric];
}

std::string LengthText(const LengthHistogram& lengths, bool distinct) {
  return absl::StrFormat(
      "%s%s, %.2f words on average", GroupDigits(lengths.num_texts()),
      distinct ? " distinct" : " with repeats", lengths.MeanWords());
}

// "a.b.c" for nested objects.
void AppendRows(const nlohmann::ordered_json& json, const std::string& prefix,
                std::string& rows) {
  for (const auto& [name, value] : json.items()) {
    if (value.is_object()) {
      AppendRows(value, prefix + name + ".", rows);
    } else {
      rows += Row(prefix + name,
                  value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "not known";
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

std::string EpochTable(const std::vector<EpochRecord>& epochs,
                       const std::optional<MetricValues>& bm25) {
  int best = 0;
  for (const EpochRecord& record : epochs) {
    if (record.best) best = record.epoch;
  }
  std::string rows =
      "<tr><th>epoch</th><th>loss</th><th>validation loss</th><th>NDCG@1</th>"
      "<th>NDCG@3</th><th>NDCG@10</th><th>learning rate</th><th>seconds</th>"
      "<th>pairs/s</th><th>peak memory, MiB</th><th></th></tr>\n";
  for (const EpochRecord& record : epochs) {
    absl::StrAppendFormat(
        &rows, "<tr class=\"%s\">%s%s%s%s%s%s%s%s%s%s<td>%s</td></tr>\n",
        record.epoch == best ? "best" : "",
        Cell(absl::StrFormat("%d", record.epoch)), Cell(record.train_loss),
        Cell(record.validation.loss), Cell(MetricOf(record, kNdcgAt1)),
        Cell(MetricOf(record, kNdcgAt3)), Cell(MetricOf(record, kNdcgAt10)),
        Cell(absl::StrFormat("%.3g", record.learning_rate)),
        Cell(absl::StrFormat("%.1f", record.seconds)),
        Cell(GroupDigits(std::llround(record.pairs_per_second()))),
        Cell(GroupDigits(record.peak_memory_bytes >> 20)),
        record.epoch == best ? "best" : "");
  }
  if (bm25) {
    absl::StrAppendFormat(
        &rows, "<tr>%s%s%s%s%s%s<td colspan=\"5\"></td></tr>\n", Cell("BM25"),
        Cell(""), Cell(""), Cell((*bm25)[kNdcgAt1]), Cell((*bm25)[kNdcgAt3]),
        Cell((*bm25)[kNdcgAt10]));
  }
  return Table(rows);
}

std::string DataTable(const DataStatistics& data) {
  return Table(Row("training pairs", GroupDigits(data.train_pairs)) +
               Row("clicks of these", GroupDigits(data.clicks)) +
               Row("validation pairs", GroupDigits(data.valid_pairs)) +
               Row("queries", LengthText(data.queries, data.distinct_texts)) +
               Row("titles", LengthText(data.titles, data.distinct_texts)) +
               Row("features", GroupDigits(data.features)) +
               Row("bad lines", GroupDigits(data.bad_lines)));
}

std::string ConfigTable(const v1::ModelConfig& config) {
  const absl::StatusOr<std::string> text = FormatModelConfig(config);
  if (!text.ok()) return EscapeHtml(text.status().ToString());
  std::string rows;
  AppendRows(nlohmann::ordered_json::parse(*text, nullptr, false), "", rows);
  return Table(rows);
}

std::string SettingsTable(const std::vector<FlagValue>& flags) {
  std::string rows;
  for (const FlagValue& flag : flags) {
    rows += Row("--" + flag.name,
                absl::StrFormat("%s (%s)", flag.value, flag.source));
  }
  return Table(rows);
}

std::string MachineTable() {
  const auto memory = static_cast<double>(PhysicalMemory());
  return Table(
      Row("semrank-train", Version()) + Row("processor", ProcessorName()) +
      Row("processors usable", absl::StrFormat("%d", NumUsableProcessors())) +
      Row("memory", absl::StrFormat("%.1f GiB", memory / (1 << 30))));
}

}  // namespace semrank
