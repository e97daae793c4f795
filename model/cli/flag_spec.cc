// Three families of overloads: Format writes a value, Parse reads one
// number or duration, and Read sets a field from the whole text of its
// flag. A new type of flag needs one of each where no template serves it,
// and a line of SEMRANK_INSTANTIATE.
#include "model/cli/flag_spec.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

template <typename T>
constexpr bool kIsTime = std::is_same_v<T, absl::Duration>;

// The shortest text that is read back as the same value.
std::string Format(absl::Duration value) { return absl::FormatDuration(value); }
std::string Format(bool value) { return value ? "true" : "false"; }
template <typename T>
requires std::is_arithmetic_v<T> std::string Format(T value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}
std::string Format(const std::string& value) { return value; }
// Empty is what Read never sets: the flag was not given.
std::string Format(const std::optional<double>& value) {
  return value.has_value() ? Format(*value) : "";
}
template <typename T>
std::string Format(const std::vector<T>& values) {
  return absl::StrJoin(values, ",");
}

absl::Status MustBe(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("must be %s", what));
}

// A flag without bounds of its own needs none in its help.
template <typename T>
bool IsWhole(const FlagRange<T>& range) {
  const FlagRange<T> whole;
  return range.min == whole.min && range.max == whole.max && !range.above_min;
}

// "1 to 100", "at least 1", "above 0, at most 100". The whole range of an
// integer type gives its bounds, that of double "".
template <typename T>
std::string Describe(const FlagRange<T>& range) {
  const FlagRange<T> whole;
  const std::string min = Format(range.min);
  const std::string max = Format(range.max);
  const bool has_max = range.max != whole.max;
  if (range.above_min) {
    return has_max ? absl::StrFormat("above %s, at most %s", min, max)
                   : absl::StrFormat("above %s", min);
  }
  const bool has_min = kIsTime<T> || range.min != whole.min;
  if (has_max && has_min) return absl::StrFormat("%s to %s", min, max);
  if (has_max) return absl::StrFormat("at most %s", max);
  if (has_min) return absl::StrFormat("at least %s", min);
  return std::is_integral_v<T> ? absl::StrFormat("%s to %s", min, max) : "";
}

// What a value of type T has to be, whatever its range.
template <typename T>
constexpr std::string_view KindOf() {
  if constexpr (kIsTime<T>) {
    return "a duration with a unit, such as 500ms, 10s or 1m30s";
  }
  return std::is_integral_v<T> ? "a whole number" : "a number";
}

// Numbers are decimal: Abseil's readers take 010 for ten and refuse 0x10.
bool Parse(absl::string_view text, double& value) {
  return absl::SimpleAtod(text, &value);
}
bool Parse(absl::string_view text, absl::Duration& value) {
  return absl::ParseDuration(text, &value);
}
template <typename T>
bool Parse(absl::string_view text, T& value) {
  return absl::SimpleAtoi(text, &value);
}

// True also for a number that is too large for its type.
bool IsWholeNumber(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
  return !text.empty() && std::ranges::all_of(text, absl::ascii_isdigit);
}

template <typename T>
absl::Status ReadRanged(absl::string_view text, const FlagRange<T>& range,
                        T& value) {
  const std::string limits = Describe(range);
  T read;
  if (!Parse(text, read)) {
    // "99999999999" is a number; what is wrong with it is its size.
    if (std::is_integral_v<T> && IsWholeNumber(text)) return MustBe(limits);
    return MustBe(IsWhole(range)
                      ? std::string(KindOf<T>())
                      : absl::StrFormat("%s, %s", KindOf<T>(), limits));
  }
  // NaN fails both comparisons, so it is outside.
  const bool is_inside =
      (range.above_min ? read > range.min : read >= range.min) &&
      read <= range.max;
  if (!is_inside) return MustBe(limits.empty() ? "a finite number" : limits);
  value = read;
  return absl::OkStatus();
}

