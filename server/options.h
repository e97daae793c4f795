// Flags and environment to options that are known to be good.
#ifndef SEMRANK_SERVER_OPTIONS_H_
#define SEMRANK_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/limits.h"
#include "server/catalog_options.h"
#include "server/log_options.h"
#include "server/model_options.h"
#include "server/security_options.h"
#include "server/store_options.h"

namespace semrank {

struct ServerOptions {
  ModelOptions models;
  std::string listen_address;  // HOST:PORT
  std::string http_address;    // HOST:PORT
  std::int64_t cache_bytes = 0;
  std::string warm_catalog;  // empty = none
  StoreOptions store;
  Limits limits;
  CatalogOptions catalog;
  SecurityOptions security;
  LogOptions log;
  absl::Duration drain_delay;
  absl::Duration drain_timeout;
  bool check_config = false;
};

// What the flags say, checked. FlagError naming the flag, its value and what is
// wrong with it.
absl::StatusOr<ServerOptions> OptionsFromFlags();

absl::Status ValidateOptions(const ServerOptions& options);

// "name=value" a line, as --flagfile takes it.
std::string DescribeOptions(const ServerOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_OPTIONS_H_
