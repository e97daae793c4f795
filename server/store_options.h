// Where vectors and documents are kept beyond this process.
#ifndef SEMRANK_SERVER_STORE_OPTIONS_H_
#define SEMRANK_SERVER_STORE_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/metrics.h"
#include "server/stores/document_store.h"
#include "server/stores/redis_url.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {

struct StoreOptions {
  std::string store = "none";  // as given, without user and password
  std::string rocksdb_path;    // empty = not RocksDB
  std::optional<RedisUrl> redis;
  absl::Duration timeout;
  std::int64_t vector_bytes = 0;
};

absl::StatusOr<StoreOptions> StoreOptionsFromFlags();

// "name=value" a line, as --flagfile takes it.
std::string DescribeStoreOptions(const StoreOptions& options);

// Null when there is to be none. The error of a store that cannot be used,
// also of a Redis that does not answer.
absl::StatusOr<std::unique_ptr<DocumentStore>> OpenStore(
    const StoreOptions& options);

// The store as a level of document vectors, with its metrics, and its ups and
// downs in the log; null without a store. Both must outlive it.
std::unique_ptr<StoredVectors> UseStoreForVectors(const StoreOptions& options,
                                                  DocumentStore* store,
                                                  Metrics& metrics);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORE_OPTIONS_H_
