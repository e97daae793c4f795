// The command line of a program: flags that are bound to the fields of option
// structs, and commands with flags of their own.
//
//   CommandLine command_line({.name = "semrank-train", ...});
//   command_line.Group("Training");
//   command_line.Add("batch_size", &options.batch_size,
//                    "Pairs in a mini-batch.", {.min = 1, .max = 16384});
//   if (const auto code = command_line.Parse(argc, argv)) return *code;
//   return command_line.ExitCode(Run(options));
//
//   Values   `--name=value` or `--name value`; a boolean flag is also `--name`
//            and `--noname`. The last of several values wins, unless the flag
//            is_repeated. Numbers are decimal, durations have a unit (10s,
//            1m30s), the elements of a list stand between commas; an empty list
//            is `--name=`.
//   Sources  command line > environment (SEMRANK_<NAME>) > files of --config
//            (flag_sources.h; a later file wins) > SetDefault > what the field
//            holds when the flag is added.
//   Errors   each value is checked as it is read. UsageError names the flag,
//            the value, where it was written and what would be right, and has a
//            hint for misspelled names.
//   Help     --help lists the common flags by group, --help-all every flag.
//
// CLI11 finds the flags, the commands and the lines of --config. This class
// reads the values itself: CLI11 takes 010 for eight, and prefers its file to
// the environment.
#ifndef SEMRANK_MODEL_CLI_COMMAND_LINE_H_
#define SEMRANK_MODEL_CLI_COMMAND_LINE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cli/exit_code.h"
#include "model/cli/flag_spec.h"
#include "model/cli/program_command.h"

namespace semrank {

struct FlagValue {
  std::string name;
  std::string value;   // secrets masked
  std::string source;  // FlagSourceName, or that of SetDefault
};

// A value, of one line, as a file of --config has it: with quotes where the
// reader would otherwise see more, or less, than this value.
std::string QuotedForConfig(const std::string& value);
// The values as lines "name=value" that --config reads.
std::string FormatConfig(const std::vector<FlagValue>& values);

template <typename T>
inline constexpr bool kIsTextFlag = std::is_same_v<T, std::string> ||
                                    std::is_same_v<T, std::vector<std::string>>;

class CommandLine {
 public:
  // The texts of `info` must outlive this.
  explicit CommandLine(const ProgramInfo& info);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Flags added from now on belong to the group `title` of the help text; with
  // kAdvanced only --help-all shows them.
  enum class Level { kCommon, kAdvanced };
  void Group(std::string_view title, Level level = Level::kCommon);

  // Binds --name to `field`, which must outlive Parse and Apply; flag_spec.h
  // has the types of fields. `help` states the unit and what special values
  // mean; --help adds default, range and names to it.
  template <typename T>
  void Add(std::string_view name, T* field, std::string_view help) {
    Add(BindFlag(name, field, help));
  }
  template <typename T>
  void Add(std::string_view name, T* field, std::string_view help,
           const FlagRange<typename RangedValue<T>::type>& range) {
    Add(BindFlag(name, field, help, range));
  }
  template <typename T, std::size_t size>
  void Add(std::string_view name, T* field, std::string_view help,
           const Named<std::type_identity_t<T>> (&names)[size]) {
    Add(BindFlag(name, field, help, names));
  }
  // `form` is the value's placeholder in the help text: "FILE", "DIR", "NAME";
  // of a list, "FILE[,FILE...]".
  template <typename T>
  requires(kIsTextFlag<T>) void Add(std::string_view name, T* field,
                                    std::string_view help,
                                    std::string_view form) {
    FlagSpec spec = BindFlag(name, field, help);
    spec.form = form;
    Add(std::move(spec));
  }
  // A flag whose value needs a reader of its own.
  void Add(FlagSpec spec);

  // --help prints `text` as the default of a flag in place of the field's
  // value: for a default that depends on other flags or on the input.
  void DescribeDefault(std::string_view name, std::string_view text);

  // `hide` turns a value into what may be shown of it in errors and Values().
  void HideSecrets(std::string_view name,
                   std::function<std::string(const std::string&)> hide);

  // An entry of the help text that is not a flag, in the current group.
  void AddHelp(std::string_view title, std::string_view text);

  // Adds a help text for one first argument of this command: "semrank events
  // join --help".
  void AddHelpTopic(HelpTopic topic);

  // Stores arguments that are not flags, and all after "--", in `field`, in
  // order. Without this call such an argument is wrong use.
  void AddArguments(std::vector<std::string>* field);

  // A command with flags of its own: `semrank rank --top_k=3`. Flags of this
  // command line may stand before the command and after it. The reference is
  // valid as long as this object.
  CommandLine& AddCommand(const ProgramInfo& info);
  // The name of the command that was given; empty = none.
  std::string_view command() const;

  // Sets the fields of the flags that were given. For --help, --help-all and
  // --version prints on standard output, for wrong use on standard error, and
  // returns the exit code. Returns nullopt if the program is to run.
  std::optional<int> Parse(int argc, const char* const* argv);
  // As Parse, but without printing; `arguments` has no program name. Returns
  // the text that --help and the like print, otherwise "".
  absl::StatusOr<std::string> ParseArguments(
      const std::vector<std::string>& arguments);

  // After Parse: sets the field of a flag that was not given to another default
  // than the one that --help shows. Values() names its `source`.
  absl::Status SetDefault(std::string_view name, const std::string& value,
                          std::string_view source);

  // The source of a flag of this or of the given command.
  FlagSource Source(std::string_view name) const;
  bool IsSet(std::string_view name) const {
    return Source(name) != FlagSource::kDefault;
  }
  // All flags of this and of the given command in the order of the help text,
  // with what their fields hold now.
  std::vector<FlagValue> Values() const;

  // Calls ExitCode of exit_code.h with the name of the program and the given
  // command. A program ends by it.
  int ExitCode(const absl::Status& status) const;

 private:
  struct Impl;
  CommandLine(const ProgramInfo& info, Impl* parent);

  std::unique_ptr<Impl> impl_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_COMMAND_LINE_H_
