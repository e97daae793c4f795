// The process_* metrics that Prometheus client libraries usually bring and
// prometheus-cpp does not, from /proc.
#ifndef SEMRANK_SERVER_BASE_PROCESS_METRICS_H_
#define SEMRANK_SERVER_BASE_PROCESS_METRICS_H_

#include <cstdint>
#include <string>

#include "server/base/metrics.h"

namespace semrank {

struct ProcessStats {
  double cpu_seconds = 0;
  double start_time_seconds = 0;  // since 1970
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double threads = 0;
};

// Of the calling process. What cannot be read is 0.
ProcessStats ReadProcessStats();

// The fields of /proc/<pid>/stat from the third on, which is after the name in
// parentheses: the name may hold blanks and parentheses itself.
std::string StatFieldsAfterName(const std::string& stat);

void AddProcessReadings(Metrics& metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_PROCESS_METRICS_H_
