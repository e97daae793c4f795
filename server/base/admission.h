// Permits to work, counted in texts: one rule for every call, so that a batch
// of a thousand weighs what a thousand single texts weigh. Taken before any
// work, held until the answer is made. Nobody waits: over the limit the answer
// is "not now", at once; when not one more text fits, before the request is
// looked at.
//
//   Threads  every method, from any thread; lock-free.
#ifndef SEMRANK_SERVER_BASE_ADMISSION_H_
#define SEMRANK_SERVER_BASE_ADMISSION_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/high_water_mark.h"

namespace semrank {

class Admission {
 public:
  // How long a refused caller is asked to stay away.
  static constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);

  // Gives its texts back when destroyed. Must not outlive the Admission.
  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)),
          num_texts_(other.num_texts_) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(admission_, other.admission_);
      std::swap(num_texts_, other.num_texts_);
      return *this;
    }
    ~Permit() {
      if (admission_ != nullptr) admission_->Release(num_texts_);
    }

   private:
    friend class Admission;
    Permit(Admission* admission, std::int64_t num_texts)
        : admission_(admission), num_texts_(num_texts) {}
    Admission* admission_ = nullptr;
    std::int64_t num_texts_ = 0;
  };

  explicit Admission(std::int64_t max_inflight_texts)
      : max_inflight_texts_(max_inflight_texts) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // ResourceExhausted with "retry_delay_ms" when the texts do not fit beside
  // those in flight. A call without texts (0) always fits.
  absl::StatusOr<Permit> Admit(std::int64_t num_texts);

  // The same error when not one more text would fit. Takes nothing.
  absl::Status CheckRoom() const;

  std::int64_t max_inflight_texts() const { return max_inflight_texts_; }
  std::int64_t inflight_texts() const { return inflight_texts_.level(); }
  // The most texts in flight in the last minute or two.
  std::int64_t high_water_mark() const { return inflight_texts_.mark(); }
  // Of these, the ones whose requests wait for a worker; kept by whoever queues
  // them.
  HighWaterMark& queued_texts() { return queued_texts_; }

 private:
  // `inflight` is what the texts do not fit beside.
  absl::Status Overloaded(std::int64_t num_texts, std::int64_t inflight) const;
  void Release(std::int64_t num_texts) { inflight_texts_.Lower(num_texts); }

  const std::int64_t max_inflight_texts_;
  HighWaterMark inflight_texts_;
  HighWaterMark queued_texts_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_ADMISSION_H_
