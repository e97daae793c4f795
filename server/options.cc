#include "server/options.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/command_line.h"
#include "model/format/version_directory.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/events/redis_event_sink.h"
#include "server/http/http_origins.h"
#include "server/open_files.h"

namespace semrank {
namespace {

// CommandLine has checked each flag alone: its type, range and spelling. Here
// are the checks that need several flags, and the flags that have a small
// language of their own (NAME=PATH,..., ALIAS=NAME, rocksdb:PATH).

constexpr std::string_view kRocksDbPrefix = "rocksdb:";
constexpr std::string_view kRedisPrefixes[] = {"redis://", "rediss://"};

struct NamedValue {
  std::string name;  // empty = none was given
  std::string value;
};

bool IsModelName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

// Splits NAME=VALUE,... or takes one VALUE, which may contain '=' and ',' as
// paths may. Only what precedes the first '=' decides: "a=x,b=y" is a list,
// "/data/lr=0.1,v2" one path. A path without a slash that contains '=' needs
// "./" before it.
std::vector<NamedValue> SplitNamed(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !IsModelName(text.substr(0, equals))) {
    return {{"", text}};
  }
  std::vector<NamedValue> values;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    values.push_back({pair.first, pair.second});
  }
  return values;
}

absl::Status SetVersion(const NamedValue& named, const std::string& flag_value,
                        std::vector<ServedFolder>& folders) {
  std::int64_t version = 0;
  if (!absl::SimpleAtoi(named.value, &version) || version < 0 ||
      version > kMaxVersion) {
    return FlagError("model_version", flag_value,
                     absl::StrFormat("\"%s\" must be a number from 0 to %d",
                                     named.value, kMaxVersion));
  }
  // A bare number would otherwise pin the first model by surprise.
  if (named.name.empty() && folders.size() > 1) {
    return FlagError("model_version", flag_value,
                     "with several models must be NAME=N,...");
  }
  const auto folder =
      named.name.empty()
          ? folders.begin()
          : std::ranges::find(folders, named.name, &ServedFolder::name);
  if (folder == folders.end()) {
    return FlagError(
        "model_version", flag_value,
        absl::StrFormat("--model_dir has no model named \"%s\"", named.name));
  }
  folder->version = version;
  return absl::OkStatus();
}

// The folders keep the order of the flag, since the first model is the default.
absl::StatusOr<std::vector<ServedFolder>> ParseServedFolders(
    const std::string& model_dir, const std::string& model_version) {
  std::vector<ServedFolder> folders;
  for (const NamedValue& named : SplitNamed(model_dir)) {
    const std::string name =
        named.name.empty() ? ModelNameOf(named.value) : named.name;
    if (named.value.empty()) {
      return FlagError("model_dir", model_dir,
                       model_dir.empty() ? "is required" : "has an empty path");
    }
    // Protobuf and JSON, which name the model in responses, need UTF-8.
    if (!CheckUtf8("name", name).ok()) {
      return FlagError("model_dir", model_dir,
                       "names a model in other characters than UTF-8; give "
                       "NAME=PATH");
    }
    // Requests choose a model by its name, so no two models may share it.
    if (std::ranges::count(folders, name, &ServedFolder::name) > 0) {
      return FlagError("model_dir", model_dir,
                       absl::StrFormat("has two models named \"%s\"", name));
    }
    folders.push_back({name, named.value});
  }
  if (model_version.empty()) return folders;
  for (const NamedValue& named : SplitNamed(model_version)) {
    SEMRANK_RETURN_IF_ERROR(SetVersion(named, model_version, folders));
  }
  return folders;
}

// Names of other products' models: "BAAI/bge-m3", "embed:v3".
bool IsAlias(std::string_view name) {
  constexpr std::string_view kMarks = "_-./:@";
  return !name.empty() && std::ranges::all_of(name, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(c) != kMarks.npos;
  });
}

