// Values of flags as text: read, checked against a range, and written back.
//
//   Errors   InvalidArgument with the reason alone, "must be 1 to 100".
#ifndef SEMRANK_MODEL_CLI_FLAG_VALUE_H_
#define SEMRANK_MODEL_CLI_FLAG_VALUE_H_

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace semrank {

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

// T is int, std::int64_t, std::uint32_t, std::uint64_t, double or
// absl::Duration.

// "1 to 100", "at least 1", "above 0, at most 100"; of the whole range of an
// integer type its bounds, of other types "".
template <typename T>
std::string DescribeRange(const FlagRange<T>& range);
template <typename T>
bool IsWholeRange(const FlagRange<T>& range);

// Integers and doubles are decimal. A number outside the range of T is out of
// `range`, not "no number".
template <typename T>
absl::Status ReadValue(std::string_view text, const FlagRange<T>& range,
                       T& value);
// true, false, yes, no, 1, 0.
absl::Status ReadValue(std::string_view text, bool& value);
// Comma-separated; empty text is an empty list.
absl::Status ReadValue(std::string_view text, const FlagRange<int>& range,
                       std::vector<int>& values);

// The shortest text that is read back as the same value.
template <typename T>
std::string FormatValue(const T& value);

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_FLAG_VALUE_H_
