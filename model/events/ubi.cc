#include "model/events/ubi.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "model/base/count_text.h"
#include "model/base/file_descriptor.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"

namespace semrank {
namespace {

using UbiObject = simdjson::dom::object;
using UbiValue = simdjson::dom::element;

// The members that are read are nested five deep. The limit leaves room for
// nested members that are skipped.
constexpr std::size_t kMaxDepth = 32;
// The server refuses longer kinds.
constexpr std::size_t kMaxKindBytes = 64;

// False also for null.
template <typename T>
bool Get(const UbiObject& object, std::string_view name, T& member) {
  return object[name].get(member) == simdjson::SUCCESS;
}

// Ids may be numbers.
std::string TextOf(const UbiValue& value) {
  std::string_view text;
  std::int64_t number = 0;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  if (value.get(number) == simdjson::SUCCESS) return std::to_string(number);
  return "";
}

std::string TextOf(const UbiObject& object, std::string_view name) {
  UbiValue value;
  return Get(object, name, value) ? TextOf(value) : "";
}

// Clicks and purchases get our names, since the join counts "click" unless
// --kinds says otherwise. A long name may be cut inside a character; each byte
// of it becomes "_".
std::string KindOf(std::string_view action_name) {
  if (action_name == "click_through") return "click";
  if (action_name == "purchase") return "conversion";
  std::string kind(action_name.substr(0, kMaxKindBytes));
  for (char& c : kind) {
    c = absl::ascii_tolower(static_cast<unsigned char>(c));
    const bool is_allowed =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-';
    if (!is_allowed) c = '_';
  }
  return kind;
}

// 0 if there is none; the caller decides whether that is an error.
absl::StatusOr<std::int64_t> TimeOf(const UbiObject& object) {
  UbiValue value;
  if (!Get(object, "timestamp", value) || value.is_null()) return 0;
  std::int64_t milliseconds = 0;
  if (value.get(milliseconds) != simdjson::SUCCESS) {
    const std::string text = TextOf(value);
    absl::Time time;
    std::string error;
    // OpenSearch reads a time without a zone as UTC.
    if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error) &&
        !absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", text, absl::UTCTimeZone(),
                         &time, &error)) {
      return absl::InvalidArgumentError(
          "has a timestamp that is neither a time of ISO 8601 nor a number of "
          "milliseconds");
    }
    milliseconds = absl::ToUnixMillis(time);
  }
  if (IsEventTime(milliseconds)) return milliseconds;
  return absl::InvalidArgumentError(
      "has a timestamp that is not within the years 0 to 9999");
}

// A negative ordinal, as -1 for "unknown", is not a position.
std::uint32_t ShownPosition(const UbiObject& attributes) {
  UbiObject position;
  std::uint64_t ordinal = 0;
  if (!Get(attributes, "position", position) ||
      !Get(position, "ordinal", ordinal)) {
    return 0;
  }
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(ordinal, kMax));
}

absl::StatusOr<EventRecord> ReadUbiEvent(const UbiObject& object) {
  Event event{.impression = TextOf(object, "query_id"),
              .kind = KindOf(TextOf(object, "action_name"))};
  if (event.kind.empty()) {
    return absl::InvalidArgumentError(
        "has an empty action_name, or one that is not a text");
  }
  SEMRANK_ASSIGN_OR_RETURN(event.time_ms, TimeOf(object));
  UbiObject attributes, shown;
  if (Get(object, "event_attributes", attributes)) {
    event.position = ShownPosition(attributes);
    if (Get(attributes, "object", shown)) {
      event.document = TextOf(shown, "object_id");
    }
  }
  return event;
}

absl::StatusOr<EventRecord> ReadUbiQuery(const UbiObject& object) {
  Impression impression{.id = TextOf(object, "query_id"),
                        .query = TextOf(object, "user_query"),
                        .session = TextOf(object, "session_id"),
                        .user = TextOf(object, "client_id"),
                        .ranker = TextOf(object, "application")};
  SEMRANK_ASSIGN_OR_RETURN(impression.time_ms, TimeOf(object));
  simdjson::dom::array ids;
  if (!Get(object, "query_response_hit_ids", ids)) return impression;
  for (const UbiValue id : ids) {
    // The server truncates longer lists to the same length.
    if (impression.results.size() == kMaxShownResults) break;
    impression.results.push_back({.document = TextOf(id)});
  }
  return impression;
}

