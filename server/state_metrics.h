// Metrics that are read at each scrape: of the process, and of the parts of the
// server. The parts must outlive the last Metrics::Render.
#ifndef SEMRANK_SERVER_STATE_METRICS_H_
#define SEMRANK_SERVER_STATE_METRICS_H_

#include <string>

#include "server/base/metrics.h"
#include "server/requests/server_parts.h"

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

// The figures of this process; 0 where one cannot be read.
ProcessStats ReadProcessStats();

// The fields of /proc/<pid>/stat after the name in parentheses, from the third
// on. The name may contain blanks and parentheses.
std::string StatFieldsAfterName(const std::string& stat);

// The process_* metrics, which prometheus-cpp does not have, unlike other
// client libraries of Prometheus.
void AddProcessMetrics(Metrics& metrics);

// The metrics of the parts of a server: of the log, the certificate, the cache,
// the document store, the catalog, admission and connections.
void AddStateMetrics(const ServerParts& parts, Metrics& metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STATE_METRICS_H_
