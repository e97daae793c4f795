// A flag as CommandLine knows it: a name, a help text, and how its value is
// read from text and written back.
#ifndef SEMRANK_MODEL_CLI_FLAG_SPEC_H_
#define SEMRANK_MODEL_CLI_FLAG_SPEC_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

struct FlagSpec {
  std::string name;
  std::string help;
  std::string form = "VALUE";  // for --help: --name=VALUE
  std::string limits = "";     // for --help: "1 to 100"
  bool is_boolean = false;
  bool is_list = false;  // --config may give several values
  // A list to which each value on the command line adds.
  bool is_repeated = false;
  // Sets the field. The message of an error is the reason alone: "must be ...".
  std::function<absl::Status(const std::string&)> set;
  // The field's value as `set` would read it.
  std::function<std::string()> get;
};

// Values that a flag may have, bounds included. NaN is in no range.
template <typename T>
struct FlagRange {
  T min = std::numeric_limits<T>::lowest();
  T max = std::numeric_limits<T>::max();
  bool above_min = false;  // `min` itself is not allowed
};
template <>
struct FlagRange<absl::Duration> {
  absl::Duration min = absl::ZeroDuration();
  absl::Duration max = absl::InfiniteDuration();
  bool above_min = false;
};

// What the range of a field of type T bounds: of a list, each element.
template <typename T>
struct RangedValue {
  using type = T;
};
template <>
struct RangedValue<std::optional<double>> {
  using type = double;
};
template <>
struct RangedValue<std::vector<int>> {
  using type = int;
};

// A value that is written as a word: {"adam", v1::OPTIMIZER_ADAM}.
template <typename T>
struct Named {
  std::string_view name;
  T value;
};

// The word for `value`; "unknown" if it has none.
template <typename T, std::size_t size>
std::string NameOf(T value, const Named<T> (&names)[size]) {
  for (const Named<T>& entry : names) {
    if (entry.value == value) return std::string(entry.name);
  }
  return "unknown";
}

template <typename T>
inline constexpr bool kHasRange =
    !std::is_same_v<T, std::string> && !std::is_same_v<T, bool> &&
    !std::is_same_v<T, std::vector<std::string>>;

// A flag that sets `field`: T is std::string, bool or
// std::vector<std::string>, whose elements stand between commas; empty elements
// are ignored.
template <typename T>
requires(!kHasRange<T>) FlagSpec
    BindFlag(std::string_view name, T* field, std::string_view help);

// T is int, std::int64_t, std::uint32_t, std::uint64_t, double or
// absl::Duration; std::optional<double>, which is empty while the flag is not
// given; or std::vector<int>, whose elements stand between commas. A number
// that T cannot hold is out of range, not "no number".
template <typename T>
requires kHasRange<T> FlagSpec
BindFlag(std::string_view name, T* field, std::string_view help,
         const FlagRange<typename RangedValue<T>::type>& range = {});

// A flag with one of `words`; `set` and `get` take and return its index.
FlagSpec BindWords(std::string_view name, std::string_view help,
                   std::vector<std::string> words,
                   std::function<void(std::size_t)> set,
                   std::function<std::size_t()> get);

// A flag with one of `names`.
template <typename T, std::size_t size>
FlagSpec BindFlag(std::string_view name, T* field, std::string_view help,
                  const Named<std::type_identity_t<T>> (&names)[size]) {
  std::vector<std::string> words;
  std::vector<T> values;
  for (const Named<T>& entry : names) {
    words.emplace_back(entry.name);
    values.push_back(entry.value);
  }
  return BindWords(
      name, help, std::move(words),
      [field, values](std::size_t i) { *field = values[i]; },
      [field, values] {
        std::size_t i = 0;
        while (i < values.size() && values[i] != *field) ++i;
        return i;
      });
}

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_SPEC_H_
