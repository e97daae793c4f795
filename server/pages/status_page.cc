#include "server/pages/status_page.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "model/base/simd_level.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "server/base/errors.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/catalog/sync/change_follower.h"
#include "server/http/http_options.h"
#include "server/models/model_slot.h"
#include "server/pages/pages.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {
namespace {

// The page has no script: it must work while everything else is broken.
constexpr char kHead[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>semrank status</title>\n<link rel=\"icon\" href=\"data:,\">\n"
    "<link rel=\"stylesheet\" href=\"/pages/style.css\">\n</head>\n<body>\n"
    "<header><h1>semrank status</h1><nav aria-label=\"Pages\"><a "
    "href=\"/\">Playground</a> <a "
    "href=\"/metrics\">Metrics</a></nav></header>\n"
    "<main>\n";
constexpr char kEnd[] = "</main>\n</body>\n</html>\n";

using Cells = std::vector<std::string>;

// The first cell of a row of names and values is its header. Every cell is
// escaped here; titles of tables and columns are our own.
std::string Row(const Cells& cells, bool is_head, bool has_head) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const char* const begin = is_head             ? "th scope=\"col\""
                              : has_head || i > 0 ? "td"
                                                  : "th scope=\"row\"";
    const char* const end = is_head || (!has_head && i == 0) ? "th" : "td";
    absl::StrAppendFormat(&row, "<%s>%s</%s>", begin, EscapeHtml(cells[i]),
                          end);
  }
  return row + "</tr>\n";
}

// An empty `head` makes a table of names and values.
std::string Table(std::string_view title, const Cells& head,
                  const std::vector<Cells>& rows) {
  std::string table = absl::StrFormat(
      "<h2>%s</h2>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"%s\">\n<table>\n",
      title, title);
  if (!head.empty()) table += Row(head, /*is_head=*/true, true);
  for (const Cells& row : rows) {
    table += Row(row, /*is_head=*/false, !head.empty());
  }
  return table + "</table>\n</div>\n";
}

