// Metrics of what the cache and admission hold, read at each scrape.
#ifndef SEMRANK_SERVER_STATE_METRICS_H_
#define SEMRANK_SERVER_STATE_METRICS_H_

#include "server/base/admission.h"
#include "server/base/connection_count.h"
#include "server/base/metrics.h"
#include "server/catalog/served_catalog.h"
#include "server/vectors/document_vector_cache.h"

namespace semrank {

// semrank_cache_entries, _bytes, _capacity_bytes, _evictions_total. The cache
// must outlive the metrics' last Render.
void AddCacheReadings(const DocumentVectorCache& cache, Metrics& metrics);

// semrank_inflight_texts, _max (the most since the last scrape), _limit.
// Likewise.
void AddAdmissionReadings(Admission& admission, Metrics& metrics);

// semrank_open_connections, _connections_limit, _connections_refused_total and
// _accept_failures_total. Likewise.
void AddConnectionReadings(const ConnectionCount& connections,
                           Metrics& metrics);

// semrank_catalog_documents, _bytes, _reembedding_documents and
// _reembedded_documents. Likewise.
void AddCatalogReadings(const ServedCatalog& catalog, Metrics& metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STATE_METRICS_H_
