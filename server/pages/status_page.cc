#include "server/pages/status_page.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "model/base/count_text.h"
#include "model/base/simd_level.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "model/html/html_text.h"
#include "server/base/errors.h"
#include "server/base/limits.h"
#include "server/base/recent_calls.h"
#include "server/base/request_log.h"
#include "server/catalog/sync/change_follower.h"
#include "server/events/event_log.h"
#include "server/models/model_slot.h"
#include "server/pages/browser_page.h"
#include "server/pages/embedded_files.h"
#include "server/ranking/shadow_ranker.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {
namespace {

// The texts of a row, in the order of the columns; not escaped yet.
using Cells = std::vector<std::string>;

// Columns of one group stand side by side.
struct Column {
  const char* name = "";
  const char* group = "";
};
using Columns = std::vector<Column>;

// Titles, names of columns and groups are our own; all cells are escaped.
std::string Section(std::string_view title, bool is_wide,
                    std::string_view content) {
  return absl::StrFormat(
      // The box scrolls by itself on small screens. With a tab index and a
      // label, it can be scrolled by keyboard, and screen readers name it.
      "<section%s>\n<h2>%s</h2>\n<div class=\"scroll\" role=\"region\" "
      "tabindex=\"0\" aria-label=\"%s\">\n%s</div>\n</section>\n",
      is_wide ? " class=\"wide\"" : "", title, title, content);
}

// A table of names and values.
std::string Facts(std::string_view title, const std::vector<Cells>& rows) {
  std::string table = "<table>\n";
  for (const Cells& row : rows) {
    absl::StrAppendFormat(&table,
                          "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n",
                          EscapeHtml(row[0]), EscapeHtml(row[1]));
  }
  return Section(title, /*is_wide=*/false, table + "</table>\n");
}

// A row with the groups, if there are any, above a row with the columns.
std::string Head(const Columns& columns) {
  std::string groups;
  std::string names;
  // One step of the loop is a group of columns, or one column without a group.
  for (std::size_t i = 0; i < columns.size();) {
    const std::string_view group = columns[i].group;
    std::size_t end = i + 1;
    while (!group.empty() && end < columns.size() &&
           columns[end].group == group) {
      ++end;
    }
    groups +=
        group.empty()
            ? "<td></td>"
            : absl::StrFormat("<th scope=\"colgroup\" colspan=\"%d\">%s</th>",
                              end - i, group);
    for (; i < end; ++i) {
      absl::StrAppendFormat(&names, "<th scope=\"col\">%s</th>",
                            columns[i].name);
    }
  }
  const bool has_groups = groups.find("<th") != std::string::npos;
  return absl::StrCat("<thead>\n",
                      has_groups ? "<tr>" + groups + "</tr>\n" : "", "<tr>",
                      names, "</tr>\n</thead>\n");
}

// On a phone each row is a card, whose cells show the names of their columns.
std::string Table(std::string_view title, const Columns& columns,
                  const std::vector<Cells>& rows) {
  // Tables with groups have them to the last column.
  const bool is_grouped = *columns.back().group != '\0';
  std::string table =
      absl::StrFormat("<table class=\"cards%s\">\n%s<tbody>\n",
                      is_grouped ? " grouped" : "", Head(columns));
  for (const Cells& row : rows) {
    // Long names of methods may break after their service.
    absl::StrAppendFormat(
        &table, "<tr><th scope=\"row\">%s</th>",
        absl::StrReplaceAll(EscapeHtml(row[0]), {{"/", "/<wbr>"}}));
    for (std::size_t i = 1; i < row.size(); ++i) {
      const auto& [name, group] = columns[i];
      absl::StrAppendFormat(&table, "<td data-label=\"%s%s%s\">%s</td>", name,
                            *group == '\0' ? "" : ", ", group,
                            EscapeHtml(row[i]));
    }
    table += "</tr>\n";
  }
  return Section(title, /*is_wide=*/true, table + "</tbody>\n</table>\n");
}

// An empty table would look like a bug of the page.
std::string NoRows(std::string_view title, std::string_view text) {
  return Section(title, /*is_wide=*/true, absl::StrFormat("<p>%s</p>\n", text));
}

std::string CountOf(std::int64_t number, std::int64_t limit) {
  return absl::StrCat(GroupDigits(number), " of ", GroupDigits(limit));
}

std::string MiB(std::uint64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// Three digits and a unit, with a no-break space between them.
std::string Short(absl::Duration time) {
  const double seconds = absl::ToDoubleSeconds(time);
  if (seconds < 1e-3) return absl::StrFormat("%.3g\u00a0µs", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.3g\u00a0ms", seconds * 1e3);
  return absl::StrFormat("%.3g\u00a0s", seconds);
}

std::string Calls(const RecentCalls& recent) {
  std::vector<Cells> rows;
  // Four cells for each window, in the order of the columns below.
  for (const RecentCalls::Method& method : recent.Report(absl::Now())) {
    Cells cells = {method.name, method.type};
    for (const RecentCalls::Window& window : method.windows) {
      const double rate = window.calls_per_second;
      cells.push_back(rate < 100 ? absl::StrFormat("%.3g", rate)
                                 : GroupDigits(std::llround(rate)));
      cells.push_back(
          absl::StrFormat("%.3g\u00a0%%", 100 * window.failed_share));
      // Without calls there is no time, and 0 would look fast.
      const bool any = window.num_calls > 0;
      cells.push_back(any ? Short(window.p50) : "");
      cells.push_back(any ? Short(window.p99) : "");
    }
    rows.push_back(std::move(cells));
  }
  constexpr char kTitle[] = "Calls of the last 1 and 5 minutes";
  if (rows.empty()) return NoRows(kTitle, "none in 5 minutes");
  Columns columns = {{"method"}, {"type"}};
  for (const char* const group : {"1 minute", "5 minutes"}) {
    for (const char* const name : {"calls/s", "failed", "p50", "p99"}) {
      columns.push_back({name, group});
    }
  }
  return Table(kTitle, columns, rows);
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
  return Table("Models",
               {{"name"}, {"version"}, {"state"}, {"loaded"}, {"note"}}, rows);
}

std::string Use(const ServerParts& parts) {
  const DocumentVectorCache::Stats stats = parts.cache->GetStats();
  // Each number is read by itself, so they need not be of one moment.
  const Admission& admission = *parts.admission;
  const ConnectionCount& connections = *parts.connections;
  return Facts(
      "Cache and load",
      {{"vectors", GroupDigits(stats.num_entries)},
       {"memory in use",
        MiB(stats.live_bytes) + " of " + MiB(stats.capacity_bytes)},
       {"vectors evicted", GroupDigits(stats.num_evictions)},
       {"texts in flight",
        CountOf(admission.inflight_texts(), admission.max_inflight_texts())},
       {"connections over gRPC",
        CountOf(connections.num_open(), connections.max_connections())},
       {"connections refused", GroupDigits(connections.num_refused())}});
}

std::string Store(const StoredVectors* stored) {
  // Parts that the server was started without have no section.
  if (stored == nullptr) return "";
  const StoredVectors::State state = stored->GetState();
  return Facts(
      "Document store",
      {{"store", state.name},
       {"state", state.bypassed ? "bypassed, tried again soon" : "in use"},
       {"bypasses", GroupDigits(state.num_bypasses)},
       {"last error", std::string(ToStd(state.last_error.message()))},
       {"vectors queued for writing", GroupDigits(state.queued_vectors)}});
}

// The clicks show at a glance whether positions are reported.
std::string ClicksByPosition(const EventCounters& counters) {
  std::string text;
  for (const std::int64_t clicks : counters.clicks()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", GroupDigits(clicks));
  }
  return text;
}

std::string Events(const EventLog* events) {
  if (events == nullptr) return "";
  const EventCounters& counters = events->counters();
  return Facts(
      "Events",
      {{"kept in", events->sink_name()},
       // As semrank_events_failing, on which the alert is.
       {"state", events->is_failing() ? "cannot be written" : "written"},
       {"size", MiB(events->num_sink_bytes())},
       {"queued", MiB(events->num_queued_bytes())},
       {"last commit took", Short(events->last_commit_time())},
       {"impressions", GroupDigits(counters.num_impressions())},
       {"impressions dropped", GroupDigits(counters.num_dropped())},
       {"events", GroupDigits(counters.num_events())},
       {"events without a known impression",
        GroupDigits(counters.num_orphans())},
       {"events reported twice", GroupDigits(counters.num_duplicates())},
       {"reports refused", GroupDigits(counters.num_unwritten_reports())},
       {"clicks at 1 to 10, and others", ClicksByPosition(counters)}});
}

std::string Shadow(const ShadowRanker* shadow) {
  if (shadow == nullptr) return "";
  const ShadowRanker::Stats stats = shadow->GetStats();
  return Facts(
      "Shadow rankings",
      {{"model", stats.model},
       {"requests ranked again", GroupDigits(stats.num_ranked)},
       {"dropped while the server was busy", GroupDigits(stats.num_dropped)},
       {"failed", GroupDigits(stats.num_failed)},
       {"overlap of the first 10, mean",
        absl::StrFormat("%.3f", stats.mean_overlap)},
       {"rank correlation, mean",
        absl::StrFormat("%.3f", stats.mean_correlation)}});
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
  const ServedModelPtr& served = snapshot.model();
  const CatalogModelUpdate::Status update = catalog.update.GetStatus();
  std::vector<Cells> rows = {{"documents", GroupDigits(stats.num_documents)},
                             {"memory", MiB(stats.num_bytes)}};
  if (served != nullptr) {
    const ModelVersion& version = served->model->version();
    rows.push_back({"model", absl::StrFormat("%s version %d", version.name,
                                             version.version)});
  }
  // Only while a new model embeds the documents.
  if (update.num_documents > 0) {
    rows.push_back({"embedded by the new model",
                    CountOf(update.num_embedded, update.num_documents)});
  }
  if (catalog.changes() != nullptr) {
    rows.push_back({"changes of other servers",
                    DescribeChanges(catalog.changes()->GetState())});
  }
  return Facts("Catalog", rows);
}

std::string LimitTable(const Limits& limits,
                       std::size_t max_catalog_documents) {
  return Facts(
      "Limits",
      {{"texts in a request", GroupDigits(limits.max_texts_per_request)},
       {"bytes of a text", GroupDigits(limits.max_text_bytes)},
       {"texts in flight", GroupDigits(limits.max_inflight_texts)},
       {"size of a message", MiB(MaxRequestBytes(limits))},
       {"documents in the catalog", GroupDigits(max_catalog_documents)},
       {"connections over gRPC", GroupDigits(limits.max_connections)},
       {"connections over HTTP", GroupDigits(kMaxHttpConnections)}});
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
  constexpr char kTitle[] = "Last failed requests";
  if (rows.empty()) return NoRows(kTitle, "none since the start");
  return Table(kTitle,
               {{"time"}, {"method"}, {"code"}, {"reason"}, {"request id"}},
               rows);
}

}  // namespace

void AddStatusPage(const ServerParts& parts, HttpPages& pages) {
  // The copy points to the parts themselves, so each request shows them as they
  // are by then.
  pages["/statusz"] = [parts, start = absl::Now()] {
    return BrowserPage(StatusPage(parts, absl::Now() - start));
  };
}

// The page is complete without its script, which only refreshes it: it must
// work while everything else is broken. status.js replaces what is in the
// "scroll" boxes.
std::string StatusPage(const ServerParts& parts, absl::Duration uptime) {
  const std::string state(Lifecycle::Description(parts.lifecycle->state()));
  const std::string sections = absl::StrCat(
      Facts("Server", {{"version", std::string(Version())},
                       {"SIMD level", std::string(SimdLevel())},
                       {"state", state},
                       {"up for", absl::FormatDuration(
                                      absl::Trunc(uptime, absl::Seconds(1)))},
                       {"now", Seconds(absl::Now())}}),
      Use(parts), Calls(*parts.recent_calls), Models(*parts.models),
      Catalog(*parts.catalog),
      LimitTable(parts.limits, parts.catalog->documents.max_documents()),
      Store(parts.stored), Shadow(parts.shadow), Events(parts.events),
      Failures(*parts.request_log));
  return absl::StrReplaceAll(
      ToAbsl(EmbeddedFile("status.html")),
      {{"{{header}}", PageHeader("/statusz")}, {"{{sections}}", sections}});
}

}  // namespace semrank
