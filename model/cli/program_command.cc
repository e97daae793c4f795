#include "model/cli/program_command.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// As wide as the usage texts.
constexpr int kHelpColumns = 100;

std::string WrapLine(absl::string_view line, const std::string& margin) {
  std::string wrapped = margin;
  std::size_t column = margin.size();
  for (const absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    const bool first = column == margin.size();
    // A word that is longer than a line gets one of its own.
    if (!first && column + 1 + word.size() > kHelpColumns) {
      wrapped += "\n" + margin;
      column = margin.size();
    } else if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped.append(word.data(), word.size());
    column += word.size();
  }
  return wrapped + "\n";
}

// Breaks `text` at blanks into lines of at most kHelpColumns bytes, each
// indented by `indent` blanks and ended by "\n"; longer words stay whole. Line
// ends in `text` are kept.
std::string WrapText(std::string_view text, int indent) {
  const std::string margin(indent, ' ');
  std::string wrapped;
  for (const absl::string_view line : absl::StrSplit(ToAbsl(text), '\n')) {
    wrapped += WrapLine(line, margin);
  }
  return wrapped;
}

HelpEntry EntryOf(const Flag& flag) {
  const FlagSpec& spec = flag.spec;
  const std::string value =
      flag.default_value.empty() ? "none" : flag.default_value;
  return {.group = flag.group,
          .form = spec.is_boolean
                      ? "--[no]" + spec.name
                      : absl::StrFormat("--%s=%s", spec.name, spec.form),
          .facts = "default: " + value +
                   (spec.limits.empty() ? "" : "; " + spec.limits),
          .help = spec.help};
}

// Null if the first word names no topic.
const HelpTopic* FindTopic(const ProgramCommand& command,
                           const std::vector<std::string>& words) {
  if (words.empty()) return nullptr;
  const auto found =
      std::ranges::find(command.help_topics, words.front(), &HelpTopic::word);
  return found == command.help_topics.end() ? nullptr : &*found;
}

// A heading for each group and its entries.
std::string FormatHelp(const std::vector<HelpEntry>& entries) {
  // In order of first appearance: flags of one group may be added in
  // several places.
  std::vector<std::string> groups;
  for (const HelpEntry& entry : entries) {
    if (std::ranges::find(groups, entry.group) == groups.end()) {
      groups.push_back(entry.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    absl::StrAppendFormat(&text, "\n%s:\n", group);
    for (const HelpEntry& entry : entries) {
      if (entry.group != group) continue;
      absl::StrAppendFormat(
          &text, "  %s%s\n%s", entry.form,
          entry.facts.empty() ? "" : absl::StrFormat(" (%s)", entry.facts),
          WrapText(entry.help, /*indent=*/6));
    }
  }
  return text;
}

}  // namespace

void Flag::Give(FlagSource from, const std::string& text,
                std::string_view written_before) {
  source = from;
  value = text;
  origin = absl::StrFormat("%s=%s", written_before, Shown(text));
}

std::vector<Flag*> ProgramCommand::FlagsInUse() const {
  std::vector<Flag*> in_use;
  for (const ProgramCommand* command :
       {static_cast<const ProgramCommand*>(selected), this}) {
    if (command == nullptr) continue;
    for (const auto& flag : command->flags) in_use.push_back(flag.get());
  }
  return in_use;
}

Flag* ProgramCommand::FindOwn(std::string_view name) const {
  const auto found = std::ranges::find_if(
      flags, [name](const auto& flag) { return flag->spec.name == name; });
  return found == flags.end() ? nullptr : found->get();
}

Flag* ProgramCommand::Find(std::string_view name) const {
  // A flag of the program hides one of a command with the same name.
  if (Flag* flag = FindOwn(name); flag != nullptr) return flag;
  for (const ProgramCommand* command : commands) {
    if (Flag* flag = command->FindOwn(name); flag != nullptr) return flag;
  }
  return nullptr;
}

ProgramCommand* ProgramCommand::FindCommand(std::string_view name) const {
  const auto found =
      std::ranges::find_if(commands, [name](const ProgramCommand* command) {
        return command->info.name == name;
      });
  return found == commands.end() ? nullptr : *found;
}

std::string_view FlagSourceName(FlagSource source) {
  // In the order of the values.
  constexpr std::string_view kNames[] = {"default", "config file",
                                         "environment", "command line"};
  return kNames[static_cast<int>(source)];
}

std::string HelpText(const ProgramCommand& program, bool all,
                     const std::vector<std::string>& words) {
  const ProgramCommand& shown = program.used();
  const HelpTopic* const topic = FindTopic(shown, words);
  std::string text =
      absl::StrFormat("%s: %s\n\n%s", shown.full_name, shown.info.summary,
                      topic == nullptr ? shown.info.usage : topic->usage);
  if (!text.ends_with('\n')) text += '\n';
  if (!shown.commands.empty()) {
    text += "\nCommands:\n";
    for (const ProgramCommand* command : shown.commands) {
      absl::StrAppendFormat(&text, "  %-10s %s\n", command->info.name,
                            command->info.summary);
    }
    absl::StrAppendFormat(&text, "'%s COMMAND --help' lists its flags.\n",
                          program.info.name);
  }
  std::vector<HelpEntry> entries;
  // Their number is printed, so that readers know of --help-all.
  int num_hidden = 0;
  for (const Flag* flag : program.FlagsInUse()) {
    if (topic != nullptr &&
        std::ranges::count(topic->flags, flag->spec.name) == 0) {
      continue;
    }
    if (flag->is_advanced && !all) {
      ++num_hidden;
      continue;
    }
    entries.push_back(EntryOf(*flag));
  }
  entries.insert(entries.end(), shown.help_entries.begin(),
                 shown.help_entries.end());
  // Flags that every program has, and that are not a Flag object.
  constexpr char kGeneral[] = "General";
  const HelpEntry general[] = {
      {kGeneral, "--config=FILE", "",
       "Reads flags from FILE: a line name = value for each, # before a "
       "comment. The command line wins over the environment (SEMRANK_<NAME>), "
       "the environment over FILE."},
      {kGeneral, "--help", "", "Prints the common flags and exits."},
      {kGeneral, "--help-all", "", "Prints all flags and exits."},
      {kGeneral, "--version", "", "Prints the release and exits."}};
  entries.insert(entries.end(), std::begin(general), std::end(general));
  text += FormatHelp(entries);
  if (num_hidden > 0) {
    absl::StrAppendFormat(&text, "\n%d more flags: '%s --help-all'.\n",
                          num_hidden, shown.full_name);
  }
  return text;
}

}  // namespace semrank
