#include "model/cli/flag_parser.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "model/base/line_reader.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// Walks over the arguments and notes what they say; sets nothing yet, because
// flag files and the environment come first.
class ArgumentScanner {
 public:
  ArgumentScanner(const FlagTable& table, const std::vector<std::string>& args)
      : table_(table), args_(args) {}

  absl::Status Scan() {
    while (next_ < args_.size() && !parsed_.help && !parsed_.version) {
      const std::string& arg = args_[next_++];
      if (arg == "--") {
        parsed_.positional.insert(parsed_.positional.end(),
                                  args_.begin() + next_, args_.end());
        break;
      }
      SEMRANK_RETURN_IF_ERROR(ScanOne(arg));
    }
    return absl::OkStatus();
  }

  ParsedArguments& parsed() { return parsed_; }
  const std::vector<FlagSetting>& settings() const { return settings_; }
  const std::vector<std::string>& flagfiles() const { return flagfiles_; }

 private:
  absl::Status ScanOne(const std::string& arg) {
    if (arg.starts_with("--")) return ScanFlag(arg.substr(2));
    if (arg == "-h") {
      parsed_.help = true;
      return absl::OkStatus();
    }
    // "-" is standard input, "-5" a number; "-gamma=3" lacks a dash.
    if (arg.size() > 1 && arg[0] == '-' && absl::ascii_isalpha(arg[1])) {
      const std::string name = arg.substr(0, arg.find('='));
      return table_.Unknown(name, std::string_view(name).substr(1));
    }
    parsed_.positional.push_back(arg);
    return absl::OkStatus();
  }

  absl::Status ScanFlag(const std::string& written) {
    const std::size_t equals = written.find('=');
    const std::string name = written.substr(0, equals);
    if (name == kHelpFlag || name == kVersionFlag) {
      (name == kHelpFlag ? parsed_.help : parsed_.version) = true;
      return absl::OkStatus();
    }
    if (name == kFlagfileFlag) {
      std::optional<std::string> file;
      if (equals != std::string::npos) file = written.substr(equals + 1);
      SEMRANK_RETURN_IF_ERROR(TakeValue(name, file));
      flagfiles_.push_back(*file);
      return absl::OkStatus();
    }
    SEMRANK_ASSIGN_OR_RETURN(FlagSetting setting, table_.Resolve(written));
    SEMRANK_RETURN_IF_ERROR(TakeValue(name, setting.value));
    settings_.push_back(std::move(setting));
    return absl::OkStatus();
  }

  // Without "=", the next argument is the value, unless it looks like a flag:
  // then the value was forgotten.
  absl::Status TakeValue(const std::string& name,
                         std::optional<std::string>& value) {
    if (value.has_value()) return absl::OkStatus();
    if (next_ >= args_.size() || args_[next_].starts_with("--")) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--%s: wants a value, as --%s=VALUE", name, name));
    }
    value = args_[next_++];
    return absl::OkStatus();
  }

  const FlagTable& table_;
  const std::vector<std::string>& args_;
  std::size_t next_ = 0;
  ParsedArguments parsed_;
  std::vector<FlagSetting> settings_;
  std::vector<std::string> flagfiles_;
};

std::string_view Strip(std::string_view text) {
  return ToStd(absl::StripAsciiWhitespace(ToAbsl(text)));
}

// One line of a flag file: "name=value", with or without dashes before it and
// blanks around its parts.
absl::Status SetFromLine(const FlagTable& table, std::string_view line) {
  line = Strip(line);
  if (line.empty() || line.starts_with('#')) return absl::OkStatus();
  if (line.starts_with("--")) line.remove_prefix(2);
  const std::size_t equals = line.find('=');
  std::string written(Strip(line.substr(0, equals)));
  if (equals != std::string_view::npos) {
    written += absl::StrFormat("=%s", Strip(line.substr(equals + 1)));
  }
  SEMRANK_ASSIGN_OR_RETURN(const FlagSetting setting, table.Resolve(written));
  if (!setting.value.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--%s: wants a value, as %s=VALUE", written, written));
  }
  return SetFlag(*setting.flag, *setting.value,
                 absl::StrFormat("--%s", written));
}

// `origin` says who asked for the file: "--flagfile=f", "SEMRANK_FLAGFILE=f".
absl::Status SetFromFile(const FlagTable& table, const std::string& path,
                         std::string_view origin) {
  const auto reader = LineReader::Open(path);
  if (!reader.ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %s", origin, reader.status().message()));
  }
  std::string_view line;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, (*reader)->Next(line));
    if (!more) return absl::OkStatus();
    const absl::Status status = SetFromLine(table, line);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: %s", path, (*reader)->line_number(), status.message()));
    }
  }
}

absl::Status SetFromFiles(const FlagTable& table,
                          const std::vector<std::string>& flagfiles,
                          const EnvironmentLookup& environment) {
  for (const std::string& path : flagfiles) {
    SEMRANK_RETURN_IF_ERROR(SetFromFile(
        table, path, absl::StrFormat("--%s=%s", kFlagfileFlag, path)));
  }
  if (!flagfiles.empty()) return absl::OkStatus();
  const std::string name = EnvironmentName(kFlagfileFlag);
  const std::optional<std::string> path = environment(name);
  if (!path.has_value()) return absl::OkStatus();
  return SetFromFile(table, *path, absl::StrFormat("%s=%s", name, *path));
}

absl::Status SetFromEnvironment(const FlagTable& table,
                                const EnvironmentLookup& environment) {
  for (absl::CommandLineFlag* flag : table.flags()) {
    const std::string name = EnvironmentName(ToStd(flag->Name()));
    const std::optional<std::string> value = environment(name);
    if (!value.has_value()) continue;
    SEMRANK_RETURN_IF_ERROR(
        SetFlag(*flag, *value, absl::StrFormat("%s=%s", name, *value)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedArguments> ParseFlags(
    const FlagTable& table, const std::vector<std::string>& args,
    const EnvironmentLookup& environment) {
  ArgumentScanner scanner(table, args);
  SEMRANK_RETURN_IF_ERROR(scanner.Scan());
  if (scanner.parsed().help || scanner.parsed().version) {
    return std::move(scanner.parsed());
  }
  // From the weakest source to the strongest: later values win.
  SEMRANK_RETURN_IF_ERROR(
      SetFromFiles(table, scanner.flagfiles(), environment));
  SEMRANK_RETURN_IF_ERROR(SetFromEnvironment(table, environment));
  for (const FlagSetting& setting : scanner.settings()) {
    SEMRANK_RETURN_IF_ERROR(SetFlag(
        *setting.flag, *setting.value,
        absl::StrFormat("--%s=%s", setting.flag->Name(), *setting.value)));
  }
  return std::move(scanner.parsed());
}

}  // namespace semrank
