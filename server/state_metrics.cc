#include "server/state_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/time/clock.h"
#include "server/auth/tls_files.h"
#include "server/base/logging.h"
#include "server/base/unread_responses.h"
#include "server/catalog/sync/change_follower.h"
#include "server/events/event_log.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {
namespace {

// Gauges and counters whose values the parts keep anyway. Each is a
// function that a scrape calls, so the parts must outlive the HTTP
// port. The names are an interface: dashboards and alerts in deploy use
// them (tests/deploy/monitoring_test.py).

std::string ReadProcFile(const char* path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Seconds since 1970 at which the machine booted.
double BootTimeSeconds() {
  std::istringstream lines(ReadProcFile("/proc/stat"));
  std::string word;
  double seconds = 0;
  while (lines >> word) {
    if (word == "btime" && lines >> seconds) return seconds;
  }
  return 0;
}

double CountOpenFds() {
  std::error_code ignored;
  const std::filesystem::directory_iterator fds("/proc/self/fd", ignored);
  // One of them is the listing itself.
  return static_cast<double>(std::distance(begin(fds), end(fds)));
}

// Numbers of these fields in proc(5), counted from the third.
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kNumThreads = 20 - 3;
constexpr std::size_t kStartTicks = 22 - 3;
constexpr std::size_t kVirtualBytes = 23 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

// An alert on it comes weeks before clients fail; renewed files change it
// within seconds.
void AddCertificateMetric(const TlsCertificates& certificates,
                          Metrics& metrics) {
  metrics.AddGauge(
      "semrank_tls_certificate_expiry_timestamp_seconds",
      "End of the server certificate in use, in seconds since 1970.",
      [&] { return absl::ToUnixSeconds(certificates.current()->cert_expiry); });
}

// The parts count for themselves. A scrape every few seconds reads the counts,
// so a request pays nothing for these metrics.
void AddCacheMetrics(const DocumentVectorCache& cache, Metrics& metrics) {
  metrics.AddGauge("semrank_cache_entries",
                   "Vectors of documents and queries in the memory cache.",
                   [&] { return cache.GetStats().num_entries; });
  metrics.AddGauge("semrank_cache_bytes", "Bytes of the memory cache in use.",
                   [&] { return cache.GetStats().live_bytes; });
  metrics.AddGauge("semrank_cache_capacity_bytes",
                   "Bytes that the memory cache may use.",
                   [&] { return cache.GetStats().capacity_bytes; });
  metrics.AddCounter(
      "semrank_cache_evictions_total",
      "Vectors of documents and queries that were evicted from the memory "
      "cache.",
      [&] { return cache.GetStats().num_evictions; });
}

// A bypassed store costs processor time and no answer, so it shows here and not
// in the errors of calls.
void AddStoreMetrics(const StoredVectors& stored, Metrics& metrics) {
  metrics.AddGauge("semrank_store_bypassed",
                   "1 while the document store is bypassed because it failed.",
                   [&] { return stored.GetState().bypassed ? 1 : 0; });
  metrics.AddCounter(
      "semrank_store_bypasses_total",
      "How often the document store was bypassed because it failed.",
      [&] { return stored.GetState().num_bypasses; });
  metrics.AddGauge("semrank_store_queue_vectors",
                   "New vectors that wait to be written to the document store.",
                   [&] { return stored.GetState().queued_vectors; });
  metrics.AddGauge("semrank_store_queue_bytes",
                   "Bytes of the vectors and texts that wait to be written.",
                   [&] { return stored.GetState().queued_bytes; });
}

// The log counts what it writes itself (EventCounters).
void AddEventMetrics(const EventLog& events, Metrics& metrics) {
  metrics.AddGauge("semrank_event_queue_bytes",
                   "Bytes of impressions and events that wait to be written.",
                   [&] { return events.num_queued_bytes(); });
  metrics.AddGauge("semrank_event_disk_bytes",
                   "Bytes that the records of --events take: of a folder on "
                   "disk, or of the memory of Redis, as it estimated them when "
                   "the stream was last trimmed. 0 for Kafka.",
                   [&] { return events.num_sink_bytes(); });
  metrics.AddGauge(
      "semrank_event_commit_seconds",
      "How long the first record of the last commit waited until it was kept.",
      [&] { return absl::ToDoubleSeconds(events.last_commit_time()); });
  metrics.AddCounter("semrank_event_records_too_large_total",
                     "Impressions and events that were dropped, or refused "
                     "with their report, because message.max.bytes of Kafka "
                     "is too small for them.",
                     [&] { return events.num_too_large(); });
  metrics.AddGauge("semrank_events_failing",
                   "1 while impressions and events cannot be written.",
                   [&] { return events.is_failing() ? 1 : 0; });
}

// A model change is over when the first of the last two is 0. Both let an alert
// find one that makes no progress.
void AddCatalogMetrics(const SyncedCatalog& catalog, Metrics& metrics) {
  metrics.AddGauge("semrank_catalog_documents", "Documents of the catalog.",
                   [&] { return catalog.documents.GetStats().num_documents; });
  metrics.AddGauge(
      "semrank_catalog_bytes",
      "Bytes of the catalog: vectors, keys, titles, payloads and what is "
      "around them.",
      [&] { return catalog.documents.GetStats().num_bytes; });
  metrics.AddGauge(
      "semrank_catalog_reembedding_documents",
      "Documents that a new model is to embed before it answers for the "
      "catalog; 0 when no model is being prepared.",
      [&] { return catalog.update.GetStatus().num_documents; });
  metrics.AddGauge("semrank_catalog_reembedded_documents",
                   "Documents that the new model has embedded so far.",
                   [&] { return catalog.update.GetStatus().num_embedded; });
}

// While the lag grows, this server answers from an older catalog than others
// do, which no call reports.
void AddChangeMetrics(const ChangeFollower& changes, Metrics& metrics) {
  metrics.AddGauge(
      "semrank_catalog_lag_seconds",
      "Seconds since the catalog had all that other servers put into the store "
      "and delete from it.",
      [&] {
        return absl::ToDoubleSeconds(absl::Now() -
                                     changes.GetState().up_to_date_at);
      });
  metrics.AddCounter(
      "semrank_catalog_followed_documents_total",
      "Documents of the catalog that were put or deleted because another "
      "server did so.",
      [&] { return changes.GetState().num_changed; });
  metrics.AddCounter(
      "semrank_catalog_rereads_total",
      "How often all documents were read from the store again, because its log "
      "of changes had a gap.",
      [&] { return changes.GetState().num_rereads; });
}

// Refusals and failures to accept are apart: the first ask for a higher limit,
// the second for more file descriptors.
void AddConnectionMetrics(const ConnectionCount& connections,
                          Metrics& metrics) {
  metrics.AddGauge("semrank_open_connections", "Connections to the gRPC port.",
                   [&] { return connections.num_open(); });
  metrics.AddGauge("semrank_connections_limit",
                   "Connections that may be open at once.",
                   [&] { return connections.max_connections(); });
  metrics.AddCounter(
      "semrank_connections_refused_total",
      "Connections closed because the limit was reached: over gRPC the new "
      "one, over HTTP one that waits for its client.",
      [&] { return connections.num_refused(); });
  metrics.AddCounter(
      "semrank_accept_failures_total",
      "Times that no connection could be accepted because file descriptors "
      "or memory were exhausted.",
      [&] { return connections.num_accept_failures(); });
  metrics.AddCounter("semrank_connections_closed_for_memory_total",
                     "Connections closed because the server needed more than "
                     "--max_memory_bytes and they brought the most.",
                     [&] { return connections.num_floods(); });
}

// Bytes near the limit mean clients that read slowly; ended responses mean that
// the limit or --send_timeout was reached.
void AddUnreadMetrics(const UnreadResponses& unread, Metrics& metrics) {
  metrics.AddGauge("semrank_unread_response_bytes",
                   "Bytes of responses that clients have not read yet.",
                   [&] { return unread.num_bytes(); });
  metrics.AddGauge("semrank_unread_response_limit_bytes",
                   "Bytes of unread responses over which the largest end.",
                   [&] { return unread.max_bytes(); });
  metrics.AddCounter("semrank_unread_responses_ended_total",
                     "Responses that ended because their clients did not read "
                     "them in time, or left the most bytes unread.",
                     [&] { return unread.num_ended(); });
}

// The highest levels are metrics of their own, because a scrape every few
// seconds misses short peaks.
void AddAdmissionMetrics(Admission& admission, Metrics& metrics) {
  metrics.AddGauge("semrank_inflight_texts",
                   "Texts admitted and not yet answered.",
                   [&] { return admission.inflight_texts(); });
  metrics.AddGauge(
      "semrank_inflight_texts_max",
      "The most texts in flight in this minute and the one before it.",
      [&] { return admission.high_water_mark(); });
  metrics.AddGauge("semrank_inflight_texts_limit",
                   "Texts that may be in flight at once.",
                   [&] { return admission.max_inflight_texts(); });
  metrics.AddGauge(
      "semrank_queue_texts",
      "Texts in flight whose requests wait for a worker. Requests that are "
      "cheaper than passing them to a worker are never queued.",
      [&] { return admission.queued_texts().level(); });
  metrics.AddGauge(
      "semrank_queue_texts_max",
      "The most texts that waited in this minute and the one before it.",
      [&] { return admission.queued_texts().mark(); });
}

}  // namespace

// The program's name is in parentheses and may itself contain blanks and
// parentheses, so the last one ends it.
std::string StatFieldsAfterName(const std::string& stat) {
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos ? "" : stat.substr(end + 1);
}

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  // proc(5), /proc/pid/stat. Fields that cannot be read stay 0: a missing
  // number must not take the other metrics of the scrape with it.
  std::istringstream line(StatFieldsAfterName(ReadProcFile("/proc/self/stat")));
  const std::vector<std::string> fields{
      std::istream_iterator<std::string>(line), {}};
  if (fields.size() > kResidentPages) {
    const auto number = [&](std::size_t i) {
      return std::strtod(fields[i].c_str(), nullptr);
    };
    const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    stats.cpu_seconds = (number(kUserTicks) + number(kSystemTicks)) / ticks;
    // The kernel counts the start from the boot of the machine.
    stats.start_time_seconds = BootTimeSeconds() + number(kStartTicks) / ticks;
    stats.threads = number(kNumThreads);
    stats.virtual_bytes = number(kVirtualBytes);
    stats.resident_bytes =
        number(kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  stats.open_fds = CountOpenFds();
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    stats.max_fds = static_cast<double>(limit.rlim_cur);
  }
  return stats;
}

// The process_* metrics have the names of Prometheus' client libraries, so that
// existing dashboards work. Each metric reads the files itself: seven reads for
// a scrape cost less than a cache whose age would have to be right.
void AddProcessMetrics(Metrics& metrics) {
  const auto value = [](double ProcessStats::*field) {
    return [field] { return ReadProcessStats().*field; };
  };
  metrics.AddCounter("process_cpu_seconds_total",
                     "User and system CPU time, in seconds.",
                     value(&ProcessStats::cpu_seconds));
  metrics.AddGauge("process_start_time_seconds",
                   "Start of the process, since 1970.",
                   value(&ProcessStats::start_time_seconds));
  metrics.AddGauge("process_resident_memory_bytes", "Resident memory.",
                   value(&ProcessStats::resident_bytes));
  metrics.AddGauge("process_virtual_memory_bytes", "Virtual memory.",
                   value(&ProcessStats::virtual_bytes));
  metrics.AddGauge("process_open_fds", "Open file descriptors.",
                   value(&ProcessStats::open_fds));
  metrics.AddGauge("process_max_fds", "Limit on open file descriptors.",
                   value(&ProcessStats::max_fds));
  metrics.AddGauge("process_threads", "Threads.",
                   value(&ProcessStats::threads));
}

void AddStateMetrics(const ServerParts& parts, Metrics& metrics) {
  metrics.AddCounter("semrank_log_lines_dropped_total",
                     "Log lines that could not be written to standard error.",
                     [] { return NumDroppedLogLines(); });
  if (parts.certificates != nullptr) {
    AddCertificateMetric(*parts.certificates, metrics);
  }
  AddCacheMetrics(*parts.cache, metrics);
  AddAdmissionMetrics(*parts.admission, metrics);
  AddConnectionMetrics(*parts.connections, metrics);
  AddUnreadMetrics(*parts.unread, metrics);
  // Metrics of features that are turned off are absent rather than 0.
  if (parts.stored != nullptr) AddStoreMetrics(*parts.stored, metrics);
  if (parts.events != nullptr) AddEventMetrics(*parts.events, metrics);
  AddCatalogMetrics(*parts.catalog, metrics);
  if (parts.catalog->changes() != nullptr) {
    AddChangeMetrics(*parts.catalog->changes(), metrics);
  }
}

}  // namespace semrank