absl::Status Read(const std::string& text, const FlagRange<double>& range,
                  std::optional<double>& value) {
  return ReadRanged(text, range, value.emplace());
}
absl::Status Read(const std::string& text, const FlagRange<int>& range,
                  std::vector<int>& values) {
  // The field is assigned at the end, so that a list with one bad element
  // changes nothing.
  std::vector<int> read;
  if (!text.empty()) {
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      SEMRANK_RETURN_IF_ERROR(ReadRanged(part, range, read.emplace_back()));
    }
  }
  values = std::move(read);
  return absl::OkStatus();
}
template <typename T>
absl::Status Read(const std::string& text, const FlagRange<T>& range,
                  T& value) {
  return ReadRanged(text, range, value);
}

absl::Status Read(const std::string& text, bool& value) {
  return absl::SimpleAtob(text, &value) ? absl::OkStatus()
                                        : MustBe("true or false");
}
absl::Status Read(const std::string& text, std::string& value) {
  value = text;
  return absl::OkStatus();
}
absl::Status Read(const std::string& text, std::vector<std::string>& values) {
  values = absl::StrSplit(text, ',', absl::SkipEmpty());
  return absl::OkStatus();
}

}  // namespace

template <typename T>
requires(!kHasRange<T>) FlagSpec
    BindFlag(std::string_view name, T* field, std::string_view help) {
  constexpr bool kIsList = std::is_same_v<T, std::vector<std::string>>;
  return {
      .name = std::string(name),
      .help = std::string(help),
      .form = kIsList ? "A,B,..." : "VALUE",
      .is_boolean = std::is_same_v<T, bool>,
      .is_list = kIsList,
      .set = [field](const std::string& text) { return Read(text, *field); },
      .get = [field] { return Format(*field); }};
}
template FlagSpec BindFlag(std::string_view, std::string*, std::string_view);
template FlagSpec BindFlag(std::string_view, bool*, std::string_view);
template FlagSpec BindFlag(std::string_view, std::vector<std::string>*,
                           std::string_view);

template <typename T>
requires kHasRange<T> FlagSpec
BindFlag(std::string_view name, T* field, std::string_view help,
         const FlagRange<typename RangedValue<T>::type>& range) {
  using Value = typename RangedValue<T>::type;
  constexpr bool kIsList = std::is_same_v<T, std::vector<int>>;
  const std::string_view form = kIsList                     ? "N,N,..."
                                : kIsTime<Value>            ? "DURATION"
                                : std::is_integral_v<Value> ? "N"
                                                            : "NUMBER";
  return {
      .name = std::string(name),
      .help = std::string(help),
      .form = std::string(form),
      .limits = IsWhole(range) ? "" : Describe(range),
      .is_list = kIsList,
      .set = [field, range](
                 const std::string& text) { return Read(text, range, *field); },
      .get = [field] { return Format(*field); }};
}
// NOLINTBEGIN(bugprone-macro-parentheses): T* is a type.
#define SEMRANK_INSTANTIATE(T)                                       \
  template FlagSpec BindFlag(std::string_view, T*, std::string_view, \
                             const FlagRange<RangedValue<T>::type>&)
// NOLINTEND(bugprone-macro-parentheses)
// The types that a flag can have. They are instantiated here so that no header
// needs the code that reads them.
SEMRANK_INSTANTIATE(int);
SEMRANK_INSTANTIATE(std::int64_t);
SEMRANK_INSTANTIATE(std::uint32_t);
SEMRANK_INSTANTIATE(std::uint64_t);
SEMRANK_INSTANTIATE(double);
SEMRANK_INSTANTIATE(absl::Duration);
SEMRANK_INSTANTIATE(std::optional<double>);
SEMRANK_INSTANTIATE(std::vector<int>);
#undef SEMRANK_INSTANTIATE

FlagSpec BindWords(std::string_view name, std::string_view help,
                   std::vector<std::string> words,
                   std::function<void(std::size_t)> set,
                   std::function<std::size_t()> get) {
  const std::string form = absl::StrJoin(words, "|");
  const auto read = [words, set = std::move(set)](const std::string& text) {
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) {
      return MustBe("one of " + absl::StrJoin(words, ", "));
    }
    set(found - words.begin());
    return absl::OkStatus();
  };
  const auto write = [words = std::move(words), get = std::move(get)] {
    // The field may hold a value that no word stands for.
    const std::size_t i = get();
    return i < words.size() ? words[i] : std::string();
  };
  return {.name = std::string(name),
          .help = std::string(help),
          .form = form,
          .set = read,
          .get = write};
}

}  // namespace semrank
