// The options of a server, and a flag for each. Their initial values are the
// defaults.
#ifndef SEMRANK_SERVER_OPTIONS_H_
#define SEMRANK_SERVER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/nn/row_format.h"
#include "model/redis/redis_url.h"
#include "server/auth/tls_files.h"
#include "server/base/limits.h"
#include "server/event_options.h"
#include "server/experiment_options.h"
#include "server/rpc/socket_transfer.h"
#include "server/stores/rocksdb_document_store.h"
#include "server/vectors/stored_vectors.h"

namespace semrank {

class CommandLine;

struct ServedFolder {
  std::string name;  // in requests
  std::string path;
  std::int64_t version = 0;  // pinned; 0 = the highest complete one
  std::vector<std::string> aliases = {};  // other names in requests
};

struct ModelOptions {
  std::string model_dir = {};                       // PATH, or NAME=PATH,...
  std::string model_version = {};                   // N, or NAME=N,...
  std::vector<std::string> model_alias = {};        // ALIAS=NAME
  absl::Duration poll_interval = absl::Seconds(5);  // 0 = only when asked to
  bool wait_for_model = false;
  bool enable_admin_rpcs = false;
  VectorPrecision vector_precision = VectorPrecision::kFloat32;
  // FinishOptions makes them of the flags above: at least one, with different
  // names and aliases; the first is the default.
  std::vector<ServedFolder> folders = {};
};

struct StoreOptions {
  std::string store = "none";  // none, rocksdb:PATH, redis://... or rediss://
  RedisTlsFiles tls;           // of rediss://
  absl::Duration timeout = StoredVectors::Options().time_limit;
  std::int64_t vector_bytes = RocksDbDocumentStore::Options().max_vector_bytes;
  // FinishOptions makes one of these of `store`.
  std::string rocksdb_path = {};  // empty = not RocksDB
  std::optional<RedisUrl> redis = {};
};

enum class HttpCallPolicy {
  kAuto,  // calls need the client certificate that gRPC needs
  kOn,    // calls need no client certificate
  kOff    // every call is refused
};

struct SecurityOptions {
  TlsFiles tls = {};                // cert empty = plain text
  std::string api_keys_file = {};   // empty = no keys
  std::string health_address = {};  // empty = no listener of its own
  HttpCallPolicy http_calls = HttpCallPolicy::kAuto;
  std::vector<std::string> cors_origins = {};  // beside the server's own
  std::vector<std::string> server_names = {};  // that Host may have
};

enum class LogFormat { kText, kJson };

struct ServerOptions {
  ModelOptions models;
  std::string listen_address = "127.0.0.1:50051";
  std::string http_address = "127.0.0.1:8080";
  bool pages = true;  // the playground and /statusz
  std::int64_t cache_bytes = std::int64_t{256} << 20;
  std::string warm_catalog;  // empty = none
  StoreOptions store;
  EventOptions events;
  ExperimentOptions experiments;
  Limits limits;
  absl::Duration max_connection_age = kMaxConnectionAge;  // 0 = no limit
  std::int64_t max_memory_bytes = 0;  // 0 = DefaultMemoryLimit
  std::int64_t max_catalog_documents = 10'000'000;
  SecurityOptions security;
  LogFormat log_format = LogFormat::kText;
  absl::Duration slow_request_threshold;  // 0 = no slow-request log
  double access_log = 0;                  // share of requests, 0 to 1
  absl::Duration drain_delay;
  absl::Duration drain_timeout = absl::Seconds(30);
  // The program prints its configuration instead of serving; check_config opens
  // the key and certificate files too.
  bool print_config = false;
  bool check_config = false;
};

// Binds a flag to each field, whose initial value is the default that --help
// shows. `options` must outlive the parsing of `command_line`.
void AddServerFlags(CommandLine& command_line, ServerOptions& options);

// The effective configuration after parsing: "name=value" a line, as --config
// reads it, with passwords hidden.
std::string DescribeConfig(const CommandLine& command_line);

// Checks options that depend on each other and fills the fields that are made
// of others. Call it after parsing. An error is a FlagError with the flag, its
// value and the reason.
absl::Status FinishOptions(const CommandLine& command_line,
                           ServerOptions& options);

// OK, or why POST /v1/... is refused.
absl::Status HttpCallsAllowed(const SecurityOptions& options);

// Whether POST /v1/... needs the client certificate that gRPC asks for.
bool HttpCallsNeedCertificate(const SecurityOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_OPTIONS_H_
