#include "client/load/load_output.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

double CallsPerSecond(const LoadReport& report) {
  const double seconds = absl::ToDoubleSeconds(report.duration);
  return seconds > 0 ? static_cast<double>(report.latencies.count()) / seconds
                     : 0;
}

std::vector<std::pair<std::string, absl::Duration>> Latencies(
    const LatencyRecorder& latencies) {
  return {{"mean", latencies.Mean()},
          {"p50", latencies.Percentile(50)},
          {"p90", latencies.Percentile(90)},
          {"p99", latencies.Percentile(99)},
          {"p99.9", latencies.Percentile(99.9)},
          {"max", latencies.max()}};
}

// To the microsecond, so that JSON has no digits without meaning.
double Milliseconds(absl::Duration duration) {
  return std::round(absl::ToDoubleMicroseconds(duration)) / 1e3;
}

}  // namespace

Table LoadTable(const LoadReport& report) {
  Table table;
  table.AddColumn("measured");
  table.AddColumn("value", Table::Align::kRight);
  table.AddRow({"seconds", absl::StrFormat("%.2f", absl::ToDoubleSeconds(
                                                       report.duration))});
  table.AddRow({"calls", absl::StrFormat("%d", report.latencies.count())});
  table.AddRow(
      {"calls a second", absl::StrFormat("%.1f", CallsPerSecond(report))});
  table.AddRow({"late sends", absl::StrFormat("%d", report.num_late)});
  table.AddRow({"unsent", absl::StrFormat("%d", report.num_unsent)});
  for (const auto& [name, latency] : Latencies(report.latencies)) {
    table.AddRow(
        {name + " ms", absl::StrFormat("%.3f", Milliseconds(latency))});
  }
  for (const auto& [code, count] : report.num_failed) {
    table.AddRow({"failed with " + absl::StatusCodeToString(code),
                  absl::StrFormat("%d", count)});
  }
  return table;
}

nlohmann::ordered_json LoadJson(const LoadReport& report) {
  nlohmann::ordered_json latency_ms, failed = nlohmann::ordered_json::object();
  for (const auto& [name, latency] : Latencies(report.latencies)) {
    latency_ms[name] = Milliseconds(latency);
  }
  for (const auto& [code, count] : report.num_failed) {
    failed[absl::StatusCodeToString(code)] = count;
  }
  return {{"seconds", absl::ToDoubleSeconds(report.duration)},
          {"calls", report.latencies.count()},
          {"calls_per_second", CallsPerSecond(report)},
          {"late_sends", report.num_late},
          {"unsent", report.num_unsent},
          {"latency_ms", std::move(latency_ms)},
          {"failed", std::move(failed)}};
}

}  // namespace semrank
