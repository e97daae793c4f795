#include "model/cli/flag_value.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// What a value of type T has to be, whatever the range.
template <typename T>
constexpr std::string_view KindOf() {
  if constexpr (std::is_integral_v<T>) return "a whole number";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  return "a duration with a unit, such as 500ms, 10s or 1m30s";
}

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

// A whole number that is too large for its type is out of range.
bool IsWholeNumber(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    text.remove_prefix(1);
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(c);
  });
}

template <typename T>
bool Contains(const FlagRange<T>& range, T value) {
  // Written so that NaN is outside.
  return (range.above_min ? value > range.min : value >= range.min) &&
         value <= range.max;
}

absl::Status MustBe(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("must be %s", what));
}

}  // namespace

template <typename T>
bool IsWholeRange(const FlagRange<T>& range) {
  const FlagRange<T> whole;
  return range.min == whole.min && range.max == whole.max && !range.above_min;
}

template <typename T>
std::string DescribeRange(const FlagRange<T>& range) {
  const FlagRange<T> whole;
  const std::string min = FormatValue(range.min);
  const std::string max = FormatValue(range.max);
  const bool has_max = range.max != whole.max;
  constexpr bool is_time = std::is_same_v<T, absl::Duration>;
  if (range.above_min) {
    return has_max ? absl::StrFormat("above %s, at most %s", min, max)
                   : absl::StrFormat("above %s", min);
  }
  if (std::is_integral_v<T> ? has_max || IsWholeRange(range)
                            : has_max && (range.min != whole.min || is_time)) {
    return absl::StrFormat("%s to %s", min, max);
  }
  if (has_max) return absl::StrFormat("at most %s", max);
  if (std::is_floating_point_v<T> && IsWholeRange(range)) return "";
  return absl::StrFormat("at least %s", min);
}

template <typename T>
absl::Status ReadValue(std::string_view text, const FlagRange<T>& range,
                       T& value) {
  T read;
  const std::string limits = DescribeRange(range);
  if (!Parse(ToAbsl(text), read)) {
    if (std::is_integral_v<T> && IsWholeNumber(ToAbsl(text))) {
      return MustBe(limits);
    }
    return MustBe(IsWholeRange(range) || limits.empty()
                      ? std::string(KindOf<T>())
                      : absl::StrFormat("%s, %s", KindOf<T>(), limits));
  }
  if (!Contains(range, read)) {
    return MustBe(limits.empty() ? "a finite number" : limits);
  }
  value = read;
  return absl::OkStatus();
}

absl::Status ReadValue(std::string_view text, bool& value) {
  return absl::SimpleAtob(ToAbsl(text), &value) ? absl::OkStatus()
                                                : MustBe("true or false");
}

absl::Status ReadValue(std::string_view text, const FlagRange<int>& range,
                       std::vector<int>& values) {
  std::vector<int> read;
  if (!text.empty()) {
    for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ',')) {
      SEMRANK_RETURN_IF_ERROR(
          ReadValue(ToStd(part), range, read.emplace_back()));
    }
  }
  values = std::move(read);
  return absl::OkStatus();
}

template <typename T>
std::string FormatValue(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    // std::to_chars is the shortest text that reads back as the same double.
    char text[64];
    const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
    return std::string(text, end);
  } else if constexpr (std::is_same_v<T, absl::Duration>) {
    return absl::FormatDuration(value);
  } else {
    return absl::StrJoin(value, ",");
  }
}

#define SEMRANK_INSTANTIATE(T)                                                \
  template bool IsWholeRange(const FlagRange<T>&);                            \
  template std::string DescribeRange(const FlagRange<T>&);                    \
  template absl::Status ReadValue(std::string_view, const FlagRange<T>&, T&); \
  template std::string FormatValue(const T&)
SEMRANK_INSTANTIATE(int);
SEMRANK_INSTANTIATE(std::int64_t);
SEMRANK_INSTANTIATE(std::uint32_t);
SEMRANK_INSTANTIATE(std::uint64_t);
SEMRANK_INSTANTIATE(double);
SEMRANK_INSTANTIATE(absl::Duration);
#undef SEMRANK_INSTANTIATE
template std::string FormatValue(const bool&);
template std::string FormatValue(const std::vector<int>&);
template std::string FormatValue(const std::vector<std::string>&);

}  // namespace semrank
