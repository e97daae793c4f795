#include "server/state_metrics.h"

#include <functional>

namespace semrank {

using prometheus::MetricType;

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
