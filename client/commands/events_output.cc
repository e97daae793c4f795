#include "client/commands/events_output.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

// Every fact goes into the table and into the JSON object at once, under one
// name, so that neither lacks one. The names are part of the interface:
// programs read the JSON.
namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// "robot_lists" as "robot lists".
std::string AsWords(std::string_view name) {
  return absl::StrReplaceAll(ToAbsl(name), {{"_", " "}});
}

std::string FormatDate(std::int64_t time_ms) {
  return absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMillis(time_ms),
                          absl::UTCTimeZone());
}

// A rate of few digits, for people and for programs.
double Rounded(double value) {
  constexpr double kDigits = 1e6;
  return std::round(value * kDigits) / kDigits;
}

// JSON cannot represent NaN, so a rate with denominator 0 is reported as 0.
Json RateOf(std::int64_t part, std::int64_t all) {
  if (all == 0) return 0;
  return Rounded(static_cast<double>(part) / static_cast<double>(all));
}

// Four decimals suffice for a person; JSON has the six of Rounded.
std::string CellText(const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_null()) return "";
  if (cell.is_number_float())
    return absl::StrFormat("%.4f", cell.get<double>());
  return cell.dump();
}

}  // namespace

void EventsReport::Add(std::string_view name, std::int64_t value) {
  json_[std::string(name)] = value;
  facts_.AddRow({AsWords(name), format_ == OutputFormat::kTable
                                    ? GroupDigits(value)
                                    : std::to_string(value)});
}

void EventsReport::Add(std::string_view name, std::string_view value) {
  json_[std::string(name)] = std::string(value);
  facts_.AddRow({AsWords(name), std::string(value)});
}

// A person need not read which rules dropped nothing; a program expects the
// same members each time.
void EventsReport::AddIfAny(std::string_view name, std::int64_t value) {
  if (value != 0) {
    Add(name, value);
  } else {
    json_[std::string(name)] = 0;
  }
}

void EventsReport::AddTable(std::string_view name,
                            std::vector<std::string> columns,
                            const std::vector<std::vector<Json>>& rows) {
  // Columns are named in JSON as in the table, but with underscores. The first
  // cell of the first row says whether a table begins with names.
  Json array = Json::array();
  Table table;
  for (const std::string& column : columns) {
    // Names are to the left, and only first columns have names.
    table.AddColumn(AsWords(column), rows.empty() || !rows[0][0].is_string() ||
                                             column != columns[0]
                                         ? Table::kRight
                                         : Table::kLeft);
  }
  for (const std::vector<Json>& row : rows) {
    Json object;
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[columns[i]] = row[i];
      cells.push_back(CellText(row[i]));
    }
    array.push_back(std::move(object));
    table.AddRow(std::move(cells));
  }
  json_[std::string(name)] = std::move(array);
  tables_.push_back(std::move(table));
}

void EventsReport::AddNote(std::string_view name, std::string_view sentence) {
  json_[std::string(name)] = std::string(sentence);
  notes_.emplace_back(sentence);
}

// Notes are not results: a program that reads the tables as TSV gets them on
// standard error.
absl::Status EventsReport::Write() const {
  if (format_ == OutputFormat::kJson) return WriteJson(json_);
  SEMRANK_RETURN_IF_ERROR(WriteTable(facts_, format_));
  for (const Table& table : tables_) {
    SEMRANK_RETURN_IF_ERROR(WriteStdout("\n"));
    SEMRANK_RETURN_IF_ERROR(WriteTable(table, format_));
  }
  for (const std::string& note : notes_) {
    absl::FPrintF(stderr, "%s\n", note);
  }
  return absl::OkStatus();
}

void AddFileCounts(const EventFileCounts& counts, EventsReport& report) {
  report.Add("files", counts.files);
  report.Add("records", counts.records);
  report.AddIfAny("cut_files", counts.cut_files);
  report.AddIfAny("damaged_files", counts.damaged_files);
  report.AddIfAny("bad_lines", counts.bad_lines);
}

