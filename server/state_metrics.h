// Metrics that are read at each scrape: of the process, the cache, the document
// store, the catalog, admission and connections.
#ifndef SEMRANK_SERVER_STATE_METRICS_H_
#define SEMRANK_SERVER_STATE_METRICS_H_

#include <string>

#include "server/auth/tls_files.h"
#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/metrics.h"
#include "server/catalog/sync/change_follower.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/vectors/document_vector_cache.h"
#include "server/vectors/stored_vectors.h"

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

// Figures of this process. What cannot be read is 0.
ProcessStats ReadProcessStats();

// The fields of /proc/<pid>/stat from the third on, which is after the name in
// parentheses: the name may hold blanks and parentheses itself.
std::string StatFieldsAfterName(const std::string& stat);

// The process_* metrics, from /proc: Prometheus' client libraries bring them,
// prometheus-cpp does not.
void AddProcessReadings(Metrics& metrics);

// Metrics of one part of the server each. The part must outlive the metrics'
// last Render.
void AddCertificateReading(const TlsCertificates& certificates,
                           Metrics& metrics);
void AddCacheReadings(const DocumentVectorCache& cache, Metrics& metrics);
void AddStoreReadings(const StoredVectors& stored, Metrics& metrics);
void AddAdmissionReadings(Admission& admission, Metrics& metrics);
void AddConnectionReadings(const ConnectionCount& connections,
                           Metrics& metrics);
void AddCatalogReadings(const SyncedCatalog& catalog, Metrics& metrics);
void AddChangeReadings(const ChangeFollower& changes, Metrics& metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STATE_METRICS_H_
