// How long requests run, as measured: the mean of the last ones of the same
// kind and about the same size. Cached and new titles share a mean: which
// ones a request brings is known only once they are looked up, and the mean
// over what waits is what counts.
//
//   Threads  thread-safe and lock-free; of two updates at once one may be lost.
#ifndef SEMRANK_SERVER_BASE_REQUEST_COSTS_H_
#define SEMRANK_SERVER_BASE_REQUEST_COSTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace semrank {

// Requests whose texts cost about the same.
enum class RequestKind { kRank, kEmbed, kExplain, kPut, kSearch, kOther };
inline constexpr std::size_t kNumRequestKinds = 6;

class RequestCosts {
 public:
  // Of a text, before a request of the kind and size was measured: about that
  // of a new title.
  static constexpr absl::Duration kFirstGuess = absl::Microseconds(5);

  // `time` is what a complete run took, without waiting; `num_texts` below 1
  // counts as 1.
  void Record(RequestKind kind, std::int64_t num_texts, absl::Duration time);
  // Of the whole request: mean of a text times `num_texts`.
  absl::Duration Estimate(RequestKind kind, std::int64_t num_texts) const;

 private:
  // Sizes from one power of two to the next share a mean.
  static constexpr std::size_t kNumSizes = 16;
  using Mean = std::atomic<float>;  // nanoseconds a text; 0 = none yet

  std::array<std::array<Mean, kNumSizes>, kNumRequestKinds> means_{};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_REQUEST_COSTS_H_
