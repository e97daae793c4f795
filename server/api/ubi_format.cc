// Records of User Behavior Insights 1.3 (model/events/ubi.h), as OpenSearch's
// JavaScript client and its plugins send them.
//
//   POST /v1/ubi                one record or an array of them. The other paths
//        /v1/ubi/ubi_events     are what ubi.js appends to its base URL; all
//        /v1/ubi/ubi_queries    three take both kinds of records.
//   Response  {"accepted", "ignored", "unknown_impressions"}; records without a
//             query_id are ignored.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/events/ubi.h"
#include "semrank/v1/event_service.pb.h"
#include "server/api/body_format.h"
#include "server/api/json_messages.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

void AddRecord(Event&& event, v1::ReportEventsRequest& report) {
  v1::Event& out = *report.add_events();
  out.set_impression_id(std::move(event.impression));
  out.set_kind(std::move(event.kind));
  out.set_position(event.position);
  out.set_document(std::move(event.document));
  out.set_time_ms(event.time_ms);
}

void AddRecord(Impression&& impression, v1::ReportEventsRequest& report) {
  v1::ShownList& out = *report.add_impressions();
  out.set_impression_id(std::move(impression.id));
  out.set_query(std::move(impression.query));
  out.set_session(std::move(impression.session));
  out.set_user(std::move(impression.user));
  out.set_ranker(std::move(impression.ranker));
  out.set_time_ms(impression.time_ms);
  for (ShownResult& result : impression.results) {
    out.add_results()->set_document(std::move(result.document));
  }
}

class UbiFormat final : public BodyFormat {
 public:
  using BodyFormat::BodyFormat;

  absl::Status Read(std::string& bytes) override {
    absl::StatusOr<UbiRecords> read = UbiParser().Parse(request_.body);
    if (!read.ok()) {
      return MakeError(absl::StatusCode::kInvalidArgument, kMalformedReason,
                       ToStd(read.status().message()));
    }
    num_ignored_ = read->num_ignored;
    v1::ReportEventsRequest report;
    for (EventRecord& record : read->records) {
      std::visit([&](auto& item) { AddRecord(std::move(item), report); },
                 record);
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
  std::int64_t num_ignored_ = 0;
};

}  // namespace

const FormatFunctions formats::kUbi = {&MakeFormatOf<UbiFormat>, &WriteStatus};

}  // namespace semrank
