#include "server/model_options.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/format/version_directory.h"
#include "server/option_checks.h"

ABSL_FLAG(std::string, model_dir, "",
          "Model directory, as semrank-train writes it; its last part is the "
          "model's name. Several: NAME=PATH,NAME=PATH; requests choose by "
          "name, the first is the default. Required.");
ABSL_FLAG(std::string, model_version, "",
          "Version to serve, however new the others are; for several models "
          "NAME=N,NAME=N. Without it the highest complete one is served, and "
          "newer ones as they appear.");
ABSL_FLAG(absl::Duration, model_poll_interval, absl::Seconds(5),
          "How often to look for a new version; 0 = only at SIGHUP and "
          "ReloadModel. Also works on network file systems.");
ABSL_FLAG(bool, wait_for_model, false,
          "When a model is missing or damaged at the start: wait for one "
          "instead of failing. Until then /readyz is 503.");
ABSL_FLAG(bool, enable_admin_rpcs, false,
          "Let clients call ReloadModel; with --api_keys_file those whose key "
          "has the admin role, without it everyone who can connect.");

namespace semrank {
namespace {

struct NamedValue {
  std::string name;  // empty = none was given
  std::string value;
};

bool IsModelName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

// NAME=VALUE,... or one VALUE, which may hold '=' and ',' as paths may.
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

}  // namespace

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

absl::StatusOr<ModelOptions> ModelOptionsFromFlags() {
  ModelOptions options;
  options.model_dir = absl::GetFlag(FLAGS_model_dir);
  options.model_version = absl::GetFlag(FLAGS_model_version);
  SEMRANK_ASSIGN_OR_RETURN(
      options.folders,
      ParseServedFolders(options.model_dir, options.model_version));
  options.poll_interval = absl::GetFlag(FLAGS_model_poll_interval);
  options.wait_for_model = absl::GetFlag(FLAGS_wait_for_model);
  options.enable_admin_rpcs = absl::GetFlag(FLAGS_enable_admin_rpcs);
  SEMRANK_RETURN_IF_ERROR(
      CheckDuration("model_poll_interval", options.poll_interval));
  return options;
}

std::string DescribeModelOptions(const ModelOptions& options) {
  return absl::StrFormat(
      "model_dir=%s\nmodel_version=%s\nmodel_poll_interval=%s\n"
      "wait_for_model=%s\nenable_admin_rpcs=%s\n",
      options.model_dir, options.model_version,
      absl::FormatDuration(options.poll_interval),
      options.wait_for_model ? "true" : "false",
      options.enable_admin_rpcs ? "true" : "false");
}

}  // namespace semrank
