#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/random_id.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "semrank/v1/event_service.pb.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/events/event_log.h"
#include "server/requests/handlers.h"
#include "server/requests/impressions.h"
#include "server/requests/wire_reader.h"

namespace semrank {
namespace {

// A report has three steps. Read finds the messages in place. The first slice,
// after admission, checks every item and copies it into a record. Then the
// request waits without a thread until the log of events has committed the
// records, and its last slice answers.
//
// A wrong item refuses the whole report: a caller that looks at the status
// alone would not notice errors inside an answer that is OK.

constexpr std::size_t kMaxIdBytes = 128;
constexpr std::size_t kMaxKindBytes = 64;
// Clocks of other machines are not ours.
constexpr absl::Duration kMaxAhead = absl::Minutes(5);

// The messages, read in place: the texts are views into the request's bytes.
struct EventView {
  std::string_view impression_id, kind, document, event_id;
  std::uint32_t position = 0;
  std::int64_t time_ms = 0;
  double value = 0;
};
struct DocumentView {
  std::string_view document, title;
  std::optional<float> score;
};
struct ListView {
  std::string_view impression_id, query, ranker;
  EventNames names;
  std::int64_t time_ms = 0;
  std::vector<DocumentView> results;
};

void ReadEventField(WireReader& reader, EventView& event) {
  using v1::Event;
  // The reader knows no double: its bits are those of a fixed64.
  const auto read_value = [&] {
    std::uint64_t bits = 0;
    if (reader.ReadFixed64(bits)) event.value = std::bit_cast<double>(bits);
  };
  reader.ReadField(
      WireField(Event::kImpressionIdFieldNumber, event.impression_id),
      WireField(Event::kKindFieldNumber, event.kind),
      WireField(Event::kPositionFieldNumber, event.position),
      WireField(Event::kDocumentFieldNumber, event.document),
      WireField(Event::kTimeMsFieldNumber, event.time_ms),
      WireField(Event::kEventIdFieldNumber, event.event_id),
      WireField(Event::kValueFieldNumber, read_value));
}

void ReadListField(WireReader& reader, ListView& list) {
  using v1::ShownDocument;
  using v1::ShownList;
  // Documents are nested two levels deep, and each counts as an item of the
  // request, so that one list cannot exceed --max_texts_per_request either.
  const auto append_result = [&] {
    reader.Append(list.results, [&](DocumentView& result) {
      reader.ReadField(
          WireField(ShownDocument::kDocumentFieldNumber, result.document),
          WireField(ShownDocument::kTitleFieldNumber, result.title),
          WireField(ShownDocument::kScoreFieldNumber, result.score));
    });
  };
  reader.ReadField(
      WireField(ShownList::kImpressionIdFieldNumber, list.impression_id),
      WireField(ShownList::kQueryFieldNumber, list.query),
      WireField(ShownList::kSessionFieldNumber, list.names.session),
      WireField(ShownList::kUserFieldNumber, list.names.user),
      WireField(ShownList::kTimeMsFieldNumber, list.time_ms),
      WireField(ShownList::kResultsFieldNumber, append_result),
      WireField(ShownList::kRankerFieldNumber, list.ranker));
}

absl::Status InvalidField(const std::string& item, std::string_view field,
                          std::string_view message) {
  return FieldError("INVALID_FIELD", absl::StrCat(item, ".", ToAbsl(field)),
                    message);
}

absl::Status CheckId(const std::string& item, std::string_view field,
                     std::string_view id) {
  const bool is_printable =
      std::ranges::all_of(id, [](char c) { return c >= '!' && c <= '~'; });
  if (is_printable && !id.empty() && id.size() <= kMaxIdBytes) {
    return absl::OkStatus();
  }
  return InvalidField(
      item, field,
      absl::StrFormat("must be 1 to %d printable ASCII characters without "
                      "blanks",
                      kMaxIdBytes));
}

absl::Status CheckKind(const std::string& item, std::string_view kind) {
  const bool is_name = std::ranges::all_of(kind, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  if (is_name && !kind.empty() && kind.size() <= kMaxKindBytes) {
    return absl::OkStatus();
  }
  return InvalidField(item, "kind",
                      absl::StrFormat("must be click, conversion, dismissal or "
                                      "another name of 1 to %d characters of "
                                      "a-z, 0-9, _ and -",
                                      kMaxKindBytes));
}

// Checks the items of a report and makes its records.
class ReportMaker {
 public:
  explicit ReportMaker(const ServerParts& parts)
      : limits_(parts.limits),
        log_(*parts.events),
        snapshot_(parts.catalog->documents.TakeSnapshot()),
        now_(log_.now()) {}

  absl::Status Add(const std::string& item, const EventView& view);
  absl::Status Add(const std::string& item, const ListView& view);
  EventReport Take() { return std::move(report_); }

 private:
  absl::Status CheckTime(const std::string& item, std::int64_t time_ms) const;
  absl::Status CheckPosition(const std::string& item,
                             const EventView& view) const;
  absl::Status CheckDocument(const std::string& field,
                             std::string_view document) const;
  absl::Status CheckText(const std::string& field, std::string_view text) const;
  // The title in the catalog, of a document by name or by number.
  std::string_view FindTitle(std::string_view document) const;
  std::int64_t TimeOr(std::int64_t time_ms) const {
    return time_ms == 0 ? absl::ToUnixMillis(now_) : time_ms;
  }

  const Limits& limits_;
  const EventLog& log_;
  // One for the whole report, so that its titles are of one state.
  const CatalogSnapshot snapshot_;
  const absl::Time now_;
  EventReport report_;
};

absl::Status ReportMaker::CheckTime(const std::string& item,
                                    std::int64_t time_ms) const {
  if (time_ms < 0) {
    return InvalidField(item, "time_ms",
                        absl::StrFormat("%d is negative", time_ms));
  }
  if (time_ms <= absl::ToUnixMillis(now_ + kMaxAhead)) return absl::OkStatus();
  return InvalidField(
      item, "time_ms",
      absl::StrFormat("%d is more than five minutes in the future (it counts "
                      "milliseconds since 1970)",
                      time_ms));
}

absl::Status ReportMaker::CheckPosition(const std::string& item,
                                        const EventView& view) const {
  // Only a click is about one result in any case; a conversion or a dismissal
  // may concern the list as a whole.
  if (view.position == 0 && view.document.empty() && view.kind == "click") {
    return InvalidField(item, "position",
                        "is not set, and neither is document: a click has one "
                        "of them");
  }
  // A list of another server, or one that is no longer remembered, has no known
  // length. An impression keeps at most kMaxShownResults of it.
  const std::uint32_t length =
      log_.FindListLength(view.impression_id).value_or(kMaxShownResults);
  if (view.position <= length) return absl::OkStatus();
  return InvalidField(item, "position",
                      absl::StrFormat("%d is beyond the list of %d results",
                                      view.position, length));
}

absl::Status ReportMaker::CheckDocument(const std::string& field,
                                        std::string_view document) const {
  SEMRANK_RETURN_IF_ERROR(CheckUtf8(field, document));
  const auto limit = static_cast<std::size_t>(limits_.max_document_id_bytes);
  if (document.size() <= limit) return absl::OkStatus();
  return TooLong("DOCUMENT_ID_TOO_LONG", field, document.size(),
                 limits_.max_document_id_bytes, "max_document_id_bytes");
}

absl::Status ReportMaker::CheckText(const std::string& field,
                                    std::string_view text) const {
  SEMRANK_RETURN_IF_ERROR(CheckUtf8(field, text));
  const auto limit = static_cast<std::size_t>(limits_.max_text_bytes);
  if (text.size() <= limit) return absl::OkStatus();
  return TextTooLong(field, text.size(), limits_.max_text_bytes);
}

// Records name a document by text, so a document that the catalog has by number
// is named by its digits. A document with these digits as its name comes first.
std::string_view ReportMaker::FindTitle(std::string_view document) const {
  std::optional<std::uint32_t> slot = snapshot_.Find(document);
  std::uint64_t number = 0;
  if (!slot.has_value() && absl::SimpleAtoi(ToAbsl(document), &number)) {
    slot = snapshot_.Find(number);
  }
  return slot.has_value() ? snapshot_.record(*slot).title() : "";
}

absl::Status ReportMaker::Add(const std::string& item, const EventView& view) {
  SEMRANK_RETURN_IF_ERROR(CheckId(item, "impression_id", view.impression_id));
  if (!view.event_id.empty()) {
    SEMRANK_RETURN_IF_ERROR(CheckId(item, "event_id", view.event_id));
  }
  SEMRANK_RETURN_IF_ERROR(CheckKind(item, view.kind));
  SEMRANK_RETURN_IF_ERROR(CheckDocument(item + ".document", view.document));
  SEMRANK_RETURN_IF_ERROR(CheckPosition(item, view));
  SEMRANK_RETURN_IF_ERROR(CheckTime(item, view.time_ms));
  if (!std::isfinite(view.value)) {
    return InvalidField(item, "value", "is not finite");
  }
  report_.events.push_back({.id = std::string(view.event_id),
                            .impression = std::string(view.impression_id),
                            .kind = std::string(view.kind),
                            .position = view.position,
                            .document = std::string(view.document),
                            .time_ms = TimeOr(view.time_ms),
                            .value = view.value});
  return absl::OkStatus();
}

absl::Status ReportMaker::Add(const std::string& item, const ListView& view) {
  if (!view.impression_id.empty()) {
    SEMRANK_RETURN_IF_ERROR(CheckId(item, "impression_id", view.impression_id));
  }
  SEMRANK_RETURN_IF_ERROR(CheckText(item + ".query", view.query));
  SEMRANK_RETURN_IF_ERROR(CheckName(item + ".session", view.names.session));
  SEMRANK_RETURN_IF_ERROR(CheckName(item + ".user", view.names.user));
  SEMRANK_RETURN_IF_ERROR(CheckName(item + ".ranker", view.ranker));
  SEMRANK_RETURN_IF_ERROR(CheckTime(item, view.time_ms));
  Impression impression;
  impression.id = view.impression_id.empty() ? MakeRandomId()
                                             : std::string(view.impression_id);
  impression.time_ms = TimeOr(view.time_ms);
  impression.query = view.query;
  impression.ranker = view.ranker;
  impression.user = view.names.user;
  impression.session = view.names.session;
  for (std::size_t i = 0; i < view.results.size(); ++i) {
    const DocumentView& result = view.results[i];
    const std::string place = ItemName(item + ".results", i);
    SEMRANK_RETURN_IF_ERROR(
        CheckDocument(place + ".document", result.document));
    SEMRANK_RETURN_IF_ERROR(CheckText(place + ".title", result.title));
    if (!std::isfinite(result.score.value_or(0))) {
      return InvalidField(place, "score", "is not finite");
    }
    // All results are checked, also those that the impression does not keep:
    // whether a report is valid must not depend on the place of an item.
    if (i >= kMaxShownResults) continue;
    // Training learns from titles. A caller that sends the documents alone gets
    // those of the catalog, as they are now.
    const std::string_view title =
        result.title.empty() ? FindTitle(result.document) : result.title;
    impression.results.push_back({.document = std::string(result.document),
                                  .title = std::string(title),
                                  .score = result.score.value_or(0)});
  }
  report_.impressions.push_back(std::move(impression));
  return absl::OkStatus();
}

class ReportHandler final : public HandlerOf<v1::ReportEventsResponse> {
 public:
  using HandlerOf::HandlerOf;

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override;
  absl::StatusOr<Progress> RunSlice(const RequestRun& run) override;
  void Wait(const std::function<void()>& resume) override;

 private:
  absl::Status MakeReport();

  std::vector<EventView> events_;
  std::vector<ListView> lists_;
  EventReport report_;
  std::optional<ReportOutcome> outcome_;
};

absl::StatusOr<RequestSize> ReportHandler::Read(std::string_view bytes) {
  using Request = v1::ReportEventsRequest;
  if (parts_.events == nullptr) return EventsDisabled();
  WireReader reader(bytes, parts_.limits.max_texts_per_request);
  const auto append_event = [&] {
    reader.Append(events_,
                  [&](EventView& event) { ReadEventField(reader, event); });
  };
  const auto append_list = [&] {
    reader.Append(lists_, [&](ListView& list) { ReadListField(reader, list); });
  };
  while (reader.Next()) {
    reader.ReadField(WireField(Request::kEventsFieldNumber, append_event),
                     WireField(Request::kImpressionsFieldNumber, append_list));
  }
  SEMRANK_RETURN_IF_ERROR(reader.Finish(*Request::descriptor()));
  std::size_t num_items = events_.size() + lists_.size();
  for (const ListView& list : lists_) num_items += list.results.size();
  return RequestSize{static_cast<std::int64_t>(num_items), bytes.size()};
}

// All or none are kept: a caller repeats the whole report, and events whose ids
// are known are not kept again.
absl::StatusOr<Progress> ReportHandler::RunSlice(const RequestRun& /*run*/) {
  // The first slice ends here; Wait sets the outcome before it queues the
  // next one.
  if (!outcome_.has_value()) {
    SEMRANK_RETURN_IF_ERROR(MakeReport());
    return Progress::kWaiting;
  }
  SEMRANK_RETURN_IF_ERROR(outcome_->status);
  response_.set_accepted(outcome_->num_accepted);
  response_.set_unknown_impressions(outcome_->num_orphans);
  response_.set_duplicates(outcome_->num_duplicates);
  return Progress::kDone;
}

absl::Status ReportHandler::MakeReport() {
  ReportMaker maker(parts_);
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    SEMRANK_RETURN_IF_ERROR(maker.Add(ItemName("impressions", i), lists_[i]));
  }
  for (std::size_t i = 0; i < events_.size(); ++i) {
    SEMRANK_RETURN_IF_ERROR(maker.Add(ItemName("events", i), events_[i]));
  }
  report_ = maker.Take();
  for (const Impression& impression : report_.impressions) {
    response_.add_impression_ids(impression.id);
  }
  return absl::OkStatus();
}

// The callback may run before AddReport returns, and `resume` may delete the
// handler, so nothing may follow either of them.
void ReportHandler::Wait(const std::function<void()>& resume) {
  parts_.events->AddReport(std::move(report_),
                           [this, resume](const ReportOutcome& outcome) {
                             outcome_ = outcome;
                             resume();
                           });
}

}  // namespace

SEMRANK_DEFINE_HANDLER(ReportEvents, ReportHandler)

}  // namespace semrank
