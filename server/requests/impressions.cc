#include "server/requests/impressions.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "semrank/v1/common.pb.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/requests/experiments.h"

namespace semrank {

void ReadFrom(WireReader& reader, ImpressionView& view) {
  // An empty message asks for an impression, too, so presence counts and not
  // the fields.
  using v1::ImpressionOptions;
  view.is_wanted |= reader.ReadMessage([&] {
    reader.ReadField(
        WireField(ImpressionOptions::kSessionFieldNumber, view.names.session),
        WireField(ImpressionOptions::kUserFieldNumber, view.names.user));
  });
}

// A Rank with an impression is refused, too, rather than answered without its
// id: otherwise the clicks of this caller would be lost without an error.
absl::Status EventsDisabled() {
  return MakeError(absl::StatusCode::kFailedPrecondition, "EVENTS_DISABLED",
                   "the server keeps no impressions and no events (--events)",
                   {{"flag", "events"}});
}

absl::Status CheckName(std::string_view field, std::string_view name) {
  SEMRANK_RETURN_IF_ERROR(CheckUtf8(field, name));
  if (name.size() <= kMaxNameBytes) return absl::OkStatus();
  return FieldError(
      "INVALID_FIELD", field,
      absl::StrFormat("has %d bytes, more than %d", name.size(), kMaxNameBytes),
      {{"value", absl::StrCat(name.size())},
       {"limit", absl::StrCat(kMaxNameBytes)}});
}

absl::Status CheckImpression(const ImpressionView& view,
                             const EventLog* events) {
  if (!view.is_wanted) return absl::OkStatus();
  if (events == nullptr) return EventsDisabled();
  SEMRANK_RETURN_IF_ERROR(CheckName("impression.session", view.names.session));
  return CheckName("impression.user", view.names.user);
}

Impression BeginImpression(const ImpressionView& view, std::string_view query,
                           const ServedModel& served) {
  // The names as the caller sent them: the log of events hashes them in its own
  // thread, and adds the id and the time.
  Impression impression;
  impression.query = query;
  impression.user = view.names.user;
  impression.session = view.names.session;
  impression.ranker = RankerName(served);
  return impression;
}

std::string NameOfDocument(const CatalogRecord& record) {
  // Records of events have one text for both kinds of keys; FindTitle of the
  // reports reads it the same way.
  const DocumentKeyView key = record.key();
  if (const auto* const number = std::get_if<std::uint64_t>(&key)) {
    return absl::StrCat(*number);
  }
  return std::string(std::get<std::string_view>(key));
}

}  // namespace semrank