// Adds first what was kept, then what each rule of EVENTS.md dropped.
void AddJoinCounts(const ClickJoinCounts& counts, EventsReport& report) {
  report.Add("lists", counts.lists);
  report.Add("clicked_lists", counts.clicked_lists);
  report.Add("clicks", counts.clicks);
  if (counts.lists > 0) {
    report.Add("first", FormatDate(counts.first_ms));
    report.Add("last", FormatDate(counts.last_ms));
  }
  report.AddIfAny("swapped_lists", counts.swapped_lists);
  report.AddIfAny("interleaved_lists", counts.interleaved_lists);
  report.AddIfAny("lists_without_query", counts.lists_without_query);
  report.AddIfAny("results_without_title", counts.results_without_title);
  report.AddIfAny("dropped_repeated_lists", counts.repeated_lists);
  report.AddIfAny("dropped_robot_lists", counts.robot_lists);
  report.AddIfAny("dropped_lists_outside_dates", counts.lists_outside_dates);
  report.AddIfAny("dropped_events_of_other_kinds", counts.other_kinds);
  report.AddIfAny("dropped_double_clicks", counts.doubles);
  report.AddIfAny("dropped_orphan_clicks", counts.orphans);
  report.AddIfAny("dropped_late_clicks", counts.late);
  report.AddIfAny("dropped_clicks_on_unknown_results", counts.unknown_results);
  report.AddIfAny("dropped_robot_clicks", counts.robot_clicks);
  report.AddIfAny("dropped_clicks_outside_dates", counts.clicks_outside_dates);
  report.AddIfAny("robots", counts.robots);
}

void AddStats(const EventStats& stats, EventsReport& report) {
  std::vector<std::vector<Json>> rows;
  for (const auto& [kind, count] : stats.kinds()) rows.push_back({kind, count});
  report.AddTable("kinds", {"kind", "events"}, rows);
  rows.clear();
  for (const auto& [name, ranker] : stats.rankers()) {
    rows.push_back({name, ranker.lists, ranker.clicks,
                    RateOf(ranker.clicked, ranker.lists),
                    RateOf(ranker.clicked_at_1, ranker.lists),
                    RateOf(ranker.clicked_at_3, ranker.lists),
                    RateOf(ranker.clicked_at_10, ranker.lists)});
  }
  report.AddTable("models",
                  {"model", "lists", "clicks", "clicked", "clicked_at_1",
                   "clicked_at_3", "clicked_at_10"},
                  rows);
  rows.clear();
  for (std::size_t i = 0; i < stats.positions().size(); ++i) {
    const ShownAtPosition& position = stats.positions()[i];
    rows.push_back({i + 1, position.impressions, position.clicks,
                    RateOf(position.clicks, position.impressions)});
  }
  report.AddTable("positions",
                  {"position", "impressions", "clicks", "click_rate"}, rows);
}

// Values are rounded, since further digits of an estimate mean nothing.
void AddExamination(const ExaminationCurve& curve, EventsReport& report) {
  std::vector<std::vector<Json>> rows;
  for (std::size_t i = 0; i < curve.positions.size(); ++i) {
    const ExaminedPosition& position = curve.positions[i];
    rows.push_back({i + 1, Rounded(position.examination),
                    Rounded(position.standard_error),
                    Rounded(position.clicks)});
  }
  report.AddTable("examination",
                  {"position", "examination", "standard_error", "clicks"},
                  rows);
}

void AddComparison(const std::vector<InterleavedPair>& pairs, double effect,
                   EventsReport& report) {
  // The number of decided sessions (wins and losses) that detects `effect`. It
  // does not depend on the pair.
  const std::int64_t needed = SessionsForEffect(effect);
  std::vector<std::vector<Json>> rows;
  for (const InterleavedPair& pair : pairs) {
    const std::int64_t decided = pair.wins + pair.losses;
    // All sessions, of which the same share as today will be decided. Unknown
    // without any.
    Json horizon;
    if (decided > 0) {
      horizon = static_cast<std::int64_t>(std::ceil(
          static_cast<double>(needed) * static_cast<double>(pair.sessions) /
          static_cast<double>(decided)));
    }
    rows.push_back({pair.a, pair.b, pair.lists, pair.sessions, pair.wins,
                    pair.ties, pair.losses, pair.without_clicks,
                    Rounded(pair.share), Rounded(pair.share_low),
                    Rounded(pair.share_high), pair.p, horizon});
  }
  report.AddTable(
      "pairs",
      {"model", "versus", "lists", "sessions", "wins", "ties", "losses",
       "without_clicks", "share", "share_low", "share_high", "p", "horizon"},
      rows);
  report.AddNote(
      "note",
      absl::StrFormat(
          "A share of %g of the decided sessions shows with %s of them (80 %% "
          "power, p < .05); the column horizon says how many sessions have so "
          "many. Fix that number before you look, and look once: p values of "
          "repeated looks are too small.",
          0.5 + effect, GroupDigits(needed)));
}

}  // namespace semrank
