#include "server/options.h"

#include <unistd.h>

#include <limits>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "server/connection_options.h"
#include "server/option_checks.h"

ABSL_FLAG(std::string, listen_address, "127.0.0.1:50051",
          "HOST:PORT for gRPC; port 0 = any free one.");
ABSL_FLAG(std::string, http_address, "127.0.0.1:8080",
          "HOST:PORT for JSON calls, /metrics, /healthz, /readyz and /statusz, "
          "IPv4; port 0 = any free one.");
ABSL_FLAG(std::int64_t, max_http_body_bytes,
          semrank::Limits().max_http_body_bytes,
          "Bytes of one JSON request over HTTP; more are refused with 413.");
ABSL_FLAG(std::int64_t, cache_bytes, std::int64_t{256} << 20,
          "Bytes of document vectors kept in memory; 0 = none. 256 MiB hold "
          "about 460,000 vectors of 128 numbers.");
ABSL_FLAG(
    std::string, warm_catalog, "",
    "File of documents, doc_id<TAB>title a line (.gz and .zst too), whose "
    "titles are embedded with every model before the server is ready. "
    "Until then /readyz is 503. --cache_bytes should hold them all.");
ABSL_FLAG(std::int64_t, max_texts_per_request,
          semrank::Limits().max_texts_per_request,
          "Candidates or texts in one request; more are INVALID_ARGUMENT.");
ABSL_FLAG(std::int64_t, max_text_bytes, semrank::Limits().max_text_bytes,
          "Bytes of one query, text or title; more are INVALID_ARGUMENT.");
ABSL_FLAG(std::int64_t, max_inflight_texts,
          semrank::Limits().max_inflight_texts,
          "Texts in work at once over all calls; more are RESOURCE_EXHAUSTED.");
ABSL_FLAG(std::int64_t, max_requests_per_stream,
          semrank::Limits().max_requests_per_stream,
          "Requests of one RankStream in work at once; the server reads the "
          "next one when one of them is done.");
ABSL_FLAG(std::int64_t, max_streams_per_connection,
          semrank::Limits().max_streams_per_connection,
          "Calls and streams at once on one connection; further ones wait in "
          "the client.");
ABSL_FLAG(std::int64_t, max_metadata_bytes,
          semrank::Limits().max_metadata_bytes,
          "Bytes of one call's metadata; more are RESOURCE_EXHAUSTED.");
ABSL_FLAG(absl::Duration, drain_delay, absl::ZeroDuration(),
          "After SIGTERM: how long to report NOT_SERVING and still answer, so "
          "that load balancers turn away. Behind one, 5s or more.");
ABSL_FLAG(absl::Duration, drain_timeout, absl::Seconds(30),
          "After --drain_delay: how long running calls may take before they "
          "are cancelled.");
ABSL_FLAG(bool, check_config, false,
          "Print the effective configuration, open the key and certificate "
          "files, and exit: 0 = all can be used.");

namespace semrank {
namespace {

absl::Status CheckLimits(const Limits& limits) {
  constexpr std::int64_t kMaxTexts = 1'000'000;
  constexpr std::int64_t kMaxTextBytes = 1 << 20;
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "max_texts_per_request", limits.max_texts_per_request, 1, kMaxTexts));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("max_text_bytes", limits.max_text_bytes, 1, kMaxTextBytes));
  if (MaxResponseBytes(limits) > std::numeric_limits<int>::max()) {
    return FlagError("max_texts_per_request",
                     std::to_string(limits.max_texts_per_request),
                     absl::StrFormat("times --max_text_bytes=%d is over 2 GiB, "
                                     "the largest message of gRPC",
                                     limits.max_text_bytes));
  }
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "max_requests_per_stream", limits.max_requests_per_stream, 1, 10'000));
  SEMRANK_RETURN_IF_ERROR(CheckRange("max_streams_per_connection",
                                     limits.max_streams_per_connection, 1,
                                     1'000'000));
  SEMRANK_RETURN_IF_ERROR(CheckRange(
      "max_metadata_bytes", limits.max_metadata_bytes, 1'024, 1 << 20));
  SEMRANK_RETURN_IF_ERROR(CheckRange("max_http_body_bytes",
                                     limits.max_http_body_bytes, 1,
                                     std::int64_t{1} << 30));
  // The largest request and its query must be admitted when it comes alone.
  return CheckRange("max_inflight_texts", limits.max_inflight_texts,
                    limits.max_texts_per_request + 1,
                    std::numeric_limits<std::int32_t>::max());
}

std::int64_t PhysicalMemoryBytes() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

}  // namespace

