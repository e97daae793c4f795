// The impressions that Rank and SearchDocuments keep when they are asked to.
#ifndef SEMRANK_SERVER_REQUESTS_IMPRESSIONS_H_
#define SEMRANK_SERVER_REQUESTS_IMPRESSIONS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "model/events/event.h"
#include "server/catalog/store/catalog_record.h"
#include "server/events/event_log.h"
#include "server/models/served_model.h"
#include "server/requests/wire_reader.h"

namespace semrank {

// An ImpressionOptions, read in place.
struct ImpressionView {
  bool is_wanted = false;  // whether the field is set
  EventNames names = {};
};

void ReadFrom(WireReader& reader, ImpressionView& view);

// FAILED_PRECONDITION EVENTS_DISABLED: the server has no --events.
absl::Status EventsDisabled();

// INVALID_UTF8, or INVALID_FIELD for more than kMaxNameBytes.
inline constexpr std::size_t kMaxNameBytes = 256;
absl::Status CheckName(std::string_view field, std::string_view name);

// OK if no impression is wanted. `events` is null without --events.
absl::Status CheckImpression(const ImpressionView& view,
                             const EventLog* events);

// An impression of `query` by this model, without results.
Impression BeginImpression(const ImpressionView& view, std::string_view query,
                           const ServedModel& served);

// The document's name, or its number as text.
std::string NameOfDocument(const CatalogRecord& record);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_IMPRESSIONS_H_
