#include "server/served_folders.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/cli/exit_code.h"
#include "model/format/version_directory.h"

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

// NAME=VALUE,... or one VALUE, which may contain '=' and ',' as paths may.
std::vector<NamedValue> SplitNamed(const std::string& text) {
  // A name has no slash, so a path with an = after a slash is one path.
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

}  // namespace

// In the order of the flag, since the first model is the default.
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
    // Requests choose by name, so it must be of one model.
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

}  // namespace semrank
