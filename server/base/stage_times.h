// How long the stages of one request took.
#ifndef SEMRANK_SERVER_BASE_STAGE_TIMES_H_
#define SEMRANK_SERVER_BASE_STAGE_TIMES_H_

#include <array>
#include <chrono>
#include <utility>

#include "absl/time/time.h"
#include "server/base/metrics.h"

namespace semrank {

struct StageTimes {
  std::array<absl::Duration, kNumStages> times{};

  absl::Duration& operator[](Stage stage) {
    return times[static_cast<int>(stage)];
  }
  absl::Duration operator[](Stage stage) const {
    return times[static_cast<int>(stage)];
  }
};

// Puts the stages that ran into the histograms.
inline void RecordStages(const StageTimes& times, Metrics& metrics) {
  for (const Stage stage :
       {Stage::kParse, Stage::kCache, Stage::kEmbed, Stage::kScore}) {
    if (times[stage] > absl::ZeroDuration()) {
      metrics.RecordStage(stage, times[stage]);
    }
  }
}

// A stop watch on a clock that never jumps.
class StageClock {
 public:
  // Time since construction or the last Lap.
  absl::Duration Lap() {
    const auto now = std::chrono::steady_clock::now();
    return absl::FromChrono(now - std::exchange(last_, now));
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_STAGE_TIMES_H_
