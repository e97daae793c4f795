#include "model/events/event.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/utf8.h"

// Lines are written without a tree of JSON values: the members of a record are
// known, and go straight into the line. Reading needs the tree, because members
// may have any order and later releases may add some. The functions ...Members
// name the plain members that EVENTS.md lists, in the order of the line, for
// both sides: `object` is an ObjectWriter or an ObjectReader.
namespace semrank {
namespace {

using Object = simdjson::dom::object;
using Value = simdjson::dom::element;

void ResultMembers(auto& result, auto& object) {
  object.Text("id", result.document);
  object.Text("title", result.title);
  object.Number("score", result.score);
}

void RankerMembers(auto& impression, auto& object) {
  object.Text("a", impression.ranker_a);
  object.Text("b", impression.ranker_b);
}

void ImpressionMembers(auto& impression, auto& object) {
  object.Text("id", impression.id);
  object.Time("time", impression.time_ms);
  object.Text("query", impression.query);
  object.Text("query_hash", impression.query_hash);
  object.Text("session", impression.session);
  object.Text("user", impression.user);
  object.Text("model", impression.ranker);
}

void EventMembers(auto& event, auto& object) {
  object.Text("id", event.id);
  object.Text("impression", event.impression);
  object.Text("kind", event.kind);
  object.Position("position", event.position);
  object.Text("document", event.document);
  object.Time("time", event.time_ms);
  object.Number("value", event.value);
}

// Appends the members of one object; those with default values are left out.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& json) : json_(json) { json_ += '{'; }
  ~ObjectWriter() { json_ += '}'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  void Text(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    Begin(name);
    AppendJsonString(text, json_);
  }
  // JSON has no NaN and no infinity.
  template <typename T>
  void Number(std::string_view name, T number) {
    if (number == 0) return;
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(number)) return;
    }
    Begin(name);
    // The fewest digits that give the same number again; at most 24.
    char digits[32];
    const auto end = std::to_chars(digits, std::end(digits), number).ptr;
    json_.append(digits, end);
  }
  void Position(std::string_view name, std::uint32_t position) {
    Number(name, position);
  }
  void Time(std::string_view name, std::int64_t time_ms) {
    Number(name, time_ms);
  }
  void Begin(std::string_view name) {
    if (!first_) json_ += ',';
    first_ = false;
    json_ += '"';
    json_ += name;
    json_ += "\":";
  }

 private:
  std::string& json_;
  bool first_ = true;
};

void AppendResult(const ShownResult& result, std::string& json) {
  ObjectWriter object(json);
  ResultMembers(result, object);
  // A result without any member is still written, as {}: it has a position.
  if (result.team != 0) object.Text("team", std::string_view(&result.team, 1));
}

absl::Status MemberError(std::string_view name, std::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrFormat("member \"%s\" %s", name, problem));
}

// Reads the members of one object; a member that is missing keeps the default.
// The first error is kept, and what follows it is not read.
class ObjectReader {
 public:
  explicit ObjectReader(const Object& object) : object_(object) {}

  void Text(std::string_view name, std::string& text) {
    std::string_view value;
    if (Read(name, "is not a string", value)) text = value;
  }
  void Number(std::string_view name, double& number) {
    Read(name, "is not a number", number);
  }
  // The times of another program's file may be any number.
  void Time(std::string_view name, std::int64_t& time_ms) {
    if (Read(name, "is not a whole number", time_ms) && !IsEventTime(time_ms)) {
      status_ = MemberError(name, "is not within the years 0 to 9999");
    }
  }
  void Position(std::string_view name, std::uint32_t& position) {
    std::uint64_t value = 0;
    if (!Read(name, "is not a position", value)) return;
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      status_ = MemberError(name, "is not a position");
    }
    position = static_cast<std::uint32_t>(value);
  }
  // Returns true if the member is present and has type T. Sets status_ if its
  // type is wrong. simdjson checks UTF-8 and the ranges of integers.
  template <typename T>
  bool Read(std::string_view name, std::string_view problem, T& value) {
    if (!status_.ok()) return false;
    Value member;
    if (object_[name].get(member) != simdjson::SUCCESS) return false;
    if (member.get(value) == simdjson::SUCCESS) return true;
    status_ = MemberError(name, problem);
    return false;
  }

  const absl::Status& status() const { return status_; }

 private:
  const Object& object_;
  absl::Status status_;
};

absl::StatusOr<ShownResult> ParseResult(Value value) {
  Object object;
  if (value.get(object) != simdjson::SUCCESS) {
    return MemberError("results", "has an element that is not an object");
  }
  ShownResult result;
  ObjectReader reader(object);
  std::string team;
  ResultMembers(result, reader);
  reader.Text("team", team);
  SEMRANK_RETURN_IF_ERROR(reader.status());
  if (!team.empty()) {
    if (team != "a" && team != "b")
      return MemberError("team", "is neither a nor b");
    result.team = team[0];
  }
  return result;
}

