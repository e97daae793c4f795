#include "server/pages/operator_pages.h"

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

constexpr char kHead[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>semrank-server</title>\n<style>\n"
    "body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 60em; "
    "padding: 0 1em; }\n"
    "table { border-collapse: collapse; width: 100%; }\n"
    "th, td { text-align: left; padding: .25em .75em .25em 0; "
    "border-bottom: 1px solid #ddd; vertical-align: top; }\n"
    "h2 { margin-top: 1.5em; font-size: 1.1em; }\n"
    "</style>\n</head>\n<body>\n<h1>semrank-server</h1>\n";

using Cells = std::vector<std::string>;

std::string Row(const char* tag, const Cells& cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) {
    absl::StrAppendFormat(&row, "<%s>%s</%s>", tag, EscapeHtml(cell), tag);
  }
  return row + "</tr>\n";
}

// `head` empty = a table of names and values.
std::string Table(std::string_view title, const Cells& head,
                  const std::vector<Cells>& rows) {
  std::string table = absl::StrFormat("<h2>%s</h2>\n<table>\n", title);
  if (!head.empty()) table += Row("th", head);
  for (const Cells& row : rows) table += Row("td", row);
  return table + "</table>\n";
}

std::string Seconds(absl::Time time) {
  return time == absl::InfinitePast()
             ? ""
             : absl::FormatTime("%Y-%m-%d %H:%M:%SZ", time,
                                absl::UTCTimeZone());
}

std::string_view StateName(ModelState state) {
  switch (state) {
    case ModelState::kFound:
      return "found";
    case ModelState::kLoading:
      return "loading";
    case ModelState::kServing:
      return "serving";
    case ModelState::kRetiring:
      return "retiring";
    case ModelState::kRetired:
      return "retired";
    case ModelState::kFailed:
      return "failed";
  }
  return "";
}

std::string Models(const ModelStore& models) {
  std::vector<Cells> rows;
  for (const ModelStatus& model : models.ListTried()) {
    std::string note(ToStd(model.failure.message()));
    if (model.pinned) note = "pinned";
    if (model.is_default) note += note.empty() ? "default" : ", default";
    rows.push_back({model.name, std::to_string(model.version),
                    std::string(StateName(model.state)),
                    Seconds(model.load_time), note});
  }
  return Table("Models", {"name", "version", "state", "loaded", ""}, rows);
}

std::string Use(const StatusSources& sources) {
  const DocumentVectorCache::Stats stats = sources.cache->GetStats();
  const Admission& admission = *sources.admission;
  const ConnectionCount& connections = *sources.connections;
  return Table(
      "Cache and load", {},
      {{"vectors", std::to_string(stats.num_entries)},
       {"bytes in use",
        absl::StrFormat("%d of %d", stats.live_bytes, stats.capacity_bytes)},
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

std::string Catalog(const ServedCatalog& catalog) {
  const DocumentCatalog::Stats stats = catalog.documents.GetStats();
  const DocumentCatalog::Snapshot snapshot = catalog.documents.TakeSnapshot();
  const ServedModelPtr served = snapshot.model();
  const CatalogModelUpdate::Status update = catalog.update.GetStatus();
  std::vector<Cells> rows = {{"documents", std::to_string(stats.num_documents)},
                             {"bytes", std::to_string(stats.num_bytes)}};
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
  return Table("Catalog", {}, rows);
}

std::string LimitTable(const Limits& limits,
                       std::size_t max_catalog_documents) {
  return Table(
      "Limits", {},
      {{"texts in a request", std::to_string(limits.max_texts_per_request)},
       {"bytes of a text", std::to_string(limits.max_text_bytes)},
       {"texts in flight", std::to_string(limits.max_inflight_texts)},
       {"bytes of a message", std::to_string(MaxRequestBytes(limits))},
       {"documents in the catalog", std::to_string(max_catalog_documents)},
       {"connections over gRPC", std::to_string(limits.max_connections)},
       {"connections over HTTP",
        std::to_string(HttpServerOptions().max_connections)}});
}

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
  if (rows.empty()) rows.push_back({"none since the start"});
  return Table("Last failed requests",
               {"time", "method", "code", "reason", "request id"}, rows);
}

}  // namespace

HttpPages OperatorPages(const Lifecycle* lifecycle, const Metrics* metrics) {
  HttpPages pages;
  pages["/metrics"] = [metrics]() -> HttpResponse {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics->Render()};
  };
  pages["/healthz"] = []() -> HttpResponse { return {.body = "ok\n"}; };
  pages["/readyz"] = [lifecycle]() -> HttpResponse {
    const Lifecycle::State state = lifecycle->state();
    return {.status = state == Lifecycle::State::kServing ? 200 : 503,
            .body = std::string(Lifecycle::Description(state)) + "\n"};
  };
  return pages;
}

void AddStatusPage(const StatusSources& sources, HttpPages& pages) {
  pages["/statusz"] = [sources, start = absl::Now()]() -> HttpResponse {
    return {.content_type = "text/html; charset=utf-8",
            .body = StatusPage(sources, absl::Now() - start)};
  };
}

std::string EscapeHtml(std::string_view text) {
  return absl::StrReplaceAll(
      ToAbsl(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string StatusPage(const StatusSources& sources, absl::Duration uptime) {
  const std::string state(Lifecycle::Description(sources.lifecycle->state()));
  return kHead +
         Table("Server", {},
               {{"version", std::string(Version())},
                {"state", state},
                {"up for",
                 absl::FormatDuration(absl::Trunc(uptime, absl::Seconds(1)))},
                {"now", Seconds(absl::Now())}}) +
         Models(*sources.models) + Use(sources) + Catalog(*sources.catalog) +
         Store(sources.stored) +
         LimitTable(*sources.limits,
                    sources.catalog->documents.max_documents()) +
         Failures(*sources.request_log) + "</body>\n</html>\n";
}

}  // namespace semrank
