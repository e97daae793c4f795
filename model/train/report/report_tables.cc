#include "model/train/report/report_tables.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/base/thread_pool.h"
#include "model/base/version.h"
#include "model/format/model_config.h"
#include "model/train/data/memory_budget.h"
#include "model/train/report/html_text.h"

namespace semrank {
namespace {

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

std::string EpochTable(const std::vector<EpochRecord>& epochs) {
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
