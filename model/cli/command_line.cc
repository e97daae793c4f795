#include "model/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/simd_level.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "model/cli/arguments.h"
#include "model/cli/config_file.h"
#include "model/cli/help_text.h"
#include "model/cli/near_match.h"
#include "model/cli/terminal_text.h"

namespace semrank {
namespace {

constexpr std::string_view kConfigFlag = "config";

std::string EnvironmentName(std::string_view flag) {
  return "SEMRANK_" + absl::AsciiStrToUpper(ToAbsl(flag));
}

std::string Hint(std::string_view typed, const std::vector<std::string>& names,
                 std::string_view prefix) {
  const std::string near = NearMatch(typed, names);
  return near.empty() ? ""
                      : absl::StrFormat(" (did you mean %s%s?)", prefix, near);
}

// Results that did not reach the reader are a failure.
int PrintHelp(const std::string& text) {
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return printed ? kExitDone : kExitFailed;
}

}  // namespace

struct CommandLine::Flag {
  FlagSpec spec;
  std::string group;
  bool is_advanced;
  std::string default_value;
  std::function<std::string(const std::string&)> hide_secrets;
  CLI::Option* option;
  // The strongest source that gave a value, that value, and how it was written
  // there: "--gamma=3", "SEMRANK_GAMMA=3", "semrank.toml: gamma=3".
  FlagSource source = FlagSource::kDefault;
  std::string value;
  std::string origin;

  std::string Shown(const std::string& text) const {
    return hide_secrets ? hide_secrets(text) : text;
  }
  void Give(FlagSource from, const std::string& text,
            std::string_view written_before) {
    source = from;
    value = text;
    origin = absl::StrFormat("%s=%s", written_before, Shown(text));
  }
};

struct CommandLine::Impl {
  ProgramInfo info;
  std::string full_name;  // "semrank rank"
  std::unique_ptr<CLI::App> root_app;
  CLI::App* app = nullptr;
  std::string group = "Flags";
  Level level = Level::kCommon;
  std::vector<std::unique_ptr<Flag>> flags;
  std::vector<std::string>* arguments = nullptr;
  std::vector<std::unique_ptr<CommandLine>> commands;
  Impl* selected = nullptr;  // the command that was given
  // Flags that every program has.
  CLI::Option* help = nullptr;
  CLI::Option* help_all = nullptr;
  CLI::Option* version = nullptr;
  CLI::Option* config = nullptr;

  // Flags of the given command, then those of this.
  std::vector<Flag*> FlagsInUse() const {
    std::vector<Flag*> in_use;
    for (const Impl* impl : {static_cast<const Impl*>(selected), this}) {
      if (impl == nullptr) continue;
      for (const auto& flag : impl->flags) in_use.push_back(flag.get());
    }
    return in_use;
  }
  Flag* FindOwn(std::string_view name) const {
    const auto found = std::ranges::find_if(
        flags, [name](const auto& flag) { return flag->spec.name == name; });
    return found == flags.end() ? nullptr : found->get();
  }
  // A flag of this or of any command.
  Flag* Find(std::string_view name) const {
    if (Flag* flag = FindOwn(name); flag != nullptr) return flag;
    for (const auto& command : commands) {
      if (Flag* flag = command->impl_->FindOwn(name); flag != nullptr) {
        return flag;
      }
    }
    return nullptr;
  }
  Impl* FindCommand(std::string_view name) const {
    for (const auto& command : commands) {
      if (command->impl_->info.name == name) return command->impl_.get();
    }
    return nullptr;
  }

