#include "model/cli/flag_table.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/flags/reflection.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "model/base/strings.h"
#include "model/cli/near_match.h"
#include "model/cli/settable_flag.h"

namespace semrank {
namespace {

template <typename T>
std::string RangeOf() {
  return absl::StrFormat("a whole number from %d to %d",
                         std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max());
}

// What the flag's type accepts, for types whose parser gives no reason.
std::string AcceptedBy(const absl::CommandLineFlag& flag) {
  if (IsBoolean(flag)) return "true or false";
  if (flag.IsOfType<double>() || flag.IsOfType<float>()) return "a number";
  if (flag.IsOfType<std::int32_t>()) return RangeOf<std::int32_t>();
  if (flag.IsOfType<std::uint32_t>()) return RangeOf<std::uint32_t>();
  if (flag.IsOfType<std::int64_t>()) return RangeOf<std::int64_t>();
  if (flag.IsOfType<std::uint64_t>()) return RangeOf<std::uint64_t>();
  if (flag.IsOfType<absl::Duration>()) {
    return "a duration with a unit, such as 500ms, 10s or 1m30s";
  }
  return "";
}

// Abseil's message without the flag and value that it repeats.
std::string Reason(const absl::CommandLineFlag& flag, std::string_view value,
                   std::string_view message) {
  const std::string repeated = absl::StrFormat(
      "Illegal value '%s' specified for flag '%s'", value, flag.Name());
  if (!message.starts_with(repeated)) return std::string(message);
  message.remove_prefix(repeated.size());
  if (message.starts_with("; ")) return std::string(message.substr(2));
  const std::string accepted = AcceptedBy(flag);
  return accepted.empty() ? "not a valid value" : "want " + accepted;
}

bool IsDefinedIn(const std::string& filename,
                 const std::vector<std::string>& sources) {
  return std::any_of(sources.begin(), sources.end(),
                     [&filename](const std::string& source) {
                       return filename.find(source) != std::string::npos;
                     });
}

}  // namespace

FlagTable::FlagTable(std::string_view flag_source) {
  const std::vector<std::string> sources =
      absl::StrSplit(ToAbsl(flag_source), ' ', absl::SkipEmpty());
  for (const auto& [name, flag] : absl::GetAllFlags()) {
    if (!flag->IsRetired() && IsDefinedIn(flag->Filename(), sources)) {
      flags_.push_back(flag);
    }
  }
  std::sort(flags_.begin(), flags_.end(),
            [](const auto* a, const auto* b) { return a->Name() < b->Name(); });
}

absl::CommandLineFlag* FlagTable::Find(std::string_view name) const {
  const auto found = std::find_if(
      flags_.begin(), flags_.end(),
      [name](const auto* flag) { return flag->Name() == ToAbsl(name); });
  return found == flags_.end() ? nullptr : *found;
}

absl::StatusOr<FlagSetting> FlagTable::Resolve(std::string_view written) const {
  const std::size_t equals = written.find('=');
  const std::string_view name = written.substr(0, equals);
  std::optional<std::string> value;
  if (equals != std::string_view::npos) value = written.substr(equals + 1);

  if (absl::CommandLineFlag* flag = Find(name); flag != nullptr) {
    if (!value.has_value() && IsBoolean(*flag)) value = "true";
    return FlagSetting{flag, value};
  }
  absl::CommandLineFlag* negated =
      name.starts_with("no") ? Find(name.substr(2)) : nullptr;
  if (negated == nullptr || !IsBoolean(*negated)) {
    return Unknown(absl::StrFormat("--%s", name), name);
  }
  if (value.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--%s: takes no value", written));
  }
  return FlagSetting{negated, "false"};
}

absl::Status FlagTable::Unknown(std::string_view as_typed,
                                std::string_view name) const {
  std::vector<std::string> known = {std::string(kHelpFlag),
                                    std::string(kVersionFlag),
                                    std::string(kFlagfileFlag)};
  for (const absl::CommandLineFlag* flag : flags_) {
    known.emplace_back(flag->Name());
  }
  for (const absl::CommandLineFlag* flag : flags_) {
    if (!IsBoolean(*flag)) continue;
    known.push_back(absl::StrFormat("no%s", flag->Name()));
  }
  const std::string near = NearMatch(name, known);
  return absl::InvalidArgumentError(absl::StrFormat(
      "unknown flag %s%s", as_typed,
      near.empty() ? "" : absl::StrFormat(" (did you mean --%s?)", near)));
}

std::string EnvironmentName(std::string_view flag) {
  return "SEMRANK_" + absl::AsciiStrToUpper(ToAbsl(flag));
}

absl::Status SetFlag(absl::CommandLineFlag& flag, std::string_view value,
                     std::string_view origin) {
  std::string message;
  if (flag.ParseFrom(ToAbsl(value), &message)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: %s", origin, Reason(flag, value, message)));
}

}  // namespace semrank
