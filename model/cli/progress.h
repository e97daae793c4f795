// Shows the progress of long work on standard error: on a terminal a bar that
// rewrites one line, otherwise a plain line every ten seconds and one at the
// end.
#ifndef SEMRANK_MODEL_CLI_PROGRESS_H_
#define SEMRANK_MODEL_CLI_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "model/base/count_text.h"

namespace semrank {

// "epoch 3/20 [=====>    ]  52 %  61,200 pairs/s  0:41 left  loss 1.204", at
// the end "... in 1:25" in place of what is left; without a total
// "reading  61,200 lines  30,600 lines/s". `note` is appended as it is.
std::string FormatProgress(std::string_view label, std::int64_t done,
                           std::int64_t total, std::string_view unit,
                           absl::Duration elapsed, std::string_view note);

class ProgressBar {
 public:
  // `total` 0 = unknown: shows the rate without bar and time left.
  ProgressBar(std::string_view label, std::int64_t total,
              std::string_view unit);
  // Draws the last update if that has not been drawn, and ends the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws at most ten times a second; other calls only store the values.
  void Update(std::int64_t done, std::string_view note = "");

 private:
  void Draw();

  std::string label_;
  std::int64_t total_;
  std::string unit_;
  bool terminal_;
  std::int64_t done_ = 0;
  std::string note_;
  bool pending_ = false;  // Updated since it was drawn.
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_draw_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_CLI_PROGRESS_H_