  KnownNames Names() const;
  absl::Status CheckExtras(Arguments given);
  absl::Status UnknownFlag(const std::string& written) const;
  absl::Status UseConfigFile(const std::string& path);
  absl::Status UseConfigLine(const ConfigLine& line, const std::string& path);
  absl::Status GatherValues();
  std::string HelpText(bool all) const;
};

CommandLine::CommandLine(const ProgramInfo& info)
    : CommandLine(info, /*parent=*/nullptr) {
  impl_->root_app = std::make_unique<CLI::App>();
  CLI::App& app = *impl_->root_app;
  impl_->app = &app;
  // CLI11 would answer --help itself, by an exception.
  app.set_help_flag();
  // CheckExtras names what CLI11 does not know.
  app.allow_extras();
  // Flags of the program may stand after the command.
  app.fallthrough();
  app.require_subcommand(0, 1);
  impl_->help = app.add_flag("-h,--help");
  impl_->help_all = app.add_flag("--help-all");
  impl_->version = app.add_flag("--version");
  impl_->config =
      app.add_option(absl::StrFormat("--%s", kConfigFlag))->take_all();
}

CommandLine::CommandLine(const ProgramInfo& info, Impl* parent)
    : impl_(std::make_unique<Impl>()) {
  impl_->info = info;
  impl_->full_name =
      parent == nullptr
          ? std::string(info.name)
          : absl::StrFormat("%s %s", parent->info.name, info.name);
}

CommandLine::~CommandLine() = default;

void CommandLine::Group(std::string_view title, Level level) {
  impl_->group = title;
  impl_->level = level;
}

void CommandLine::Add(FlagSpec spec) {
  auto flag = std::make_unique<Flag>();
  const std::string name = "--" + spec.name;
  if (spec.is_boolean) {
    // CLI11 takes "!--noX" for the negative of --X and stores "false".
    flag->option =
        impl_->app->add_flag(absl::StrFormat("%s,!--no%s", name, spec.name));
  } else {
    // All values are kept; the last one wins, as it is the one that
    // GatherValues reads.
    flag->option = impl_->app->add_option(name)->take_all();
  }
  flag->group = impl_->group;
  flag->is_advanced = impl_->level == Level::kAdvanced;
  // Read back from the field: --help cannot state another default than the one
  // that is used.
  flag->default_value = spec.get();
  flag->spec = std::move(spec);
  impl_->flags.push_back(std::move(flag));
}

void CommandLine::HideSecrets(
    std::string_view name,
    std::function<std::string(const std::string&)> hide) {
  Flag* flag = impl_->FindOwn(name);
  assert(flag != nullptr);
  flag->hide_secrets = std::move(hide);
}

void CommandLine::AddArguments(std::vector<std::string>* field) {
  impl_->arguments = field;
}

CommandLine& CommandLine::AddCommand(const ProgramInfo& info) {
  // make_unique cannot call the private constructor.
  std::unique_ptr<CommandLine> command(new CommandLine(info, impl_.get()));
  command->impl_->app = impl_->app->add_subcommand(std::string(info.name));
  command->impl_->app->set_help_flag();
  impl_->commands.push_back(std::move(command));
  return *impl_->commands.back();
}

std::string_view CommandLine::command() const {
  return impl_->selected == nullptr ? "" : impl_->selected->info.name;
}

KnownNames CommandLine::Impl::Names() const {
  using Kind = KnownNames::Kind;
  return {.flag =
              [this](std::string_view name) {
                if (name == kConfigFlag) return Kind::kWithValue;
                const Flag* flag = Find(name);
                if (flag == nullptr) return Kind::kUnknown;
                return flag->spec.is_boolean ? Kind::kBoolean
                                             : Kind::kWithValue;
              },
          .is_command =
              [this](std::string_view name) {
                return FindCommand(name) != nullptr;
              },
          .has_commands = !commands.empty()};
}

absl::Status CommandLine::Impl::UnknownFlag(const std::string& written) const {
  const std::string typed = written.substr(0, written.find('='));
  const std::string name =
      typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
  if (selected != nullptr && selected->FindOwn(name) != nullptr) {
    return UsageError(absl::StrFormat("%s must stand after the command %s",
                                      typed, selected->info.name));
  }
  // Candidates for "did you mean".
  std::vector<std::string> known = {std::string(kConfigFlag), "help",
                                    "help-all", "version"};
  for (const Flag* flag : FlagsInUse()) {
    known.push_back(flag->spec.name);
    if (flag->spec.is_boolean) known.push_back("no" + flag->spec.name);
  }
  return UsageError(
      absl::StrFormat("unknown flag %s%s", typed, Hint(name, known, "--")));
}

// Checks what is neither a known flag nor the value of one.
absl::Status CommandLine::Impl::CheckExtras(Arguments given) {
  if (!given.wrong_command.empty()) {
    std::vector<std::string> names;
    for (const auto& command : commands) {
      names.emplace_back(command->impl_->info.name);
    }
    const std::string hint = Hint(given.wrong_command, names, "");
    return UsageError(absl::StrFormat(
        "no command '%s'%s", given.wrong_command,
        hint.empty()
            ? absl::StrFormat(" (there is %s)", absl::StrJoin(names, ", "))
            : hint));
  }
  const std::vector<std::string> unknown = app->remaining(/*recurse=*/true);
  if (!unknown.empty()) return UnknownFlag(unknown.front());
  if (!given.without_value.empty()) {
    return UsageError(absl::StrFormat("--%s: needs a value, as --%s=VALUE",
                                      given.without_value,
                                      given.without_value));
  }
  if (const std::string& name = given.negated_with_value; !name.empty()) {
    return UsageError(
        absl::StrFormat("--no%s: takes no value; write --no%s or --%s=VALUE",
                        name, name, name));
  }
  std::vector<std::string>* field =
      selected == nullptr ? arguments : selected->arguments;
  if (field != nullptr) {
    *field = std::move(given.words);
  } else if (!given.words.empty()) {
    return UsageError(
        absl::StrFormat("unexpected argument '%s'", given.words[0]));
  }
  return absl::OkStatus();
}

absl::Status CommandLine::Impl::UseConfigLine(const ConfigLine& line,
                                              const std::string& path) {
  const auto wrong = [&path](std::string_view what) {
    return UsageError(absl::StrFormat("%s: %s", path, what));
  };
  Impl* owner = line.section.empty() ? this : FindCommand(line.section);
  if (owner == nullptr) {
    return wrong(absl::StrFormat("unknown section [%s]", line.section));
  }
  if (line.name.empty()) return absl::OkStatus();
  // A line outside any section may be a flag of the given command: one file
  // then serves a program without sections.
  Flag* flag = owner->FindOwn(line.name);
  if (flag == nullptr && owner == this && selected != nullptr) {
    flag = selected->FindOwn(line.name);
  }
  if (flag == nullptr) {
    std::vector<std::string> known;
    for (const Flag* candidate : FlagsInUse()) {
      known.push_back(candidate->spec.name);
    }
    return wrong(absl::StrFormat("unknown flag %s%s", line.name,
                                 Hint(line.name, known, "")));
  }
  if (line.values.size() > 1 && !flag->spec.is_list) {
    return wrong(absl::StrFormat(
        "%s has several values; one with blanks or commas needs quotes",
        line.name));
  }
  // Sections of other commands are checked, but not used.
  const bool in_use = owner == this || owner == selected;
  if (in_use && flag->source <= FlagSource::kFile) {
    flag->Give(FlagSource::kFile, absl::StrJoin(line.values, ","),
               absl::StrFormat("%s: %s", path, line.name));
  }
  return absl::OkStatus();
}

absl::Status CommandLine::Impl::UseConfigFile(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<ConfigLine> lines,
                           ReadConfigFile(path));
  for (const ConfigLine& line : lines) {
    SEMRANK_RETURN_IF_ERROR(UseConfigLine(line, path));
  }
  return absl::OkStatus();
}

