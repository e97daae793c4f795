#include "model/base/bad_lines.h"

#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// Enough to see what is wrong with a file, few enough to read.
constexpr std::int64_t kMaxPrinted = 10;

}  // namespace

absl::Status BadLines::Add(std::string_view path, std::int64_t line_number,
                           std::string_view reason) {
  ++count_;
  const std::string where =
      absl::StrFormat("%s:%d: %s", path, line_number, reason);
  // This line is in the error, so it is not printed as well.
  if (count_ > max_bad_lines_) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s (bad line %d; --max_bad_lines=%d)", where, count_, max_bad_lines_));
  }
  if (count_ <= kMaxPrinted) absl::FPrintF(stderr, "%s\n", where);
  if (count_ == kMaxPrinted && max_bad_lines_ > kMaxPrinted) {
    absl::FPrintF(stderr, "further bad lines are counted but not printed\n");
  }
  return absl::OkStatus();
}

}  // namespace semrank
