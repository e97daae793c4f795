#include "model/cli/flag_sources.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/base/line_reader.h"
#include "model/base/near_match.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

// A larger file is not one of flags, and CLI11 would read all of it.
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

// "-" is standard input and "-5" a number. "-gamma=3" is taken for a flag
// although it lacks a dash, so that the error names the flag and not an
// unexpected argument.
bool LooksLikeFlag(std::string_view argument) {
  return argument.starts_with("--") ||
         (argument.size() > 1 && argument[0] == '-' &&
          absl::ascii_isalpha(argument[1]));
}

bool IsBoolean(std::string_view name, const ProgramCommand& program) {
  const Flag* flag = program.Find(name);
  return flag != nullptr && flag->spec.is_boolean;
}

bool TakesValue(std::string_view name, const ProgramCommand& program) {
  const Flag* flag = program.Find(name);
  return name == kConfigFlag || (flag != nullptr && !flag->spec.is_boolean);
}

// A flag may be named "noX" itself, such as --normalize.
bool IsNegated(std::string_view name, const ProgramCommand& program) {
  return program.Find(name) == nullptr && name.starts_with("no") &&
         IsBoolean(name.substr(2), program);
}

std::string EnvironmentName(std::string_view flag) {
  return "SEMRANK_" + absl::AsciiStrToUpper(ToAbsl(flag));
}

// Null also if the variable is empty: tools that start containers set a
// variable without a value to the empty text.
const char* FromEnvironment(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  return value == nullptr || *value == '\0' ? nullptr : value;
}

struct ConfigLine {
  std::string section;  // "a.b" of [a.b]; empty before any section
  std::string name;     // without dashes; empty where a section begins or ends
  std::string written;  // the name as it stands in the file
  std::vector<std::string> values;
};

// The position of the quote that closes the string which begins `text`; npos if
// none does. In "double quotes" a backslash escapes the character after it.
std::size_t EndOfString(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == text[0]) return i;
    if (text[i] == '\\' && text[0] == '"') ++i;
  }
  return std::string_view::npos;
}

bool IsQuote(char c) { return c == '"' || c == '\''; }

// CLI11 would cut "pass#word" at the #, in quotes too.
std::string_view WithoutComment(std::string_view line) {
  constexpr std::string_view kBeforeValue = " \t=,[";
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || absl::ascii_isspace(line[i - 1]))) {
      return line.substr(0, i);
    }
    // A string begins where a value does: the apostrophe of "Bob's" opens none.
    const bool may_begin =
        i == 0 || kBeforeValue.find(line[i - 1]) != kBeforeValue.npos;
    if (!IsQuote(line[i]) || !may_begin) continue;
    const std::size_t end = EndOfString(line.substr(i));
    if (end == std::string_view::npos) return line;
    i += end;
  }
  return line;
}

// Returns the content of `value` if all of it is one quoted string. In double
// quotes, \\ and \" are escapes; any other backslash is literal ("C:\new").
std::optional<std::string> UnquotedString(std::string_view value) {
  if (value.empty() || !IsQuote(value[0]) ||
      EndOfString(value) != value.size() - 1) {
    return std::nullopt;
  }
  const absl::string_view inside = ToAbsl(value.substr(1, value.size() - 2));
  if (value[0] == '\'') return std::string(inside);
  return absl::StrReplaceAll(inside, {{"\\\\", "\\"}, {"\\\"", "\""}});
}

// An address such as [::1]:50051, or several with commas between them: CLI11
// would read an array, and drop the last digit. In an array that ends in
// another line, a bracket or a comma precedes the end of the first address.
bool IsAddress(absl::string_view value) {
  return absl::StartsWith(value, "[") && !absl::EndsWith(value, "]") &&
         absl::StrContains(value, "]:") &&
         value.find_first_of("\"'") == value.npos &&
         value.substr(0, value.find("]:")).find_last_of("[,") == 0;
}

// Prefix of a value that is encoded as hexadecimal digits.
constexpr char kHexMark = '\x01';

// The line with a value that CLI11 2.1 cannot change: it takes the quotes of
// "'a b'" off twice, and a value with a blank and a backslash at its end
// together with its quote.
std::string WithSafeValue(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::string(line);
  const absl::string_view value =
      absl::StripAsciiWhitespace(ToAbsl(line.substr(equals + 1)));
  std::optional<std::string> text = UnquotedString(ToStd(value));
  if (!text && IsAddress(value)) text = std::string(value);
  if (!text) return std::string(line);
  return absl::StrCat(ToAbsl(line.substr(0, equals + 1)),
                      std::string(1, kHexMark), absl::BytesToHexString(*text));
}

std::string FromSafeValue(std::string value) {
  return value.empty() || value[0] != kHexMark
             ? value
             : absl::HexStringToBytes(value.substr(1));
}

std::string Prepared(std::string_view content) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(ToAbsl(content), '\n')) {
    lines += WithSafeValue(WithoutComment(ToStd(line))) + '\n';
  }
  return lines;
}

absl::StatusOr<std::vector<ConfigLine>> ReadConfigFile(
    const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path, kMaxConfigBytes);
  if (!content.ok()) {
    return UsageError(
        absl::StrFormat("%s: cannot be read as a file of --config: %s", path,
                        content.status().message()));
  }
  std::istringstream file(Prepared(WithoutByteOrderMark(*content)));
  CLI::ConfigTOML reader;
  reader.comment('\0');  // Comments are already removed.
  std::vector<ConfigLine> lines;
  for (CLI::ConfigItem& item : reader.from_config(file)) {
    std::ranges::transform(item.inputs, item.inputs.begin(), FromSafeValue);
    const bool is_mark = item.name == "++" || item.name == "--";
    const bool has_dashes = item.name.starts_with("--");
    lines.push_back(
        {.section = absl::StrJoin(item.parents, "."),
         .name = is_mark ? "" : item.name.substr(has_dashes ? 2 : 0),
         .written = item.name,
         .values = item.inputs});
  }
  return lines;
}