absl::Status ValidateOptions(const ServerOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      CheckAddress("listen_address", options.listen_address));
  SEMRANK_RETURN_IF_ERROR(CheckAddress("http_address", options.http_address));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("cache_bytes", options.cache_bytes, 0, PhysicalMemoryBytes()));
  SEMRANK_RETURN_IF_ERROR(CheckLimits(options.limits));
  SEMRANK_RETURN_IF_ERROR(
      ValidateCatalogOptions(options.catalog, options.limits));
  SEMRANK_RETURN_IF_ERROR(CheckDuration("drain_delay", options.drain_delay));
  SEMRANK_RETURN_IF_ERROR(
      CheckDuration("drain_timeout", options.drain_timeout));
  SEMRANK_RETURN_IF_ERROR(ValidateSecurityOptions(options.security));
  return ValidateLogOptions(options.log);
}

absl::StatusOr<ServerOptions> OptionsFromFlags() {
  ServerOptions options;
  SEMRANK_ASSIGN_OR_RETURN(options.models, ModelOptionsFromFlags());
  options.listen_address = absl::GetFlag(FLAGS_listen_address);
  options.http_address = absl::GetFlag(FLAGS_http_address);
  options.limits.max_http_body_bytes = absl::GetFlag(FLAGS_max_http_body_bytes);
  options.cache_bytes = absl::GetFlag(FLAGS_cache_bytes);
  options.warm_catalog = absl::GetFlag(FLAGS_warm_catalog);
  SEMRANK_ASSIGN_OR_RETURN(options.store, StoreOptionsFromFlags());
  options.limits.max_texts_per_request =
      absl::GetFlag(FLAGS_max_texts_per_request);
  options.limits.max_text_bytes = absl::GetFlag(FLAGS_max_text_bytes);
  options.limits.max_inflight_texts = absl::GetFlag(FLAGS_max_inflight_texts);
  options.limits.max_requests_per_stream =
      absl::GetFlag(FLAGS_max_requests_per_stream);
  options.limits.max_streams_per_connection =
      absl::GetFlag(FLAGS_max_streams_per_connection);
  SEMRANK_ASSIGN_OR_RETURN(options.limits.max_connections,
                           MaxConnectionsFromFlags());
  options.limits.max_metadata_bytes = absl::GetFlag(FLAGS_max_metadata_bytes);
  options.catalog = CatalogOptionsFromFlags(options.limits);
  options.drain_delay = absl::GetFlag(FLAGS_drain_delay);
  options.drain_timeout = absl::GetFlag(FLAGS_drain_timeout);
  SEMRANK_ASSIGN_OR_RETURN(options.security, SecurityOptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(options.log, LogOptionsFromFlags());
  options.check_config = absl::GetFlag(FLAGS_check_config);
  SEMRANK_RETURN_IF_ERROR(ValidateOptions(options));
  return options;
}

std::string DescribeOptions(const ServerOptions& options) {
  return DescribeModelOptions(options.models) +
         absl::StrFormat(
             "listen_address=%s\nhttp_address=%s\n"
             "max_http_body_bytes=%d\n"
             "cache_bytes=%d\nwarm_catalog=%s\n"
             "max_texts_per_request=%d\nmax_text_bytes=%d\n"
             "max_inflight_texts=%d\nmax_requests_per_stream=%d\n"
             "max_streams_per_connection=%d\nmax_connections=%d\n"
             "max_metadata_bytes=%d\n"
             "drain_delay=%s\ndrain_timeout=%s\n",
             options.listen_address, options.http_address,
             options.limits.max_http_body_bytes, options.cache_bytes,
             options.warm_catalog, options.limits.max_texts_per_request,
             options.limits.max_text_bytes, options.limits.max_inflight_texts,
             options.limits.max_requests_per_stream,
             options.limits.max_streams_per_connection,
             options.limits.max_connections, options.limits.max_metadata_bytes,
             absl::FormatDuration(options.drain_delay),
             absl::FormatDuration(options.drain_timeout)) +
         DescribeCatalogOptions(options.catalog, options.limits) +
         DescribeStoreOptions(options.store) +
         DescribeSecurityOptions(options.security) +
         DescribeLogOptions(options.log);
}

}  // namespace semrank
