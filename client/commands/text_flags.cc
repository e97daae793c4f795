#include "client/commands/text_flags.h"

#include <cstdint>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "client/input/unicode.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(std::int64_t, max_bad_lines, 100,
          "Lines of the file that may be skipped because they are not UTF-8 or "
          "too long; each is reported. 0 = none may.");

namespace semrank {

absl::StatusOr<std::int64_t> MaxBadLinesFromFlags() {
  const std::int64_t max_bad_lines = absl::GetFlag(FLAGS_max_bad_lines);
  if (max_bad_lines >= 0) return max_bad_lines;
  return FlagError("max_bad_lines", std::to_string(max_bad_lines),
                   "must not be negative");
}

namespace {

absl::StatusOr<TextList> TakeTexts(const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (IsValidUtf8(texts[i])) continue;
    return UsageError(absl::StrFormat("argument %d: not valid UTF-8", i + 1));
  }
  return TextList{texts, {}};
}

}  // namespace

absl::StatusOr<TextList> TextsFromFlags(const TextSource& source) {
  if (source.path.empty() == source.arguments.empty()) {
    return UsageError(absl::StrFormat(
        "%s: give %s as arguments or in a file, --%s=FILE (- is standard "
        "input)",
        source.path.empty()
            ? absl::StrFormat("no %s", source.flag)
            : absl::StrFormat("--%s and arguments", source.flag),
        source.flag, source.flag));
  }
  if (source.path.empty()) return TakeTexts(source.arguments);
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t max_bad_lines,
                           MaxBadLinesFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(
      TextList list,
      ReadTexts(source.path, {.max_bad_lines = max_bad_lines,
                              .skip_empty_lines = source.skip_empty_lines}));
  if (!list.texts.empty()) return list;
  return absl::InvalidArgumentError(absl::StrFormat(
      "--%s=%s: contains no %s", source.flag, source.path, source.flag));
}

}  // namespace semrank
