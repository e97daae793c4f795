// Tells a person how far long work is: a bar that rewrites one line on a
// terminal, a plain line every ten seconds otherwise, always on standard error.
//
//   Threads  one bar, one thread.
#ifndef SEMRANK_MODEL_BASE_PROGRESS_H_
#define SEMRANK_MODEL_BASE_PROGRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace semrank {

// "epoch 3/20 [=====>    ]  52 %  61,200 pairs/s  0:41 left  loss 1.204"; the
// pure part, for tests. `note` is put at the end as it is.
std::string FormatProgress(std::string_view label, std::int64_t done,
                           std::int64_t total, std::string_view unit,
                           absl::Duration elapsed, std::string_view note);

class ProgressBar {
 public:
  // `total` 0 = unknown: rate without bar and time left.
  ProgressBar(std::string_view label, std::int64_t total,
              std::string_view unit);
  // Ends the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Cheap: draws at most ten times a second.
  void Update(std::int64_t done, std::string_view note = "");

 private:
  std::string label_;
  std::int64_t total_;
  std::string unit_;
  bool terminal_;
  bool drawn_ = false;
  absl::Time start_;
  absl::Time last_draw_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_PROGRESS_H_
