#include "server/store_options.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "server/option_checks.h"
#include "server/stores/redis_document_store.h"
#include "server/stores/rocksdb_document_store.h"

ABSL_FLAG(std::string, store, "none",
          "Keeps the vectors of documents beyond this process, so that a "
          "restart does not compute them again: rocksdb:PATH (a folder of this "
          "server alone, made if missing), "
          "redis://[user:password@]host[:port][/db] (shared by replicas; from "
          "SEMRANK_STORE no process list shows the password) or none.");
ABSL_FLAG(absl::Duration, store_timeout, absl::Milliseconds(10),
          "How long one look-up in the store may take. What takes longer is "
          "computed, and the store is left alone for 100ms to 10s.");
ABSL_FLAG(std::int64_t, store_vector_bytes, std::int64_t{4} << 30,
          "Bytes of disk for vectors in a RocksDB store; beyond, the oldest "
          "leave. 4 GiB hold about 7 million vectors of 128 numbers.");

namespace semrank {
namespace {

constexpr std::string_view kRocksDb = "rocksdb:";
constexpr std::string_view kRedis = "redis://";
// How long the start waits for Redis.
constexpr absl::Duration kFirstAnswer = absl::Seconds(5);
// Vectors leave by whole files, of 32 MiB.
constexpr std::int64_t kMinVectorBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMaxVectorBytes = std::int64_t{1} << 50;

void LogChange(const std::string& name, const absl::Status& status) {
  if (status.ok()) {
    spdlog::info("{} answers again and is in use", name);
  } else {
    spdlog::warn("going on without the document store: {}",
                 std::string(status.message()));
  }
}

// What stands before the @ of a URL is not for eyes.
std::string WithoutPassword(const std::string& store) {
  const std::size_t begin = store.find("://");
  const std::size_t at = store.rfind('@');
  if (begin == std::string::npos || at == std::string::npos) return store;
  return store.substr(0, begin + 3) + "***" + store.substr(at);
}

absl::Status ParseStore(const std::string& store, StoreOptions& options) {
  if (store == "none") return absl::OkStatus();
  if (store.starts_with(kRocksDb) && store.size() > kRocksDb.size()) {
    options.rocksdb_path = store.substr(kRocksDb.size());
    return absl::OkStatus();
  }
  if (!store.starts_with(kRedis)) {
    return FlagError("store", WithoutPassword(store),
                     "must be none, rocksdb:PATH or redis://HOST");
  }
  absl::StatusOr<RedisUrl> url = ParseRedisUrl(store);
  if (!url.ok()) {
    return FlagError("store", WithoutPassword(store),
                     std::string(url.status().message()));
  }
  options.redis = *std::move(url);
  return absl::OkStatus();
}

// Without an answer the catalog would be empty, and ids unknown that are not.
absl::StatusOr<std::unique_ptr<DocumentStore>> OpenRedis(const RedisUrl& url) {
  auto store =
      std::make_unique<RedisDocumentStore>(RedisDocumentStore::Options{url});
  SEMRANK_RETURN_IF_ERROR(
      store->FindVectors({}, {}, kFirstAnswer, nullptr, {}).status());
  return store;
}

}  // namespace

absl::StatusOr<StoreOptions> StoreOptionsFromFlags() {
  StoreOptions options;
  const std::string store = absl::GetFlag(FLAGS_store);
  options.store = WithoutPassword(store);
  options.timeout = absl::GetFlag(FLAGS_store_timeout);
  options.vector_bytes = absl::GetFlag(FLAGS_store_vector_bytes);
  SEMRANK_RETURN_IF_ERROR(ParseStore(store, options));
  if (options.timeout < absl::Microseconds(100)) {
    return FlagError("store_timeout", absl::FormatDuration(options.timeout),
                     "must be 100us or more");
  }
  SEMRANK_RETURN_IF_ERROR(CheckDuration("store_timeout", options.timeout));
  SEMRANK_RETURN_IF_ERROR(CheckRange("store_vector_bytes", options.vector_bytes,
                                     kMinVectorBytes, kMaxVectorBytes));
  return options;
}

std::string DescribeStoreOptions(const StoreOptions& options) {
  return absl::StrFormat("store=%s\nstore_timeout=%s\nstore_vector_bytes=%d\n",
                         options.store, absl::FormatDuration(options.timeout),
                         options.vector_bytes);
}

absl::StatusOr<std::unique_ptr<DocumentStore>> OpenStore(
    const StoreOptions& options) {
  std::unique_ptr<DocumentStore> store;
  if (options.redis.has_value()) {
    SEMRANK_ASSIGN_OR_RETURN(store, OpenRedis(*options.redis));
  } else if (!options.rocksdb_path.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(
        store,
        RocksDbDocumentStore::Open({.path = options.rocksdb_path,
                                    .max_vector_bytes = options.vector_bytes}));
  }
  if (store != nullptr) {
    spdlog::info("using the document store {}", store->name());
  }
  return store;
}

std::unique_ptr<StoredVectors> UseStoreForVectors(const StoreOptions& options,
                                                  DocumentStore* store,
                                                  Metrics& metrics) {
  if (store == nullptr) return nullptr;
  auto vectors = std::make_unique<StoredVectors>(
      store, &metrics,
      StoredVectors::Options{
          .time_limit = options.timeout,
          .on_change = [name = store->name()](const absl::Status& status) {
            LogChange(name, status);
          }});
  AddStoreReadings(*vectors, metrics);
  return vectors;
}

}  // namespace semrank
