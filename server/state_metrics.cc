#include "server/state_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

namespace semrank {
namespace {

using prometheus::MetricType;

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
  return static_cast<double>(std::distance(begin(fds), end(fds)));
}

// Numbers of these fields in proc(5), counted from the third.
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kNumThreads = 20 - 3;
constexpr std::size_t kStartTicks = 22 - 3;
constexpr std::size_t kVirtualBytes = 23 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

}  // namespace

std::string StatFieldsAfterName(const std::string& stat) {
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos ? "" : stat.substr(end + 1);
}

ProcessStats ReadProcessStats() {
  ProcessStats stats;
  std::istringstream line(StatFieldsAfterName(ReadProcFile("/proc/self/stat")));
  const std::vector<std::string> fields{
      std::istream_iterator<std::string>(line), {}};
  if (fields.size() > kResidentPages) {
    const auto number = [&](std::size_t i) {
      return std::strtod(fields[i].c_str(), nullptr);
    };
    const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    stats.cpu_seconds = (number(kUserTicks) + number(kSystemTicks)) / ticks;
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

void AddProcessReadings(Metrics& metrics) {
  const auto add = [&](const char* name, const char* help, MetricType type,
                       double ProcessStats::*value) {
    metrics.AddReading(
        {name, help, type, [value] { return ReadProcessStats().*value; }});
  };
  add("process_cpu_seconds_total", "User and system CPU time, in seconds.",
      MetricType::Counter, &ProcessStats::cpu_seconds);
  add("process_start_time_seconds", "Start of the process, since 1970.",
      MetricType::Gauge, &ProcessStats::start_time_seconds);
  add("process_resident_memory_bytes", "Resident memory.", MetricType::Gauge,
      &ProcessStats::resident_bytes);
  add("process_virtual_memory_bytes", "Virtual memory.", MetricType::Gauge,
      &ProcessStats::virtual_bytes);
  add("process_open_fds", "Open file descriptors.", MetricType::Gauge,
      &ProcessStats::open_fds);
  add("process_max_fds", "Limit on open file descriptors.", MetricType::Gauge,
      &ProcessStats::max_fds);
  add("process_threads", "Threads.", MetricType::Gauge, &ProcessStats::threads);
}

void AddCacheReadings(const DocumentVectorCache& cache, Metrics& metrics) {
  using Stats = DocumentVectorCache::Stats;
  const auto add = [&](const char* name, const char* help, MetricType type,
                       auto Stats::*value) {
    metrics.AddReading({name, help, type, [&cache, value] {
                          return static_cast<double>(cache.GetStats().*value);
                        }});
  };
  add("semrank_cache_entries", "Document vectors in the memory cache.",
      MetricType::Gauge, &Stats::num_entries);
  add("semrank_cache_bytes", "Bytes of the memory cache in use.",
      MetricType::Gauge, &Stats::live_bytes);
  add("semrank_cache_capacity_bytes", "Bytes that the memory cache may use.",
      MetricType::Gauge, &Stats::capacity_bytes);
  add("semrank_cache_evictions_total",
      "Document vectors that left the memory cache for lack of room.",
      MetricType::Counter, &Stats::num_evictions);
}

void AddCatalogReadings(const ServedCatalog& catalog, Metrics& metrics) {
  const auto add = [&](const char* name, const char* help, auto read) {
    metrics.AddReading({name, help, MetricType::Gauge, [&catalog, read] {
                          return static_cast<double>(read(catalog));
                        }});
  };
  add("semrank_catalog_documents", "Documents of the catalog.",
      [](const ServedCatalog& of) {
        return of.documents.GetStats().num_documents;
      });
  add("semrank_catalog_bytes",
      "Bytes of the catalog: vectors, keys, titles, payloads and what is "
      "around them.",
      [](const ServedCatalog& of) {
        return of.documents.GetStats().num_bytes;
      });
  add("semrank_catalog_reembedding_documents",
      "Documents that a new model is to embed before it answers for the "
      "catalog; 0 when none is on its way.",
      [](const ServedCatalog& of) {
        return of.update.GetStatus().num_documents;
      });
  add("semrank_catalog_reembedded_documents",
      "Of these, the ones that it has embedded.", [](const ServedCatalog& of) {
        return of.update.GetStatus().num_embedded;
      });
}

void AddConnectionReadings(const ConnectionCount& connections,
                           Metrics& metrics) {
  const auto add = [&](const char* name, const char* help, MetricType type,
                       std::int64_t (ConnectionCount::*read)() const) {
    metrics.AddReading({name, help, type, [&connections, read] {
                          return static_cast<double>((connections.*read)());
                        }});
  };
  add("semrank_open_connections", "Connections to the gRPC port.",
      MetricType::Gauge, &ConnectionCount::num_open);
  add("semrank_connections_limit", "Connections that may be open at once.",
      MetricType::Gauge, &ConnectionCount::max_connections);
  add("semrank_connections_refused_total",
      "Connections closed at once because as many were open as may be.",
      MetricType::Counter, &ConnectionCount::num_refused);
  add("semrank_accept_failures_total",
      "Times that no connection could be accepted for want of file descriptors "
      "or memory.",
      MetricType::Counter, &ConnectionCount::num_accept_failures);
}

void AddAdmissionReadings(Admission& admission, Metrics& metrics) {
  const auto add = [&](const char* name, const char* help,
                       std::function<std::int64_t()> read) {
    metrics.AddReading({name, help, MetricType::Gauge,
                        [read] { return static_cast<double>(read()); }});
  };
  add("semrank_inflight_texts", "Texts admitted and not yet answered.",
      [&] { return admission.inflight_texts(); });
  add("semrank_inflight_texts_max",
      "The most texts in flight in this minute and the one before it.",
      [&] { return admission.high_water_mark(); });
  add("semrank_inflight_texts_limit", "Texts that may be in flight at once.",
      [&] { return admission.max_inflight_texts(); });
  add("semrank_queue_texts",
      "Texts in flight whose requests wait for a worker; small requests never "
      "do.",
      [&] { return admission.queued_texts().level(); });
  add("semrank_queue_texts_max",
      "The most texts that waited in this minute and the one before it.",
      [&] { return admission.queued_texts().mark(); });
}

}  // namespace semrank