// Notes for each flag the value of its strongest source. CLI11 would prefer the
// file to the environment.
absl::Status CommandLine::Impl::GatherValues() {
  for (Flag* flag : FlagsInUse()) {
    flag->source = FlagSource::kDefault;
    // From the strongest source to the weakest; files come after this loop, as
    // a later file wins over an earlier one.
    if (flag->option->count() > 0) {
      flag->Give(FlagSource::kCommandLine, flag->option->results().back(),
                 "--" + flag->spec.name);
      continue;
    }
    const std::string variable = EnvironmentName(flag->spec.name);
    if (const char* value = std::getenv(variable.c_str()); value != nullptr) {
      flag->Give(FlagSource::kEnvironment, value, variable);
    }
  }
  std::vector<std::string> files = config->results();
  if (const char* path = std::getenv(EnvironmentName(kConfigFlag).c_str());
      path != nullptr && files.empty()) {
    files.push_back(path);
  }
  for (const std::string& path : files) {
    SEMRANK_RETURN_IF_ERROR(UseConfigFile(path));
  }
  return absl::OkStatus();
}

std::string CommandLine::Impl::HelpText(bool all) const {
  const Impl& shown = selected == nullptr ? *this : *selected;
  std::string text = absl::StrFormat("%s: %s\n\n%s", shown.full_name,
                                     shown.info.summary, shown.info.usage);
  if (!text.ends_with('\n')) text += '\n';
  if (!shown.commands.empty()) {
    text += "\nCommands:\n";
    for (const auto& command : shown.commands) {
      absl::StrAppendFormat(&text, "  %-10s %s\n", command->impl_->info.name,
                            command->impl_->info.summary);
    }
    absl::StrAppendFormat(&text, "'%s COMMAND --help' lists its flags.\n",
                          info.name);
  }
  std::vector<HelpEntry> entries;
  int num_hidden = 0;
  for (const Flag* flag : FlagsInUse()) {
    if (flag->is_advanced && !all) {
      ++num_hidden;
      continue;
    }
    const FlagSpec& spec = flag->spec;
    std::string facts =
        "default: " +
        (flag->default_value.empty() ? "none" : flag->default_value);
    if (!spec.limits.empty()) facts += "; " + spec.limits;
    entries.push_back(
        {.group = flag->group,
         .form = spec.is_boolean
                     ? "--[no]" + spec.name
                     : absl::StrFormat("--%s=%s", spec.name, spec.form),
         .facts = facts,
         .help = spec.help});
  }
  constexpr char kGeneral[] = "General";
  entries.push_back(
      {kGeneral, "--config=FILE", "",
       "Reads flags from FILE: a line name = value for each, # before a "
       "comment. "
       "The command line wins over the environment (SEMRANK_<NAME>), the "
       "environment over FILE."});
  entries.push_back(
      {kGeneral, "--help", "", "Prints the common flags and exits."});
  entries.push_back(
      {kGeneral, "--help-all", "", "Prints all flags and exits."});
  entries.push_back(
      {kGeneral, "--version", "", "Prints the release and exits."});
  text += FormatHelp(entries);
  if (num_hidden > 0) {
    absl::StrAppendFormat(&text, "\n%d more flags: '%s --help-all'.\n",
                          num_hidden, shown.full_name);
  }
  return text;
}

