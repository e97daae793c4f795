#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/resources.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/text/text_limit.h"
#include "server/base/request_log.h"
#include "server/event_options.h"
#include "server/experiment_options.h"
#include "server/options.h"
#include "server/vectors/circuit_breaker.h"

namespace semrank {
namespace {

// The flags of options.h. CommandLine takes the default from the field and
// shows it with the range in --help, so the texts here repeat neither. Groups
// appear in the order in which they are added; what only an expert changes is
// kAdvanced and shown by --help-all.

using Level = CommandLine::Level;

// The bounds of the flags are not defaults: a value beyond them is more likely
// a typing error than a wish.
constexpr absl::Duration kMaxWait = absl::Hours(1);
// RocksDB evicts vectors by whole files, of 32 MiB.
constexpr std::int64_t kMinVectorBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMaxVectorBytes = std::int64_t{1} << 50;

absl::Status CheckAddress(const std::string& address) {
  // The last colon precedes the port: IPv6 addresses have others, and stand in
  // brackets, of which one alone is an error. A host name is not resolved here:
  // it may be known only where the server runs.
  const std::size_t colon = address.rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(address.substr(colon + 1), &port) && port >= 0 &&
      port <= std::numeric_limits<std::uint16_t>::max() &&
      (address[0] == '[') == (address[colon - 1] == ']')) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("must be HOST:PORT, port 0 to 65535");
}

// An empty address is allowed where it is the default: the listener is optional
// then.
void AddAddress(CommandLine& command_line, std::string_view name,
                std::string* field, std::string_view help) {
  command_line.Add(
      FlagSpec{.name = std::string(name),
               .help = std::string(help),
               .form = "HOST:PORT",
               .set = [field, optional = field->empty()](
                          const std::string& text) -> absl::Status {
                 if (!text.empty() || !optional) {
                   SEMRANK_RETURN_IF_ERROR(CheckAddress(text));
                 }
                 *field = text;
                 return absl::OkStatus();
               },
               .get = [field] { return *field; }});
}

void AddModelFlags(CommandLine& flags, ModelOptions& options) {
  flags.Group("Models");
  flags.Add("model_dir", &options.model_dir,
            "Model directory, as semrank-train writes it; its last part is the "
            "model's name. Several: NAME=PATH,NAME=PATH; requests choose by "
            "name, the first is the default. Required.",
            "DIR");
  flags.Add("model_version", &options.model_version,
            "Version to serve, even if newer ones exist; for several models "
            "NAME=N,NAME=N. Without it the server serves the highest complete "
            "version, and newer ones as they appear.",
            "N");
  FlagSpec alias = BindFlag(
      "model_alias", &options.model_alias,
      "Another name for a model, ALIAS=NAME, so that clients of other products "
      "can keep theirs: --model_alias=rerank-v3.5=shop. May be repeated; "
      "several may also stand between commas.");
  alias.is_repeated = true;
  flags.Add(std::move(alias));
  flags.Add("wait_for_model", &options.wait_for_model,
            "When a model is missing or damaged at the start: wait for one "
            "instead of failing. Until then /readyz is 503.");
  flags.Add("enable_admin_rpcs", &options.enable_admin_rpcs,
            "Let clients call ReloadModel; with --api_keys_file those whose "
            "key has the admin role, without it every client.");
  flags.Group("Models", Level::kAdvanced);
  // Polling rather than inotify: notifications do not cross network file
  // systems and mounts of containers.
  flags.Add("model_poll_interval", &options.poll_interval,
            "How often to look for a new version; 0 = only at SIGHUP and "
            "ReloadModel. Also works on network file systems.",
            {.max = kMaxWait});
}

void AddVectorFlags(CommandLine& flags, ServerOptions& options) {
  flags.Group("Document vectors");
  // A cache larger than the memory of the machine would end the server when it
  // fills, hours after the start.
  flags.Add("cache_bytes", &options.cache_bytes,
            "Bytes of document vectors kept in memory; 0 = none. A vector of "
            "128 dimensions takes about 580 bytes.",
            {.min = 0, .max = PhysicalMemory()});
  flags.Add("vector_precision", &options.models.vector_precision,
            "What every vector is rounded to. With bf16 (bfloat16) the cache "
            "and the catalog keep 2 bytes a dimension in place of 4, with int8 "
            "1 byte, and reading them takes less time; scores differ by about "
            "0.001 and 0.005 from those of float32. The same for all servers "
            "on one store: vectors of another precision are computed anew.",
            {{"float32", VectorPrecision::kFloat32},
             {"bf16", VectorPrecision::kBf16},
             {"int8", VectorPrecision::kInt8}});
  flags.Add("warm_catalog", &options.warm_catalog,
            "File of documents, as semrank put reads it (.tsv, .csv, .jsonl, "
            "also .gz or .zst), whose titles are embedded with every model "
            "before the server is ready. Until then /readyz is 503. "
            "--cache_bytes should hold them "
            "all.",
            "FILE");
  flags.Add("store", &options.store.store,
            "Keeps the vectors of documents across restarts: rocksdb:PATH (a "
            "folder of this server alone, created if missing), "
            "redis://[user:password@]host[:port][/db] (shared by replicas; "
            "rediss:// over TLS; set SEMRANK_STORE instead, so that no process "
            "list shows the password) or none.",
            "rocksdb:PATH|redis://HOST");
  // --print_config shows the effective configuration.
  flags.HideSecrets("store", WithoutPassword);
  flags.Group("Document vectors", Level::kAdvanced);
  flags.Add("store_tls_ca", &options.store.tls.ca,
            "PEM file for rediss://: the authorities that may sign the "
            "certificate of Redis. Empty = those that the system trusts. "
            "Replaced files count for the next connection.",
            "FILE");
  flags.Add("store_tls_cert", &options.store.tls.cert,
            "PEM file for rediss://: the certificate that this server shows, "
            "then its intermediates. Empty = none.",
            "FILE");
  flags.Add("store_tls_key", &options.store.tls.key,
            "PEM file for rediss://: the private key of --store_tls_cert, "
            "without a password.",
            "FILE");
  // The help names the real times, so that it cannot differ from the code.
  const CircuitBreaker::Options bypass;
  flags.Add("store_timeout", &options.store.timeout,
            absl::StrFormat(
                "How long one look-up in the store may take. If it takes "
                "longer, the vectors are computed, and the store is bypassed "
                "for %s to %s.",
                absl::FormatDuration(absl::FromChrono(bypass.min_wait)),
                absl::FormatDuration(absl::FromChrono(bypass.max_wait))),
            {.min = absl::Microseconds(100), .max = kMaxWait});
  flags.Add("store_vector_bytes", &options.store.vector_bytes,
            "Bytes of disk for vectors in a RocksDB store; beyond that the "
            "oldest are evicted. A vector of 128 dimensions takes about 610 "
            "bytes.",
            {.min = kMinVectorBytes, .max = kMaxVectorBytes});
}

// What semrank embed takes offline, a server takes, too.
static_assert(Limits().max_text_bytes == kDefaultMaxTextBytes);

// Each limit bounds what one client can make the server hold or do;
// FinishOptions checks those that depend on each other.
void AddLimitFlags(CommandLine& flags, ServerOptions& options) {
  // FinishOptions refuses products of the two that make a message of 2 GiB
  // or more.
  constexpr std::int64_t kMaxTexts = 1'000'000;
  constexpr std::int64_t kMaxTextBytes = 1 << 20;
  Limits& limits = options.limits;
  flags.Group("Limits");
  flags.Add("max_texts_per_request", &limits.max_texts_per_request,
            "Candidates or texts in one request; more are INVALID_ARGUMENT.",
            {.min = 1, .max = kMaxTexts});
  flags.Add("max_text_bytes", &limits.max_text_bytes,
            "Bytes of one query, text or title; more are INVALID_ARGUMENT.",
            {.min = 1, .max = kMaxTextBytes});
  flags.Add("max_inflight_texts", &limits.max_inflight_texts,
            "Texts in flight over all calls; more are RESOURCE_EXHAUSTED. Must "
            "be over --max_texts_per_request.",
            // The least is a query and one title.
            {.min = 2, .max = std::numeric_limits<std::int32_t>::max()});
  flags.Add("max_queue_wait", &limits.max_queue_wait,
            "How long a request may wait for a worker thread; one that would "
            "wait longer is RESOURCE_EXHAUSTED at once.",
            {.min = absl::Milliseconds(1), .max = absl::Minutes(1)});
  flags.Add("max_connections", &limits.max_connections,
            "Open connections over gRPC; further ones are closed. The default, "
            "or 0, is reduced to what the limit on open files (ulimit -n) "
            "allows.",
            {.min = 0, .max = 1'000'000});
  flags.Add("max_connection_age", &options.max_connection_age,
            "How long a connection over gRPC may stay: afterwards it is closed "
            "when its calls have ended, and the client connects again, also to "
            "replicas that are new. 0 = no limit.",
            {.max = absl::Hours(24)});
  flags.Add("max_share_per_caller", &limits.max_share_per_caller,
            "Share that one caller (its key, or its address without "
            "--api_keys_file) may have of what the others leave free: of texts "
            "in flight, of the workers' queue, of connections and of JSON "
            "calls; more are RESOURCE_EXHAUSTED CALLER_SHARE. 1 = one caller "
            "may have all.",
            // With 0 a caller that holds anything could take nothing more.
            {.min = 0.01, .max = 1});
  flags.Add("send_timeout", &limits.send_timeout,
            "How long a client may read nothing of its responses before they "
            "are dropped; over gRPC this long for each MiB of a response.",
            {.min = absl::Milliseconds(10), .max = kMaxWait});
  flags.Add("min_body_rate", &limits.min_body_rate,
            "Bytes a second at which the body of a JSON request must arrive, "
            "measured every 10 seconds; a slower one is 408. 0 = at any rate.",
            {.min = 0, .max = 1 << 20});
  flags.Add("max_memory_bytes", &options.max_memory_bytes,
            "Memory of the server beyond which, while it still grows, the "
            "connections over gRPC that bring the most bytes are closed: a "
            "flood of headers is held in memory before any other limit sees "
            "it. 0 = four fifths of what the container or systemd's MemoryMax "
            "allows, and nothing where there is no such limit.",
            {.min = 0, .max = std::int64_t{1} << 50});
  flags.Add("max_catalog_documents", &options.max_catalog_documents,
            "Documents that the catalog holds in memory; further ones are "
            "RESOURCE_EXHAUSTED. A million with vectors of 128 dimensions take "
            "about 600 MB and their own text.",
            {.min = 0, .max = std::int64_t{64} << 20});
  flags.Group("Limits", Level::kAdvanced);
  flags.Add("max_requests_per_stream", &limits.max_requests_per_stream,
            "Requests of one RankStream in flight; the server reads the next "
            "one when one of them is done.",
            {.min = 1, .max = 10'000});
  flags.Add("max_streams_per_connection", &limits.max_streams_per_connection,
            "Calls and streams in flight on one connection; further ones wait "
            "in the client.",
            {.min = 1, .max = 1'000'000});
  flags.Add("max_metadata_bytes", &limits.max_metadata_bytes,
            "Bytes of one call's metadata; more are RESOURCE_EXHAUSTED.",
            {.min = 1'024, .max = 1 << 20});
  flags.Add("max_http_body_bytes", &limits.max_http_body_bytes,
            "Bytes of one JSON request over HTTP; more are refused with 413.",
            {.min = 1, .max = std::int64_t{1} << 30});
  flags.Add("max_document_id_bytes", &limits.max_document_id_bytes,
            "Bytes of one document_id; a longer one is INVALID_ARGUMENT.",
            {.min = 1, .max = kMaxTextBytes});
  flags.Add("max_payload_bytes", &limits.max_payload_bytes,
            "Bytes of one document's payload; a longer one is "
            "INVALID_ARGUMENT.",
            {.min = 0, .max = kMaxTextBytes});
  flags.Add("max_explain_words", &limits.max_explain_words,
            "Words of the query and the title of one Explain, whose cost grows "
            "with their square; more are INVALID_ARGUMENT.",
            {.min = 1, .max = 10'000});
  flags.Add("max_top_k", &limits.max_top_k,
            "Documents that one search of the catalog returns; more are "
            "INVALID_ARGUMENT.",
            {.min = 1, .max = 1'000'000});
}

// Files, not values: a process list or a log must not show a key.
void AddSecurityFlags(CommandLine& flags, SecurityOptions& options) {
  flags.Group("Security");
  flags.Add("tls_cert", &options.tls.cert,
            "PEM file: the server's certificate, then its intermediates. With "
            "it --listen_address and --http_address speak TLS only. Replaced "
            "files take effect within seconds.",
            "FILE");
  flags.Add("tls_key", &options.tls.key,
            "PEM file: the private key of --tls_cert, without a password.",
            "FILE");
  flags.Add("tls_client_ca", &options.tls.client_ca,
            "PEM file: the CAs of client certificates. With it gRPC needs one; "
            "over HTTP calls do, pages do not.",
            "FILE");
  flags.Add("api_keys_file", &options.api_keys_file,
            "File of API keys, one a line: role (read, write, admin or "
            "write-events), blank, SHA-256 of the key. Callers then need "
            "\"authorization: Bearer "
            "KEY\". Read again when it changes.",
            "FILE");
  flags.Group("Security", Level::kAdvanced);
  AddAddress(
      flags, "health_address", &options.health_address,
      "Serves grpc.health.v1 only, in plain text, for probes that cannot "
      "present a client certificate.");
  // By default HTTP asks for what gRPC asks for: otherwise a port that is open
  // for its pages would be a way around the certificates.
  flags.Add("http_calls", &options.http_calls,
            "JSON calls over HTTP: auto = as over gRPC, so with "
            "--tls_client_ca only from clients with a certificate; on = also "
            "from clients without one; off. API keys count in any case, and "
            "pages for operators are always served.",
            {{"auto", HttpCallPolicy::kAuto},
             {"on", HttpCallPolicy::kOn},
             {"off", HttpCallPolicy::kOff}});
  flags.Add("cors_origins", &options.cors_origins,
            "Origins of web pages that may make JSON calls from the browser, "
            "as SCHEME://HOST[:PORT],...; * = every page. Calls of other pages "
            "than the server's own are refused.");
  flags.Add("server_names", &options.server_names,
            "Names of the server for browsers and proxies, as HOST,...; * = "
            "every name. Over HTTP a request whose Host is another name is "
            "refused with 421; addresses, localhost and the hosts of "
            "--cors_origins pass. Without the flag only a server on loopback "
            "refuses.");
}

}  // namespace

void AddServerFlags(CommandLine& command_line, ServerOptions& options) {
  AddModelFlags(command_line, options.models);
  command_line.Group("Addresses");
  AddAddress(command_line, "listen_address", &options.listen_address,
             "gRPC; port 0 = any free one.");
  AddAddress(command_line, "http_address", &options.http_address,
             "JSON calls, /metrics, /healthz, /readyz and pages for people; "
             "port 0 = any free one.");
  command_line.Add("pages", &options.pages,
                   "Pages for people on --http_address: the playground at / "
                   "and /statusz.",
                   {{"on", true}, {"off", false}});
  AddVectorFlags(command_line, options);
  AddEventFlags(command_line, options.events);
  AddExperimentFlags(command_line, options.experiments);
  AddLimitFlags(command_line, options);
  AddSecurityFlags(command_line, options.security);
  command_line.Group("Operation");
  command_line.Add("drain_delay", &options.drain_delay,
                   "After SIGTERM: how long to report NOT_SERVING and still "
                   "answer, so that load balancers stop sending requests. "
                   "Behind one, 5s or more.",
                   {.max = kMaxWait});
  command_line.Add("drain_timeout", &options.drain_timeout,
                   "After --drain_delay: how long calls in flight may take "
                   "before they are cancelled.",
                   {.max = kMaxWait});
  command_line.Add("log_format", &options.log_format,
                   "Log lines on standard error.",
                   {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
  command_line.Add("slow_request_threshold", &options.slow_request_threshold,
                   "Log requests that take this long or longer, with their "
                   "request id; 0 = none.",
                   {.max = kMaxWait});
  // The lines are bounded as well, so that no client can fill a disk.
  command_line.Add(
      "access_log", &options.access_log,
      absl::StrFormat("Share of the requests that are logged with method, "
                      "code, time, request id, model, texts, key and peer; 1 = "
                      "all. At most %d lines a second.",
                      RequestLog::kMaxAccessLinesPerSecond),
      {.min = 0, .max = 1});
  command_line.Add("print_config", &options.print_config,
                   "Print the effective configuration with secrets hidden, as "
                   "--config reads it, and exit.");
  command_line.Add("check_config", &options.check_config,
                   "As --print_config, and open the key and certificate "
                   "files: exit code 0 = all can be used.");
}

std::string DescribeConfig(const CommandLine& command_line) {
  std::vector<FlagValue> values = command_line.Values();
  // The output is to be read by --config: it must not exit.
  std::erase_if(values, [](const FlagValue& flag) {
    return flag.name == "check_config" || flag.name == "print_config";
  });
  return FormatConfig(values);
}

}  // namespace semrank