std::string MiB(std::uint64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// Three digits and a unit, with a no-break space between them.
std::string Short(absl::Duration time) {
  const double seconds = absl::ToDoubleSeconds(time);
  if (seconds < 1e-3) return absl::StrFormat("%.3g\u00a0us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.3g\u00a0ms", seconds * 1e3);
  return absl::StrFormat("%.3g\u00a0s", seconds);
}

std::string Calls(const RecentCalls& recent) {
  std::vector<Cells> rows;
  for (const RecentCalls::Method& method : recent.Report(absl::Now())) {
    Cells cells = {method.name, method.type};
    for (const RecentCalls::Window& window : method.windows) {
      cells.push_back(absl::StrFormat("%.3g", window.calls_per_second));
      cells.push_back(
          absl::StrFormat("%.2g\u00a0%%", 100 * window.failed_share));
      const bool any = window.num_calls > 0;
      cells.push_back(any ? Short(window.p50) : "");
      cells.push_back(any ? Short(window.p99) : "");
    }
    rows.push_back(std::move(cells));
  }
  if (rows.empty()) return "<h2>Calls</h2>\n<p>none in 5 minutes</p>\n";
  return Table("Calls of the last 1 and 5 minutes",
               {"method", "type", "calls/s, 1 min", "failed", "p50", "p99",
                "calls/s, 5 min", "failed", "p50", "p99"},
               rows);
}

std::string Seconds(absl::Time time) {
  return time == absl::InfinitePast()
             ? ""
             : absl::FormatTime("%Y-%m-%d %H:%M:%SZ", time,
                                absl::UTCTimeZone());
}

// In the order of ModelState, whose numbers begin at 1.
constexpr const char* kStateNames[] = {
    "", "found", "loading", "serving", "retiring", "retired", "failed"};

// Shows only models that the server has tried to load: the page never reads the
// disk.
std::string Models(const ModelStore& models) {
  std::vector<Cells> rows;
  for (const ModelStatus& model : models.ListTried()) {
    std::string note(ToStd(model.failure.message()));
    // A pinned version serves, so it has no failure to show.
    if (model.pinned) note = "pinned";
    if (model.is_default) note += note.empty() ? "default" : ", default";
    rows.push_back({model.name, std::to_string(model.version),
                    kStateNames[static_cast<int>(model.state)],
                    Seconds(model.load_time), note});
  }
  return Table("Models", {"name", "version", "state", "loaded", "note"}, rows);
}

std::string Use(const ServerParts& parts) {
  const DocumentVectorCache::Stats stats = parts.cache->GetStats();
  const Admission& admission = *parts.admission;
  const ConnectionCount& connections = *parts.connections;
  return Table(
      "Cache and load", {},
      {{"vectors", std::to_string(stats.num_entries)},
       {"memory in use",
        MiB(stats.live_bytes) + " of " + MiB(stats.capacity_bytes)},
       {"vectors evicted", std::to_string(stats.num_evictions)},
       {"texts in flight",
        absl::StrFormat("%d of %d", admission.inflight_texts(),
                        admission.max_inflight_texts())},
       {"connections over gRPC",
        absl::StrFormat("%d of %d", connections.num_open(),
                        connections.max_connections())},
       {"connections refused", std::to_string(connections.num_refused())}});
}

std::string Store(const StoredVectors* stored) {
  if (stored == nullptr) return "";
  const StoredVectors::State state = stored->GetState();
  return Table(
      "Document store", {},
      {{"store", state.name},
       {"state", state.bypassed ? "bypassed, tried again soon" : "in use"},
       {"bypasses", std::to_string(state.num_bypasses)},
       {"last error", std::string(ToStd(state.last_error.message()))},
       {"vectors queued for writing", std::to_string(state.queued_vectors)}});
}

std::string DescribeChanges(const ChangeFollower::State& state) {
  if (!state.error.ok()) {
    return absl::StrFormat("not followed: %s", state.error.message());
  }
  return absl::StrFormat(
      "%d documents followed, all %s ago; read again %d times",
      state.num_changed,
      absl::FormatDuration(absl::Trunc(absl::Now() - state.up_to_date_at,
                                       absl::Milliseconds(100))),
      state.num_rereads);
}

std::string Catalog(const SyncedCatalog& catalog) {
  const DocumentCatalog::Stats stats = catalog.documents.GetStats();
  // The snapshot names the model. It is held only while the page is made.
  const CatalogSnapshot snapshot = catalog.documents.TakeSnapshot();
  const ServedModelPtr served = snapshot.model();
  const CatalogModelUpdate::Status update = catalog.update.GetStatus();
  std::vector<Cells> rows = {{"documents", std::to_string(stats.num_documents)},
                             {"memory", MiB(stats.num_bytes)}};
  if (served != nullptr) {
    const ModelVersion& version = served->model->version();
    rows.push_back({"model", absl::StrFormat("%s version %d", version.name,
                                             version.version)});
  }
  if (update.num_documents > 0) {
    rows.push_back({"embedded by the new model",
                    absl::StrFormat("%d of %d", update.num_embedded,
                                    update.num_documents)});
  }
  if (catalog.changes() != nullptr) {
    rows.push_back({"changes of other servers",
                    DescribeChanges(catalog.changes()->GetState())});
  }
  return Table("Catalog", {}, rows);
}

std::string LimitTable(const Limits& limits,
                       std::size_t max_catalog_documents) {
  return Table(
      "Limits", {},
      {{"texts in a request", std::to_string(limits.max_texts_per_request)},
       {"bytes of a text", std::to_string(limits.max_text_bytes)},
       {"texts in flight", std::to_string(limits.max_inflight_texts)},
       {"size of a message", MiB(MaxRequestBytes(limits))},
       {"documents in the catalog", std::to_string(max_catalog_documents)},
       {"connections over gRPC", std::to_string(limits.max_connections)},
       {"connections over HTTP",
        std::to_string(HttpServerOptions().max_connections)}});
}

// Shows no messages: they are for the caller of the request.
std::string Failures(const RequestLog& log) {
  std::vector<Cells> rows;
  for (const RequestLog::Failure& failure : log.failures()) {
    rows.push_back(
        {Seconds(failure.time), failure.method,
         absl::StatusCodeToString(failure.status.code()),
         ErrorReason(failure.status),
         failure.number.has_value()
             ? absl::StrFormat("%s #%d", failure.request_id, *failure.number)
             : failure.request_id});
  }
  // An empty table would look like a bug of the page.
  if (rows.empty()) rows.push_back({"none since the start"});
  return Table("Last failed requests",
               {"time", "method", "code", "reason", "request id"}, rows);
}

}  // namespace

void AddStatusPage(const ServerParts& parts, HttpPages& pages) {
  pages["/statusz"] = [parts, start = absl::Now()] {
    return BrowserPage(StatusPage(parts, absl::Now() - start));
  };
}

// Names of models, errors of stores and ids of requests need it.
std::string EscapeHtml(std::string_view text) {
  return absl::StrReplaceAll(
      ToAbsl(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string StatusPage(const ServerParts& parts, absl::Duration uptime) {
  const std::string state(Lifecycle::Description(parts.lifecycle->state()));
  return kHead +
         Table("Server", {},
               {{"version", std::string(Version())},
                {"SIMD level", std::string(SimdLevel())},
                {"state", state},
                {"up for",
                 absl::FormatDuration(absl::Trunc(uptime, absl::Seconds(1)))},
                {"now", Seconds(absl::Now())}}) +
         Calls(*parts.recent_calls) + Models(*parts.models) + Use(parts) +
         Catalog(*parts.catalog) + Store(parts.stored) +
         LimitTable(parts.limits, parts.catalog->documents.max_documents()) +
         Failures(*parts.request_log) + kEnd;
}

}  // namespace semrank
