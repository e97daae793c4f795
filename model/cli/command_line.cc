#include "model/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "model/base/near_match.h"
#include "model/base/simd_level.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/base/version.h"
#include "model/cli/flag_sources.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// A help text that could not be written is a failure.
int PrintHelp(const std::string& text) {
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return printed ? kExitDone : kExitFailed;
}

}  // namespace

// The strings of TOML: 'literal', where a backslash is itself, and "basic",
// where \" and \\ stand for a quote and a backslash.
std::string QuotedForConfig(const std::string& value) {
  // Without quotes CLI11 would read several values, an array or a comment.
  const bool is_plain =
      !value.empty() && value.find_first_of(" \t,#[\"'`") == std::string::npos;
  if (is_plain) return value;
  const bool needs_escapes = value.find_first_of("\"\\") != std::string::npos;
  if (needs_escapes && value.find('\'') == std::string::npos) {
    return absl::StrCat("'", value, "'");
  }
  return absl::StrCat(
      "\"", absl::StrReplaceAll(value, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string FormatConfig(const std::vector<FlagValue>& values) {
  std::string text;
  for (const FlagValue& flag : values) {
    absl::StrAppend(&text, flag.name, "=", QuotedForConfig(flag.value), "\n");
  }
  return text;
}

// The struct is not in the header, because CLI11 is slow to compile.
struct CommandLine::Impl : ProgramCommand {
  std::unique_ptr<CLI::App> root_app;
  std::string group = "Flags";
  Level level = Level::kCommon;
  std::vector<std::unique_ptr<CommandLine>> command_lines;
  // The flags that every program has.
  CLI::Option* help = nullptr;
  CLI::Option* help_all = nullptr;
  CLI::Option* version = nullptr;
  CLI::Option* config = nullptr;

  // Checks what is neither a known flag nor the value of one.
  absl::Status CheckExtras(SplitArguments given) {
    if (!given.wrong_command.empty()) {
      std::vector<std::string> names;
      for (const ProgramCommand* command : commands) {
        names.emplace_back(command->info.name);
      }
      const std::string hint = Hint(given.wrong_command, names, "");
      return UsageError(absl::StrFormat(
          "no command '%s'%s", given.wrong_command,
          hint.empty()
              ? absl::StrFormat(" (there is %s)", absl::StrJoin(names, ", "))
              : hint));
    }
    // The first problem of the line is named, in the order in which a person
    // would look for it.
    const std::vector<std::string> unknown = app->remaining(/*recurse=*/true);
    if (!unknown.empty()) return UnknownFlag(unknown.front());
    if (!given.without_value.empty()) {
      return UsageError(absl::StrFormat(
          "--%s: needs a value, as --%s=%s", given.without_value,
          given.without_value, FormOf(given.without_value)));
    }
    if (const std::string& name = given.negated_with_value; !name.empty()) {
      return UsageError(
          absl::StrFormat("--no%s: takes no value; write --no%s or --%s=VALUE",
                          name, name, name));
    }
    if (used().arguments != nullptr) {
      *used().arguments = std::move(given.words);
    } else if (!given.words.empty()) {
      return UsageError(
          absl::StrFormat("unexpected argument '%s'", given.words[0]));
    }
    return absl::OkStatus();
  }

  absl::Status SetFields() {
    for (const Flag* flag : FlagsInUse()) {
      // The field holds its default already, perhaps one that no text stands
      // for.
      if (flag->source == FlagSource::kDefault) continue;
      const absl::Status status = flag->spec.set(flag->value);
      if (!status.ok()) {
        return UsageError(
            absl::StrFormat("%s: %s", flag->origin, status.message()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status UnknownFlag(const std::string& written) const {
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

  // "FILE" of --config=FILE.
  std::string FormOf(std::string_view name) const {
    for (const Flag* flag : FlagsInUse()) {
      if (flag->spec.name == name) return flag->spec.form;
    }
    return "FILE";  // --config
  }
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
    // All values are kept; GatherValues decides which of them count.
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

void CommandLine::DescribeDefault(std::string_view name,
                                  std::string_view text) {
  Flag* flag = impl_->FindOwn(name);
  assert(flag != nullptr);
  flag->default_value = text;
}

void CommandLine::HideSecrets(
    std::string_view name,
    std::function<std::string(const std::string&)> hide) {
  Flag* flag = impl_->FindOwn(name);
  assert(flag != nullptr);
  flag->hide_secrets = std::move(hide);
}

void CommandLine::AddHelp(std::string_view title, std::string_view text) {
  impl_->help_entries.push_back({.group = impl_->group,
                                 .form = std::string(title),
                                 .help = std::string(text)});
}

void CommandLine::AddHelpTopic(HelpTopic topic) {
  impl_->help_topics.push_back(std::move(topic));
}

void CommandLine::AddArguments(std::vector<std::string>* field) {
  impl_->arguments = field;
}

CommandLine& CommandLine::AddCommand(const ProgramInfo& info) {
  // make_unique cannot call the private constructor.
  std::unique_ptr<CommandLine> command(new CommandLine(info, impl_.get()));
  command->impl_->app = impl_->app->add_subcommand(std::string(info.name));
  command->impl_->app->set_help_flag();
  impl_->commands.push_back(command->impl_.get());
  impl_->command_lines.push_back(std::move(command));
  return *impl_->command_lines.back();
}

std::string_view CommandLine::command() const {
  return impl_->selected == nullptr ? "" : impl_->selected->info.name;
}

absl::StatusOr<std::string> CommandLine::ParseArguments(
    const std::vector<std::string>& arguments) {
  // Split takes apart what CLI11 would misread; CLI11 assigns the rest to flags
  // and commands. Help and version come before the errors below, so that they
  // work in a line that is wrong elsewhere. Values are read last, when each
  // flag has its strongest source.
  SplitArguments given = Split(arguments, *impl_);
  impl_->selected = nullptr;
  try {
    // CLI11 takes them from the back.
    std::vector<std::string> tokens(given.tokens.rbegin(), given.tokens.rend());
    impl_->app->parse(std::move(tokens));
  } catch (const CLI::Error& error) {
    return UsageError(error.what());
  }
  // CLI11 knows the command only after it has parsed the tokens.
  for (ProgramCommand* command : impl_->commands) {
    if (command->app->parsed()) impl_->selected = command;
  }
  if (impl_->version->count() > 0) {
    const std::string note =
        impl_->info.build_note.empty()
            ? ""
            : absl::StrFormat(" (%s)", impl_->info.build_note);
    return absl::StrFormat("%s %s%s\n", impl_->info.name, Version(), note);
  }
  const bool all = impl_->help_all->count() > 0;
  if (all || impl_->help->count() > 0) {
    return HelpText(*impl_, all, given.words);
  }
  SEMRANK_RETURN_IF_ERROR(impl_->CheckExtras(std::move(given)));
  // Before any kernel runs; all programs pass here.
  const absl::Status simd = UseSimdLevelOfEnvironment();
  if (!simd.ok()) return UsageError(ToStd(simd.message()));
  SEMRANK_RETURN_IF_ERROR(GatherValues(*impl_, impl_->config->results()));
  SEMRANK_RETURN_IF_ERROR(impl_->SetFields());
  return std::string();
}

std::optional<int> CommandLine::Parse(int argc, const char* const* argv) {
  // POSIX allows a program to be started without any argument, not even its
  // name (argc 0).
  const auto text = ParseArguments(
      std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  if (!text.ok()) {
    const std::string& name = impl_->used().full_name;
    absl::FPrintF(stderr, "%s: %s\nTry '%s --help'.\n", name,
                  EscapeControls(ToStd(text.status().message())), name);
    return kExitWrongUse;
  }
  if (!text->empty()) return PrintHelp(*text);
  return std::nullopt;
}

absl::Status CommandLine::SetDefault(std::string_view name,
                                     const std::string& value,
                                     std::string_view source) {
  Flag* flag = impl_->FindOwn(name);
  assert(flag != nullptr);
  if (flag->source != FlagSource::kDefault) return absl::OkStatus();
  flag->default_source = source;
  const absl::Status status = flag->spec.set(value);
  if (status.ok()) return status;
  return UsageError(absl::StrFormat("--%s=%s of %s: %s", name, value, source,
                                    status.message()));
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
    values.push_back(
        {.name = flag->spec.name,
         .value = flag->Shown(flag->spec.get()),
         .source = flag->source == FlagSource::kDefault
                       ? flag->default_source
                       : std::string(FlagSourceName(flag->source))});
  }

  return values;
}

int CommandLine::ExitCode(const absl::Status& status) const {
  return semrank::ExitCode(impl_->used().full_name, status);
}

}  // namespace semrank
