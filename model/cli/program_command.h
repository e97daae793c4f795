// A program or one of its commands: its name and texts, its flags, and the
// values that they were given. CommandLine (command_line.h) fills it.
#ifndef SEMRANK_MODEL_CLI_PROGRAM_COMMAND_H_
#define SEMRANK_MODEL_CLI_PROGRAM_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/cli/flag_spec.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace semrank {

struct ProgramInfo {
  std::string_view name;          // "semrank-train"
  std::string_view summary = "";  // one line: what it does
  // The text of --help above the flags: synopsis, examples.
  std::string_view usage = "";
  std::string_view build_note = "";  // --version adds it in brackets
};

enum class FlagSource { kDefault, kFile, kEnvironment, kCommandLine };

// "default", "config file", "environment" or "command line".
std::string_view FlagSourceName(FlagSource source);

struct Flag {
  FlagSpec spec;
  std::string group;
  bool is_advanced;
  std::string default_value;
  std::function<std::string(const std::string&)> hide_secrets;
  CLI::Option* option;  // owned by its command's app
  // The strongest source that gave a value, that value, and how it was written
  // there: "--gamma=3", "SEMRANK_GAMMA=3", "semrank.toml: gamma=3".
  FlagSource source = FlagSource::kDefault;
  std::string default_source = "default";
  std::string value;
  std::string origin;

  std::string Shown(const std::string& text) const {
    return hide_secrets ? hide_secrets(text) : text;
  }
  void Give(FlagSource from, const std::string& text,
            std::string_view written_before);
};

// A flag of the help text, or another entry.
struct HelpEntry {
  std::string group;
  std::string form;        // "--batch_size=N"
  std::string facts = "";  // "default: 1024; 1 to 16384"; may be empty
  std::string help;
};

// What --help prints for a command whose first argument is `word`.
struct HelpTopic {
  std::string word;
  std::string usage;               // in place of that of the command
  std::vector<std::string> flags;  // of command and program; others are omitted
};

struct ProgramCommand {
  ProgramInfo info;
  std::string full_name;  // "semrank rank"
  CLI::App* app = nullptr;
  std::vector<std::unique_ptr<Flag>> flags;
  std::vector<HelpEntry> help_entries;  // beside those of the flags
  std::vector<HelpTopic> help_topics;
  std::vector<std::string>* arguments = nullptr;
  std::vector<ProgramCommand*> commands;
  ProgramCommand* selected = nullptr;  // the command that was given

  // The given command, or this if none was given.
  const ProgramCommand& used() const {
    return selected == nullptr ? *this : *selected;
  }
  // Flags of the given command, then those of this.
  std::vector<Flag*> FlagsInUse() const;
  Flag* FindOwn(std::string_view name) const;
  // A flag of this or of any command.
  Flag* Find(std::string_view name) const;
  ProgramCommand* FindCommand(std::string_view name) const;
};

// The text that --help prints: usage, commands and the flags in use by group,
// in the order of first use; advanced flags only if `all`. `words` are the
// arguments, of which the first may name a topic.
std::string HelpText(const ProgramCommand& program, bool all,
                     const std::vector<std::string>& words);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_PROGRAM_COMMAND_H_
