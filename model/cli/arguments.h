// The arguments of a program, taken apart so far that CLI11 reads what is
// meant.
//
// CLI11 2.1 takes `--hidden= --seed=3` as if --seed=3 were the value of
// --hidden, and `--gamma --seed=3` too; loses "--" in commands; drops "++", its
// mark for the end of a command; negates the value of --noshared_towers=3; and
// would take the brackets off an argument "[like this]". So values stand apart
// from their flags, and words never reach it.
#ifndef SEMRANK_MODEL_CLI_ARGUMENTS_H_
#define SEMRANK_MODEL_CLI_ARGUMENTS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace semrank {

// What a program knows of the names in its arguments, without dashes.
struct KnownNames {
  enum class Kind { kUnknown, kBoolean, kWithValue };
  std::function<Kind(std::string_view)> flag;
  std::function<bool(std::string_view)> is_command;
  bool has_commands = false;
};

struct Arguments {
  std::vector<std::string> tokens;  // flags, their values and the command
  std::vector<std::string> words;   // arguments that are no flags
  std::string wrong_command;        // a word where a command should be
  std::string without_value;        // a flag whose value was forgotten
  std::string negated_with_value;   // "shared_towers" of --noshared_towers=3
};

// `given` has no program name. The first word is the command, if there are any;
// those after it, and all after "--", are words. Unknown flags are tokens.
Arguments TakeApart(const std::vector<std::string>& given,
                    const KnownNames& known);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_ARGUMENTS_H_
