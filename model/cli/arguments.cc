#include "model/cli/arguments.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"

namespace semrank {
namespace {

// "-" is standard input and "-5" a number, but "-gamma=3" lacks a dash: it is
// taken for a flag, so that the error names the flag and not an unexpected
// argument.
bool LooksLikeFlag(std::string_view argument) {
  return argument.starts_with("--") ||
         (argument.size() > 1 && argument[0] == '-' &&
          absl::ascii_isalpha(argument[1]));
}

bool IsNegated(std::string_view name, const KnownNames& known) {
  return known.flag(name) == KnownNames::Kind::kUnknown &&
         name.starts_with("no") &&
         known.flag(name.substr(2)) == KnownNames::Kind::kBoolean;
}

}  // namespace

Arguments TakeApart(const std::vector<std::string>& given,
                    const KnownNames& known) {
  Arguments result;
  bool awaits_command = known.has_commands;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& argument = given[i];
    if (argument == "--") {
      result.words.insert(result.words.end(), given.begin() + i + 1,
                          given.end());
      break;
    }
    if (!LooksLikeFlag(argument)) {
      if (!std::exchange(awaits_command, false)) {
        result.words.push_back(argument);
      } else if (known.is_command(argument)) {
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
    if (has_value && IsNegated(name, known)) {
      result.negated_with_value = name.substr(2);
    } else if (known.flag(name) != KnownNames::Kind::kWithValue) {
      result.tokens.push_back(argument);
    } else if (has_value) {
      result.tokens.push_back("--" + name);
      result.tokens.push_back(argument.substr(equals + 1));
    } else if (i + 1 < given.size() && !given[i + 1].starts_with("--")) {
      result.tokens.push_back(argument);
      result.tokens.push_back(given[++i]);
    } else if (result.without_value.empty()) {
      result.without_value = name;
    }
  }
  return result;
}

}  // namespace semrank
