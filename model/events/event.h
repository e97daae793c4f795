// Lists that were shown and what users did with them, as the server records
// them: one JSON object a line. EVENTS.md describes the members.
//
//   Time       milliseconds since 1970, UTC.
//   Positions  count from 1 in the list as it was returned.
//   Threads    the functions are thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_EVENT_H_
#define SEMRANK_MODEL_EVENTS_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

// An impression keeps this many results of a longer list.
inline constexpr std::size_t kMaxShownResults = 200;

// Whether a record may have this time: the years 0 to 9999, which names of
// files can say. Sums of such times and any window do not overflow.
inline bool IsEventTime(std::int64_t time_ms) {
  return time_ms >= -62'167'219'200'000 && time_ms < 253'402'300'800'000;
}

struct ShownResult {
  std::string document = {};  // its name or number; empty for a title alone
  std::string title = {};     // empty if it is not known
  double score = 0;
  // 'a' or 'b': the ranker that contributed the result of an interleaved list;
  // 0 = the list has one ranker.
  char team = 0;

  friend bool operator==(const ShownResult&, const ShownResult&) = default;
};

// One list as it was shown to a user.
struct Impression {
  std::string id = {};
  std::int64_t time_ms = 0;
  // One of the two, or none, as --events_text has it: the text, or its keyed
  // hash.
  std::string query = {};
  std::string query_hash = {};
  // Keyed hashes of what the application named; empty = not named.
  std::string session = {};
  std::string user = {};
  // Name and version, "shop/3", of the model that ranked, or another system's
  // name. An interleaved list has two, "a" and "b".
  std::string ranker = {};
  std::string ranker_a = {};
  std::string ranker_b = {};
  // The positions that exploration exchanged; 0 = none.
  std::uint32_t swapped_first = 0;
  std::uint32_t swapped_second = 0;
  std::vector<ShownResult> results = {};

  friend bool operator==(const Impression&, const Impression&) = default;
};

// What a user did with a result, or with the list as a whole.
struct Event {
  std::string id = {};          // the same for repeated reports; empty = none
  std::string impression = {};  // its id
  std::string kind = {};  // "click", "conversion", "dismissal", or another name
  std::uint32_t position = 0;  // 0 = not given: `document` says which result
  std::string document = {};
  std::int64_t time_ms = 0;
  double value = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

using EventRecord = std::variant<Impression, Event>;

inline std::int64_t TimeOf(const EventRecord& record) {
  return std::visit([](const auto& it) { return it.time_ms; }, record);
}

// Appends the record's line, newline included. Members that have their default
// value are left out.
void AppendLine(const Impression& impression, std::string& lines);
void AppendLine(const Event& event, std::string& lines);

// Parses lines and reuses its memory from line to line. Not thread-safe.
class EventParser {
 public:
  EventParser();
  ~EventParser();

  // `line` may end with a newline. InvalidArgument says what is wrong, without
  // the line's number; members that later releases add are skipped.
  absl::StatusOr<EventRecord> Parse(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EVENT_H_