absl::Status ParseSwapped(ObjectReader& reader, Impression& impression) {
  constexpr std::string_view kProblem = "is not a pair of positions";
  simdjson::dom::array pair;
  if (!reader.Read("swapped", kProblem, pair)) return reader.status();
  std::uint64_t positions[2] = {};
  // first < second, as the writer has them, so that a pair has one form.
  if (pair.size() != 2 || pair.at(0).get(positions[0]) != simdjson::SUCCESS ||
      pair.at(1).get(positions[1]) != simdjson::SUCCESS || positions[0] < 1 ||
      positions[0] >= positions[1] || positions[1] > kMaxShownResults) {
    return MemberError("swapped", kProblem);
  }
  impression.swapped_first = static_cast<std::uint32_t>(positions[0]);
  impression.swapped_second = static_cast<std::uint32_t>(positions[1]);
  return absl::OkStatus();
}

// An impression has "model", or "models" if it is interleaved.
absl::Status ParseRankers(ObjectReader& reader, Impression& impression) {
  Object rankers;
  if (!reader.Read("models", "is not an object", rankers))
    return reader.status();
  ObjectReader models(rankers);
  RankerMembers(impression, models);
  return models.status();
}

absl::StatusOr<EventRecord> ParseImpression(const Object& object) {
  Impression impression;
  ObjectReader reader(object);
  ImpressionMembers(impression, reader);
  SEMRANK_RETURN_IF_ERROR(reader.status());
  if (impression.id.empty()) return MemberError("id", "is missing");
  SEMRANK_RETURN_IF_ERROR(ParseRankers(reader, impression));
  SEMRANK_RETURN_IF_ERROR(ParseSwapped(reader, impression));
  simdjson::dom::array results;
  if (reader.Read("results", "is not an array", results)) {
    for (const Value value : results) {
      SEMRANK_ASSIGN_OR_RETURN(ShownResult result, ParseResult(value));
      impression.results.push_back(std::move(result));
    }
  }
  SEMRANK_RETURN_IF_ERROR(reader.status());
  // The server writes no more, so this is the file of another program. The
  // limit bounds the memory that a line needs in a join.
  if (impression.results.size() > kMaxShownResults) {
    return MemberError(
        "results",
        absl::StrFormat("has %d elements, more than %d",
                        impression.results.size(), kMaxShownResults));
  }
  return impression;
}

absl::StatusOr<EventRecord> ParseEvent(const Object& object) {
  Event event;
  ObjectReader reader(object);
  EventMembers(event, reader);
  SEMRANK_RETURN_IF_ERROR(reader.status());
  // Position and document may both be missing: the event is then on the list as
  // a whole.
  if (event.impression.empty()) return MemberError("impression", "is missing");
  if (event.kind.empty()) return MemberError("kind", "is missing");
  return event;
}

}  // namespace

void AppendLine(const Impression& impression, std::string& lines) {
  // The block ends with the object, whose destructor writes the closing brace.
  {
    ObjectWriter object(lines);
    object.Text("type", "impression");
    ImpressionMembers(impression, object);
    if (!impression.ranker_a.empty() || !impression.ranker_b.empty()) {
      object.Begin("models");
      ObjectWriter rankers(lines);
      RankerMembers(impression, rankers);
    }
    if (impression.swapped_first != 0) {
      object.Begin("swapped");
      absl::StrAppendFormat(&lines, "[%d,%d]", impression.swapped_first,
                            impression.swapped_second);
    }
    object.Begin("results");
    lines += '[';
    for (const ShownResult& result : impression.results) {
      // After "[" this is the first result.
      if (lines.back() == '}') lines += ',';
      AppendResult(result, lines);
    }
    lines += ']';
  }
  lines += '\n';
}

void AppendLine(const Event& event, std::string& lines) {
  {
    ObjectWriter object(lines);
    object.Text("type", "event");
    EventMembers(event, object);
  }
  lines += '\n';
}

// simdjson's header is large, so it stays out of event.h.
struct EventParser::State {
  simdjson::dom::parser parser;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;

absl::StatusOr<EventRecord> EventParser::Parse(std::string_view line) {
  Value root;
  // Copies the line into memory with the padding that simdjson reads.
  const auto error =
      state_->parser.parse(line.data(), line.size(), /*realloc_if_needed=*/true)
          .get(root);
  Object object;
  if (error != simdjson::SUCCESS || root.get(object) != simdjson::SUCCESS) {
    return absl::InvalidArgumentError("the line is not a JSON object");
  }
  std::string_view type;
  if (object["type"].get(type) != simdjson::SUCCESS) {
    return MemberError("type", "is missing");
  }
  if (type == "impression") return ParseImpression(object);
  if (type == "event") return ParseEvent(object);
  return MemberError("type", "is neither impression nor event");
}

}  // namespace semrank