absl::Status ReadUbiRecord(const UbiValue& value, UbiRecords& records) {
  UbiObject object, source;
  if (value.get(object) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("is not an object");
  }
  // An export of an index wraps each record.
  if (Get(object, "_source", source)) object = source;
  UbiValue member;
  const bool is_event = Get(object, "action_name", member) && !member.is_null();
  if (!is_event && !Get(object, "user_query", member) &&
      !Get(object, "query_response_hit_ids", member)) {
    return absl::InvalidArgumentError("has neither action_name nor user_query");
  }
  if (TextOf(object, "query_id").empty()) {
    ++records.num_ignored;
    return absl::OkStatus();
  }
  SEMRANK_ASSIGN_OR_RETURN(EventRecord record, is_event ? ReadUbiEvent(object)
                                                        : ReadUbiQuery(object));
  records.records.push_back(std::move(record));
  return absl::OkStatus();
}

// Hashes the names of a record and adds it.
void Add(EventRecord& record, const KeyedHash& hash, SortedRecords& records) {
  if (auto* impression = std::get_if<Impression>(&record)) {
    impression->session = hash(HashedKind::kSession, impression->session);
    impression->user = hash(HashedKind::kUser, impression->user);
  }
  records.Add(record);
}

// The join attaches clicks by time, so a record without one is useless.
bool HasTime(const EventRecord& record) { return TimeOf(record) != 0; }

// Both files may have records of both kinds: a record says itself what it is.
absl::Status ReadUbiFile(const std::string& path,
                         const UbiImportOptions& options, const KeyedHash& hash,
                         BadLines& bad_lines, SortedRecords& records,
                         ImportedRecords& counts) {
  UbiParser parser;
  bool is_full = false;
  SEMRANK_RETURN_IF_ERROR(
      ForEachLine(path, bad_lines, [&](std::string_view line) -> LineProblem {
        // ForEachLine cannot be ended early; the remaining lines are skipped.
        if (line.empty() || is_full || Interrupted()) return {};
        absl::StatusOr<UbiRecords> parsed = parser.Parse(line);
        if (!parsed.ok()) return std::string(parsed.status().message());
        // A line is used as a whole or not at all, as by UbiParser.
        if (!std::ranges::all_of(parsed->records, HasTime)) {
          return std::string("has no timestamp");
        }
        counts.ignored += parsed->num_ignored;
        for (EventRecord& record : parsed->records) Add(record, hash, records);
        is_full = records.num_bytes() > options.max_bytes;
        return {};
      }));
  if (Interrupted()) return absl::CancelledError("interrupted");
  if (!is_full) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%s: the records need more than %s bytes of memory; import fewer days at "
      "a time",
      path, GroupDigits(static_cast<std::int64_t>(options.max_bytes))));
}

}  // namespace

struct UbiParser::State {
  simdjson::dom::parser parser;
};

UbiParser::UbiParser() : state_(std::make_unique<State>()) {}
UbiParser::~UbiParser() = default;

absl::StatusOr<UbiRecords> UbiParser::Parse(std::string_view json) {
  UbiValue root;
  auto error = state_->parser.allocate(json.size(), kMaxDepth);
  if (error == simdjson::SUCCESS) {
    // Copies the text into memory with the padding that simdjson reads.
    error = state_->parser
                .parse(json.data(), json.size(), /*realloc_if_needed=*/true)
                .get(root);
  }
  if (error != simdjson::SUCCESS) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the UBI record is not JSON: %s", simdjson::error_message(error)));
  }
  UbiRecords records;
  simdjson::dom::array values;
  if (root.get(values) != simdjson::SUCCESS) {
    const absl::Status status = ReadUbiRecord(root, records);
    if (status.ok()) return records;
    return absl::InvalidArgumentError(
        absl::StrFormat("the UBI record %s", status.message()));
  }
  // An array is one report: all of its records are used, or none.
  std::size_t number = 0;
  for (const UbiValue value : values) {
    const absl::Status status = ReadUbiRecord(value, records);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("UBI record %d %s", number, status.message()));
    }
    ++number;
  }
  return records;
}

absl::StatusOr<ImportedRecords> ImportUbi(const UbiImportOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(const FileDescriptor lock,
                           CreateEventFolder(options.folder));
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash,
                           KeyedHash::OpenOrCreate(options.folder));
  ImportedRecords counts;
  SortedRecords records;
  BadLines bad_lines(options.max_bad_lines);
  for (const std::string& path : options.paths) {
    SEMRANK_RETURN_IF_ERROR(
        ReadUbiFile(path, options, hash, bad_lines, records, counts));
  }
  counts.bad_lines = bad_lines.count();
  counts.impressions = records.num_impressions();
  counts.events = records.num_events();
  if (records.empty()) return counts;
  // The names depend on the records alone. A second import of one export finds
  // the file of the first, and fails instead of counting all clicks twice.
  SEMRANK_ASSIGN_OR_RETURN(counts.files, records.WriteHours(options.folder));
  return counts;
}

}  // namespace semrank