// What is wrong with a line of which no flag has the name. Messages name the
// flag as the user finds it in the file.
std::string UnknownFlag(const ConfigLine& line, const ProgramCommand& program) {
  const std::size_t blank = line.written.find_first_of(" \t");
  if (blank != std::string::npos) {
    // The rest of the line may be a secret.
    return absl::StrFormat("%s has no = before its value",
                           line.written.substr(0, blank));
  }
  std::vector<std::string> known;
  for (const Flag* flag : program.FlagsInUse()) {
    known.push_back(flag->spec.name);
  }
  const std::string dashes =
      line.written.substr(0, line.written.size() - line.name.size());
  return absl::StrFormat("unknown flag %s%s", line.written,
                         Hint(line.name, known, dashes));
}

absl::Status UseLine(const ConfigLine& line, const std::string& path,
                     ProgramCommand& program) {
  const auto wrong = [&path](std::string_view what) {
    return UsageError(absl::StrFormat("%s: %s", path, what));
  };
  ProgramCommand* const owner =
      line.section.empty() ? &program : program.FindCommand(line.section);
  if (owner == nullptr) {
    return wrong(absl::StrFormat("unknown section [%s]", line.section));
  }
  if (line.name.empty()) return absl::OkStatus();
  ProgramCommand* const selected = program.selected;
  // A line outside any section may be a flag of the given command: one file
  // then serves a program without sections.
  Flag* flag = owner->FindOwn(line.name);
  if (flag == nullptr && owner == &program && selected != nullptr) {
    flag = selected->FindOwn(line.name);
  }
  if (flag == nullptr) return wrong(UnknownFlag(line, program));
  if (line.values.size() > 1 && !flag->spec.is_list) {
    return wrong(absl::StrFormat(
        "%s has several values: give it in one line, in quotes if it has "
        "blanks or commas",
        line.written));
  }
  // Sections of other commands are checked but not used: one file may serve
  // all commands. A file never replaces what the environment or the command
  // line gave.
  const bool in_use = owner == &program || owner == selected;
  if (in_use && flag->source <= FlagSource::kFile) {
    flag->Give(FlagSource::kFile, absl::StrJoin(line.values, ","),
               absl::StrFormat("%s: %s", path, line.written));
  }
  return absl::OkStatus();
}

absl::Status UseFile(const std::string& path, ProgramCommand& program) {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<ConfigLine> lines,
                           ReadConfigFile(path));
  // In order: of two lines with one flag the later one wins.
  for (const ConfigLine& line : lines) {
    SEMRANK_RETURN_IF_ERROR(UseLine(line, path, program));
  }
  return absl::OkStatus();
}

}  // namespace

SplitArguments Split(const std::vector<std::string>& arguments,
                     const ProgramCommand& program) {
  SplitArguments result;
  bool awaits_command = !program.commands.empty();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      result.words.insert(result.words.end(), arguments.begin() + i + 1,
                          arguments.end());
      break;
    }
    if (!LooksLikeFlag(argument)) {
      if (!std::exchange(awaits_command, false)) {
        result.words.push_back(argument);
      } else if (program.FindCommand(argument) != nullptr) {
        result.tokens.push_back(argument);
      } else {
        result.wrong_command = argument;
      }
      continue;
    }
    const std::size_t equals = argument.find('=');
    const bool has_value = equals != std::string::npos;
    // Empty with a single dash, which no flag has.
    const std::string name = argument.starts_with("--")
                                 ? argument.substr(2, equals - 2)
                                 : std::string();
    if (has_value && IsNegated(name, program)) {
      result.negated_with_value = name.substr(2);
    } else if (!TakesValue(name, program)) {
      result.tokens.push_back(argument);
    } else if (has_value) {
      result.tokens.push_back("--" + name);
      result.tokens.push_back(argument.substr(equals + 1));
      // A value may begin with one dash, as -5 does. Two dashes are the next
      // flag, so this one has lost its value.
    } else if (i + 1 < arguments.size() &&
               !arguments[i + 1].starts_with("--")) {
      result.tokens.push_back(argument);
      result.tokens.push_back(arguments[++i]);
    } else if (result.without_value.empty()) {
      result.without_value = name;
    }
  }
  return result;
}

absl::Status GatherValues(ProgramCommand& program,
                          std::vector<std::string> config_files) {
  for (Flag* flag : program.FlagsInUse()) {
    flag->source = FlagSource::kDefault;
    // Files are read after this loop, as a later file wins over an earlier one.
    if (flag->option->count() > 0) {
      const std::vector<std::string> values = flag->option->results();
      flag->Give(
          FlagSource::kCommandLine,
          flag->spec.is_repeated ? absl::StrJoin(values, ",") : values.back(),
          "--" + flag->spec.name);
      continue;
    }
    const std::string variable = EnvironmentName(flag->spec.name);
    if (const char* value = FromEnvironment(variable); value != nullptr) {
      flag->Give(FlagSource::kEnvironment, value, variable);
    }
  }
  // --config is stronger than its variable, as with every flag.
  if (const char* path = FromEnvironment(EnvironmentName(kConfigFlag));
      path != nullptr && config_files.empty()) {
    config_files.push_back(path);
  }
  for (const std::string& path : config_files) {
    SEMRANK_RETURN_IF_ERROR(UseFile(path, program));
  }
  return absl::OkStatus();
}

}  // namespace semrank
