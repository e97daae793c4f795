// A flag that knows whether it was set, so that a preset changes the default
// of the others only. Shows its default in --help like any flag.
#ifndef SEMRANK_MODEL_CLI_SETTABLE_FLAG_H_
#define SEMRANK_MODEL_CLI_SETTABLE_FLAG_H_

#include <string>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/marshalling.h"
#include "absl/strings/string_view.h"

namespace semrank {

template <typename T>
struct Settable {
  T value;
  bool is_set = false;

  // Replaces `target` if the flag was set.
  void CopyIfSet(T& target) const {
    if (is_set) target = value;
  }
};

template <typename T>
bool AbslParseFlag(absl::string_view text, Settable<T>* flag,
                   std::string* error) {
  flag->is_set = absl::ParseFlag(text, &flag->value, error);
  return flag->is_set;
}

template <typename T>
std::string AbslUnparseFlag(const Settable<T>& flag) {
  return absl::UnparseFlag(flag.value);
}

// Whether --name and --noname are ways to set the flag.
inline bool IsBoolean(const absl::CommandLineFlag& flag) {
  return flag.IsOfType<bool>() || flag.IsOfType<Settable<bool>>();
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_SETTABLE_FLAG_H_
