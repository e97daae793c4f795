// Records of User Behavior Insights 1.3 (ubisearch.dev), as OpenSearch's
// JavaScript client and its plugins send them.
//
//   POST /v1/ubi                an object or an array of objects: events, which
//        /v1/ubi/ubi_events     have action_name, and queries, which have
//        /v1/ubi/ubi_queries    user_query or query_response_hit_ids. The last
//                               two are what ubi.js appends to its base URL.
//   query_id       the id of the impression. Events without one belong to no
//                  list and are ignored, as are queries without one.
//   action_name    the kind of the event: click_through is click, purchase is
//                  conversion; others in lower case, with _ for characters that
//                  kinds do not have.
//   position       event_attributes.position.ordinal, from 1.
//   document       event_attributes.object.object_id; query_response_hit_ids.
//   timestamp      RFC 3339, without a zone UTC, or a number of milliseconds.
//   client_id      the user; session_id the session; application the ranker.
//   No effect      the other members.
//   Response       {"accepted", "ignored", "unknown_impressions"}.
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "semrank/v1/event_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxKindBytes = 64;

std::optional<Element> Find(const Object& object, std::string_view name) {
  Element value;
  if (object[name].get(value) != simdjson::SUCCESS || value.is_null()) {
    return std::nullopt;
  }
  return value;
}

std::optional<Object> FindObject(const Object& object, std::string_view name) {
  const std::optional<Element> value = Find(object, name);
  Object found;
  if (!value.has_value() || value->get(found) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return found;
}

// Ids may be numbers.
std::string TextOf(const Element& value) {
  std::string_view text;
  std::int64_t number = 0;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  if (value.get(number) == simdjson::SUCCESS) return absl::StrCat(number);
  return "";
}

std::string Text(const Object& object, std::string_view name) {
  const std::optional<Element> value = Find(object, name);
  return value.has_value() ? TextOf(*value) : "";
}

std::string KindOf(const std::string& action_name) {
  if (action_name == "click_through") return "click";
  if (action_name == "purchase") return "conversion";
  std::string kind =
      absl::AsciiStrToLower(action_name).substr(0, kMaxKindBytes);
  std::ranges::replace_if(
      kind,
      [](unsigned char c) {
        return !absl::ascii_isalnum(c) && c != '_' && c != '-';
      },
      '_');
  return kind;
}

// Absent = 0, which stands for now.
absl::StatusOr<std::int64_t> TimeOf(const Object& object,
                                    const std::string& place) {
  const std::optional<Element> value = Find(object, "timestamp");
  if (!value.has_value()) return 0;
  std::int64_t milliseconds = 0;
  if (value->get(milliseconds) == simdjson::SUCCESS) return milliseconds;
  const std::string text = TextOf(*value);
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error) ||
      absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", text, absl::UTCTimeZone(), &time,
                      &error)) {
    return absl::ToUnixMillis(time);
  }
  return FieldError("INVALID_FIELD", place + ".timestamp",
                    "is neither a time of RFC 3339 nor a number of "
                    "milliseconds");
}

// A negative ordinal, as -1 for "unknown", is no position.
std::uint32_t PositionOf(const Object& attributes) {
  const std::optional<Object> position = FindObject(attributes, "position");
  if (!position.has_value()) return 0;
  const std::optional<Element> value = Find(*position, "ordinal");
  std::uint64_t ordinal = 0;
  if (!value.has_value() || value->get(ordinal) != simdjson::SUCCESS) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(ordinal, UINT32_MAX));
}

absl::Status ReadEvent(const Object& object, const std::string& place,
                       v1::Event& event) {
  event.set_impression_id(Text(object, "query_id"));
  event.set_kind(KindOf(Text(object, "action_name")));
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t time_ms, TimeOf(object, place));
  event.set_time_ms(time_ms);
  const std::optional<Object> attributes =
      FindObject(object, "event_attributes");
  if (!attributes.has_value()) return absl::OkStatus();
  event.set_position(PositionOf(*attributes));
  const std::optional<Object> shown = FindObject(*attributes, "object");
  if (shown.has_value()) event.set_document(Text(*shown, "object_id"));
  return absl::OkStatus();
}

absl::Status ReadQuery(const Object& object, const std::string& place,
                       v1::ShownList& list) {
  list.set_impression_id(Text(object, "query_id"));
  list.set_query(Text(object, "user_query"));
  list.set_user(Text(object, "client_id"));
  list.set_session(Text(object, "session_id"));
  list.set_ranker(Text(object, "application"));
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t time_ms, TimeOf(object, place));
  list.set_time_ms(time_ms);
  simdjson::dom::array ids;
  const std::optional<Element> value = Find(object, "query_response_hit_ids");
  if (!value.has_value() || value->get(ids) != simdjson::SUCCESS) {
    return absl::OkStatus();
  }
  for (const Element id : ids) {
    list.add_results()->set_document(TextOf(id));
  }
  return absl::OkStatus();
}

absl::Status MalformedUbi(std::string_view reason) {
  return MakeError(
      absl::StatusCode::kInvalidArgument, kMalformedReason,
      absl::StrFormat("the body is no UBI record, and no array of them: %s",
                      reason));
}

class UbiFormat final : public BodyFormat {
 public:
  explicit UbiFormat(const FormatInput& /*input*/) {}

  absl::Status Read(const HttpRequest& request, std::string& bytes) override {
    simdjson::dom::parser parser;
    Element root;
    auto error = parser.allocate(request.body.size(), kMaxDepth);
    if (error == simdjson::SUCCESS) {
      error = parser.parse(request.body.data(), request.body.size()).get(root);
    }
    if (error != simdjson::SUCCESS) {
      return MalformedUbi(simdjson::error_message(error));
    }
    v1::ReportEventsRequest report;
    simdjson::dom::array records;
    if (root.get(records) != simdjson::SUCCESS) {
      SEMRANK_RETURN_IF_ERROR(ReadRecord(root, "", report));
    } else {
      std::size_t number = 0;
      for (const Element record : records) {
        SEMRANK_RETURN_IF_ERROR(
            ReadRecord(record, absl::StrCat("[", number++, "]"), report));
      }
    }
    bytes = report.SerializeAsString();
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response =
        dynamic_cast<const v1::ReportEventsResponse&>(message);
    return nlohmann::ordered_json{
        {"accepted", response.accepted()},
        {"ignored", num_ignored_},
        {"unknown_impressions", response.unknown_impressions()}}
        .dump();
  }

 private:
  absl::Status ReadRecord(const Element& record, const std::string& place,
                          v1::ReportEventsRequest& report) {
    Object object;
    if (record.get(object) != simdjson::SUCCESS) {
      return MalformedUbi(absl::StrCat(place, " is no object"));
    }
    const bool is_event = Find(object, "action_name").has_value();
    if (!is_event && !Find(object, "user_query").has_value() &&
        !Find(object, "query_response_hit_ids").has_value()) {
      return MalformedUbi(
          absl::StrCat(place, " has neither action_name nor user_query"));
    }
    if (!Find(object, "query_id").has_value()) {
      ++num_ignored_;
      return absl::OkStatus();
    }
    return is_event ? ReadEvent(object, place, *report.add_events())
                    : ReadQuery(object, place, *report.add_impressions());
  }

  std::int64_t num_ignored_ = 0;
};

}  // namespace

const FormatFunctions formats::kUbi = {&MakeFormatOf<UbiFormat>, &WriteStatus};

}  // namespace semrank
