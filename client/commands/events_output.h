// What `semrank events` prints: the same facts as a table and as JSON.
#ifndef SEMRANK_CLIENT_COMMANDS_EVENTS_OUTPUT_H_
#define SEMRANK_CLIENT_COMMANDS_EVENTS_OUTPUT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/output/output.h"
#include "model/events/click_join.h"
#include "model/events/event_files.h"
#include "model/events/event_stats.h"
#include "model/events/examination.h"
#include "model/events/interleaving.h"

namespace semrank {

// A report of named numbers and tables, in order.
class EventsReport {
 public:
  explicit EventsReport(OutputFormat format) : format_(format) {}

  // `name` is the key in JSON; the table has it with blanks for underscores.
  void Add(std::string_view name, std::int64_t value);
  void Add(std::string_view name, std::string_view value);
  // As Add, without a row in the table for 0.
  void AddIfAny(std::string_view name, std::int64_t value);
  // A table of its own after the facts: an array of objects in JSON. Cells are
  // numbers or texts.
  void AddTable(std::string_view name, std::vector<std::string> columns,
                const std::vector<std::vector<nlohmann::ordered_json>>& rows);
  // A sentence after the tables.
  void AddNote(std::string_view name, std::string_view sentence);

  absl::Status Write() const;

 private:
  const OutputFormat format_;
  Table facts_{{{""}, {""}}};
  std::vector<Table> tables_;
  std::vector<std::string> notes_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

void AddFileCounts(const EventFileCounts& counts, EventsReport& report);
// The lists and what was dropped.
void AddJoinCounts(const ClickJoinCounts& counts, EventsReport& report);
void AddStats(const EventStats& stats, EventsReport& report);
void AddExamination(const ExaminationCurve& curve, EventsReport& report);
// With what to do next: how many sessions a fixed horizon needs.
void AddComparison(const std::vector<InterleavedPair>& pairs, double effect,
                   EventsReport& report);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_EVENTS_OUTPUT_H_
