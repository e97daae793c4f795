#include "model/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr int kBarColumns = 10;
// A terminal shows motion; a log file gets a line each ten seconds.
constexpr absl::Duration kTerminalInterval = absl::Milliseconds(100);
constexpr absl::Duration kPlainInterval = absl::Seconds(10);

// "0:41", "1:02:03"; whole seconds, rounded down.
std::string ClockTime(absl::Duration duration) {
  // A rate near 0 gives an infinite time, which Abseil converts to the largest
  // integer.
  constexpr std::int64_t kLongest = 1000 * 3600;
  const std::int64_t seconds =
      std::clamp<std::int64_t>(absl::ToInt64Seconds(duration), 0, kLongest);
  if (seconds < 3600) {
    return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  }
  return absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60,
                         seconds % 60);
}

// "[=====>    ]"; without the arrow at the end.
std::string Bar(double share) {
  const int filled = static_cast<int>(share * kBarColumns);
  std::string bar(kBarColumns, ' ');
  std::fill_n(bar.begin(), filled, '=');
  if (filled < kBarColumns) bar[filled] = '>';
  return "[" + bar + "]";
}

std::string Rate(double per_second, std::string_view unit) {
  if (per_second >= 10) {
    // Doubles above this do not fit the integer.
    constexpr double kMost = 1e18;
    return absl::StrFormat(
        "%s %s/s",
        GroupDigits(static_cast<std::int64_t>(std::min(per_second, kMost))),
        unit);
  }
  return absl::StrFormat("%.1f %s/s", per_second, unit);
}

bool IsTerminal() {
  const char* term = std::getenv("TERM");
  const bool can_rewrite = term != nullptr && std::string_view(term) != "dumb";
  return can_rewrite && isatty(STDERR_FILENO) != 0;
}

// What fits one row of the terminal: a wrapped line could not be rewritten.
// Never cuts inside a UTF-8 character.
std::string_view FitToTerminal(std::string_view line) {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) {
    return line;
  }
  // Bytes are an upper bound of columns: a character of two columns has at
  // least three bytes. One column is left free for the cursor.
  std::size_t bytes = std::min<std::size_t>(line.size(), size.ws_col - 1);
  while (bytes > 0 && bytes < line.size() && (line[bytes] & 0xc0) == 0x80) {
    --bytes;
  }
  return line.substr(0, bytes);
}

}  // namespace

std::string FormatProgress(std::string_view label, std::int64_t done,
                           std::int64_t total, std::string_view unit,
                           absl::Duration elapsed, std::string_view note) {
  std::string text(label);
  if (total > 0) {
    const double share = std::clamp(
        static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
    absl::StrAppendFormat(&text, " %s %3d %%", Bar(share),
                          static_cast<int>(share * 100));
  } else {
    absl::StrAppendFormat(&text, "  %s %s", GroupDigits(done), unit);
  }
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (done > 0 && seconds > 0) {
    const double per_second = static_cast<double>(done) / seconds;
    absl::StrAppendFormat(&text, "  %s", Rate(per_second, unit));
    if (done < total) {
      absl::StrAppendFormat(
          &text, "  %s left",
          ClockTime(
              absl::Seconds(static_cast<double>(total - done) / per_second)));
    }
  }
  if (total > 0 && done >= total) {
    absl::StrAppendFormat(&text, "  in %s", ClockTime(elapsed));
  }
  if (!note.empty()) absl::StrAppendFormat(&text, "  %s", note);
  return text;
}

ProgressBar::ProgressBar(std::string_view label, std::int64_t total,
                         std::string_view unit)
    : label_(label),
      total_(total),
      unit_(unit),
      terminal_(IsTerminal()),
      start_(std::chrono::steady_clock::now()),
      last_draw_(start_) {}

ProgressBar::~ProgressBar() {
  if (pending_) Draw();
  if (terminal_ && drawn_) std::fputs("\n", stderr);
}

void ProgressBar::Update(std::int64_t done, std::string_view note) {
  done_ = done;
  note_ = note;
  pending_ = true;
  const absl::Duration since_draw =
      absl::FromChrono(std::chrono::steady_clock::now() - last_draw_);
  // Callers update for every batch or line, so most calls only store the
  // values; the destructor draws the last ones.
  if (since_draw >= (terminal_ ? kTerminalInterval : kPlainInterval)) Draw();
}

void ProgressBar::Draw() {
  last_draw_ = std::chrono::steady_clock::now();
  const std::string line =
      FormatProgress(label_, done_, total_, unit_,
                     absl::FromChrono(last_draw_ - start_), note_);
  if (terminal_) {
    // Returns to the start of the line, overwrites the old text and erases the
    // rest of it.
    absl::FPrintF(stderr, "\r%s\x1b[K", FitToTerminal(line));
  } else {
    absl::FPrintF(stderr, "%s\n", line);
  }
  std::fflush(stderr);
  drawn_ = true;
  pending_ = false;
}

}  // namespace semrank
