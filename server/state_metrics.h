// Metrics that are read at each scrape: of the process, the cache, the catalog,
// admission and connections.
#ifndef SEMRANK_SERVER_STATE_METRICS_H_
#define SEMRANK_SERVER_STATE_METRICS_H_

#include <cstdint>
#include <string>

#include "server/auth/tls_files.h"
#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/metrics.h"
#include "server/catalog/change_follower.h"
#include "server/catalog/served_catalog.h"
#include "server/vectors/document_vector_cache.h"

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

// semrank_tls_certificate_expiry_timestamp_seconds of the certificate in use.
// The certificates must outlive the metrics' last Render.
void AddCertificateReading(const TlsCertificates& certificates,
                           Metrics& metrics);

// semrank_cache_entries, _bytes, _capacity_bytes, _evictions_total. The cache
// must outlive the metrics' last Render.
void AddCacheReadings(const DocumentVectorCache& cache, Metrics& metrics);

// semrank_inflight_texts, _max (the most since the last scrape), _limit.
// Likewise.
void AddAdmissionReadings(Admission& admission, Metrics& metrics);

// semrank_open_connections, _connections_limit, _connections_refused_total,
// _accept_failures_total and _connections_closed_for_memory_total. Likewise.
void AddConnectionReadings(const ConnectionCount& connections,
                           Metrics& metrics);

// semrank_catalog_documents, _bytes, _reembedding_documents and
// _reembedded_documents. Likewise.
void AddCatalogReadings(const ServedCatalog& catalog, Metrics& metrics);

// semrank_catalog_lag_seconds, _followed_documents_total and _rereads_total.
// Likewise.
void AddChangeReadings(const ChangeFollower& changes, Metrics& metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STATE_METRICS_H_