absl::StatusOr<std::string> CommandLine::ParseArguments(
    const std::vector<std::string>& arguments) {
  Arguments given = TakeApart(arguments, impl_->Names());
  impl_->selected = nullptr;
  try {
    // CLI11 takes them from the back.
    std::vector<std::string> tokens(given.tokens.rbegin(), given.tokens.rend());
    impl_->app->parse(std::move(tokens));
  } catch (const CLI::Error& error) {
    return UsageError(error.what());
  }
  for (const auto& command : impl_->commands) {
    if (command->impl_->app->parsed()) impl_->selected = command->impl_.get();
  }
  if (impl_->version->count() > 0) {
    const std::string note =
        impl_->info.build_note.empty()
            ? ""
            : absl::StrFormat(" (%s)", impl_->info.build_note);
    return absl::StrFormat("%s %s%s\n", impl_->info.name, Version(), note);
  }
  const bool all = impl_->help_all->count() > 0;
  if (all || impl_->help->count() > 0) return impl_->HelpText(all);
  SEMRANK_RETURN_IF_ERROR(impl_->CheckExtras(std::move(given)));
  const absl::Status simd = UseSimdLevelOfEnvironment();
  if (!simd.ok()) return UsageError(ToStd(simd.message()));
  SEMRANK_RETURN_IF_ERROR(impl_->GatherValues());
  SEMRANK_RETURN_IF_ERROR(Apply());
  return std::string();
}

std::optional<int> CommandLine::Parse(int argc, const char* const* argv) {
  // A caller may hand over no name at all (argc 0).
  const auto text = ParseArguments(
      std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (!text.ok()) {
    const std::string& name =
        (impl_->selected == nullptr ? impl_.get() : impl_->selected)->full_name;
    absl::FPrintF(stderr, "%s: %s\nTry '%s --help'.\n", name,
                  EscapeControls(ToStd(text.status().message())), name);
    return kExitWrongUse;
  }
  if (!text->empty()) return PrintHelp(*text);
  return std::nullopt;
}

absl::Status CommandLine::Apply() {
  for (const Flag* flag : impl_->FlagsInUse()) {
    if (flag->source == FlagSource::kDefault) continue;
    const absl::Status status = flag->spec.set(flag->value);
    if (!status.ok()) {
      return UsageError(
          absl::StrFormat("%s: %s", flag->origin, status.message()));
    }
  }
  return absl::OkStatus();
}

FlagSource CommandLine::Source(std::string_view name) const {
  for (const Flag* flag : impl_->FlagsInUse()) {
    if (flag->spec.name == name) return flag->source;
  }
  assert(false && "no such flag");
  return FlagSource::kDefault;
}

std::vector<FlagValue> CommandLine::Values() const {
  std::vector<FlagValue> values;
  for (const Flag* flag : impl_->FlagsInUse()) {
    values.push_back({.name = flag->spec.name,
                      .value = flag->Shown(flag->spec.get()),
                      .source = std::string(FlagSourceName(flag->source))});
  }
  return values;
}

int CommandLine::ExitCode(const absl::Status& status) const {
  const Impl& used = impl_->selected == nullptr ? *impl_ : *impl_->selected;
  return semrank::ExitCode(used.full_name, status);
}

std::string_view FlagSourceName(FlagSource source) {
  switch (source) {
    case FlagSource::kDefault:
      return "default";
    case FlagSource::kFile:
      return "config file";
    case FlagSource::kEnvironment:
      return "environment";
    case FlagSource::kCommandLine:
      return "command line";
  }
  return "";
}

}  // namespace semrank
