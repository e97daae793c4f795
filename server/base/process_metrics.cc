#include "server/base/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

namespace semrank {
namespace {

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
  using prometheus::MetricType;
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

}  // namespace semrank