// The models are those of --model_dir, whatever versions are loaded later, so a
// wrong name is found at the start.
absl::Status AddAlias(const std::string& text,
                      std::vector<ServedFolder>& folders) {
  const std::pair<std::string, std::string> pair =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  const auto& [alias, name] = pair;
  if (!IsAlias(alias) || name.empty()) {
    return FlagError("model_alias", text,
                     "must be ALIAS=NAME, with letters, digits and _-./:@ in "
                     "ALIAS");
  }
  const auto folder = std::ranges::find(folders, name, &ServedFolder::name);
  if (folder == folders.end()) {
    return FlagError(
        "model_alias", text,
        absl::StrFormat("--model_dir has no model named \"%s\"", name));
  }
  // Requests choose by one name, so a name must mean one model, whether it is
  // an alias or the name of a folder.
  for (const ServedFolder& other : folders) {
    if (other.name != alias && std::ranges::count(other.aliases, alias) == 0) {
      continue;
    }
    return FlagError("model_alias", text,
                     absl::StrFormat("model \"%s\" has the name \"%s\" already",
                                     other.name, alias));
  }
  folder->aliases.push_back(alias);
  return absl::OkStatus();
}

// Empty if no model has this name or alias.
std::string ServedName(std::string_view name,
                       const std::vector<ServedFolder>& folders) {
  for (const ServedFolder& folder : folders) {
    if (folder.name == name || std::ranges::count(folder.aliases, name) > 0) {
      return folder.name;
    }
  }
  return "";
}

absl::Status ParseStore(StoreOptions& options) {
  const std::string& store = options.store;
  // "none" is the default. As a flag it overrides a configuration file.
  if (store == "none") return absl::OkStatus();
  if (store.starts_with(kRocksDbPrefix) &&
      store.size() > kRocksDbPrefix.size()) {
    options.rocksdb_path = store.substr(kRocksDbPrefix.size());
    return absl::OkStatus();
  }
  if (std::ranges::none_of(kRedisPrefixes, [&](std::string_view prefix) {
        return store.starts_with(prefix);
      })) {
    // Errors end up in logs, so they never show the password.
    return FlagError(
        "store", WithoutPassword(store),
        "must be none, rocksdb:PATH, redis://HOST or rediss://HOST");
  }
  absl::StatusOr<RedisUrl> url = ParseRedisUrl(store);
  if (!url.ok()) {
    return FlagError("store", WithoutPassword(store),
                     ToStd(url.status().message()));
  }
  url->tls_files = options.tls;
  options.redis = *std::move(url);
  return absl::OkStatus();
}

// A certificate and its private key, whose flags begin with `prefix`.
absl::Status CheckPair(const std::string& prefix, const std::string& cert,
                       const std::string& key) {
  if (cert.empty() == key.empty()) return absl::OkStatus();
  const char* const given = cert.empty() ? "_key" : "_cert";
  const char* const missing = cert.empty() ? "_cert" : "_key";
  return FlagError(prefix + given, cert.empty() ? key : cert,
                   absl::StrCat("needs --", prefix, missing));
}

// --store and --events may both use Redis over TLS and then share these files,
// so it is an error only if neither does: files without effect would look like
// an encrypted connection.
absl::Status CheckStoreTls(const StoreOptions& options,
                           const EventOptions& events) {
  const RedisTlsFiles& tls = options.tls;
  SEMRANK_RETURN_IF_ERROR(CheckPair("store_tls", tls.cert, tls.key));
  const auto* stream =
      std::get_if<RedisEventSink::Options>(&events.destination);
  const bool over_tls = (options.redis.has_value() && options.redis->tls) ||
                        (stream != nullptr && stream->url.tls);
  for (const auto& [flag, value] : {std::pair("store_tls_ca", tls.ca),
                                    std::pair("store_tls_cert", tls.cert)}) {
    if (!value.empty() && !over_tls) {
      return FlagError(flag, value,
                       "needs --store=rediss://HOST or "
                       "--events=rediss://HOST/STREAM");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const Limits& limits) {
  // Sizes of messages are of type int in gRPC and Protobuf.
  if (MaxResponseBytes(limits) > std::numeric_limits<int>::max()) {
    return FlagError("max_texts_per_request",
                     std::to_string(limits.max_texts_per_request),
                     absl::StrFormat("times --max_text_bytes=%d is over 2 GiB, "
                                     "the largest message of gRPC",
                                     limits.max_text_bytes));
  }
  // The largest request and its query must be admitted when it comes alone:
  // permits are taken at once, so it would otherwise be refused for ever with
  // an error that asks the client to retry.
  if (limits.max_inflight_texts > limits.max_texts_per_request) {
    return absl::OkStatus();
  }
  return FlagError("max_inflight_texts",
                   std::to_string(limits.max_inflight_texts),
                   absl::StrFormat("must be over --max_texts_per_request=%d",
                                   limits.max_texts_per_request));
}

absl::Status CheckTls(const TlsFiles& tls) {
  SEMRANK_RETURN_IF_ERROR(CheckPair("tls", tls.cert, tls.key));
  // Plain text has no handshake in which a client could show a certificate.
  if (tls.cert.empty() && !tls.client_ca.empty()) {
    return FlagError("tls_client_ca", tls.client_ca, "needs --tls_cert");
  }
  return absl::OkStatus();
}

// `status` of a list of values as an error of its flag.
absl::Status ListError(const absl::Status& status, const char* flag,
                       const std::vector<std::string>& values) {
  return status.ok() ? status
                     : FlagError(flag, absl::StrJoin(values, ","),
                                 ToStd(status.message()));
}

absl::Status CheckBrowsers(const SecurityOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ListError(CheckOrigins(options.cors_origins),
                                    "cors_origins", options.cors_origins));
  return ListError(CheckServerNames(options.server_names), "server_names",
                   options.server_names);
}

}  // namespace

absl::Status FinishOptions(const CommandLine& command_line,
                           ServerOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(options.models.folders,
                           ParseServedFolders(options.models.model_dir,
                                              options.models.model_version));
  // The order matters: aliases need the folders, experiments both and whether
  // events are on, and the TLS files the addresses of store and events.
  for (const std::string& alias : options.models.model_alias) {
    SEMRANK_RETURN_IF_ERROR(AddAlias(alias, options.models.folders));
  }
  SEMRANK_RETURN_IF_ERROR(FinishEvents(options.store.tls, options.events));
  SEMRANK_RETURN_IF_ERROR(FinishExperiments(
      [&](std::string_view name) {
        return ServedName(name, options.models.folders);
      },
      options.events.is_on(), options.experiments));
  SEMRANK_RETURN_IF_ERROR(ParseStore(options.store));
  SEMRANK_RETURN_IF_ERROR(CheckStoreTls(options.store, options.events));
  SEMRANK_RETURN_IF_ERROR(CheckLimits(options.limits));
  SEMRANK_RETURN_IF_ERROR(CheckTls(options.security.tls));
  SEMRANK_RETURN_IF_ERROR(CheckBrowsers(options.security));
  std::int64_t& max_connections = options.limits.max_connections;
  SEMRANK_ASSIGN_OR_RETURN(
      max_connections,
      MaxConnections(
          // A default that does not fit is reduced; a value of the operator is
          // refused.
          command_line.IsSet("max_connections") ? max_connections : 0,
          OpenFileLimit()));
  return absl::OkStatus();
}

absl::Status HttpCallsAllowed(const SecurityOptions& options) {
  if (options.http_calls != HttpCallPolicy::kOff) return absl::OkStatus();
  return MakeError(absl::StatusCode::kPermissionDenied, "HTTP_CALLS_OFF",
                   "calls over HTTP are off (--http_calls=off)",
                   {{"flag", "http_calls"}});
}

bool HttpCallsNeedCertificate(const SecurityOptions& options) {
  return !options.tls.client_ca.empty() &&
         options.http_calls == HttpCallPolicy::kAuto;
}

}  // namespace semrank
