#include "client/load/latency_recorder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace semrank {
namespace {

// Each power of two is cut into 128 buckets of equal width; below 128 ns a
// bucket is one nanosecond.
constexpr int kBits = 7;
constexpr std::uint64_t kBucketsPerPower = std::uint64_t{1} << kBits;

std::size_t BucketOf(std::uint64_t nanos) {
  if (nanos < kBucketsPerPower) return nanos;
  const int shift = std::bit_width(nanos) - 1 - kBits;
  return shift * kBucketsPerPower + (nanos >> shift);
}

// The largest value of the bucket.
std::uint64_t UpperEnd(std::size_t bucket) {
  if (bucket < kBucketsPerPower) return bucket;
  const std::size_t shift = bucket / kBucketsPerPower - 1;
  const std::uint64_t lower = (bucket - shift * kBucketsPerPower) << shift;
  return lower + (std::uint64_t{1} << shift) - 1;
}

}  // namespace

void LatencyRecorder::Record(absl::Duration latency) {
  const absl::Duration counted = std::max(latency, absl::ZeroDuration());
  const std::size_t bucket = BucketOf(absl::ToInt64Nanoseconds(counted));
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  sum_ += counted;
  max_ = std::max(max_, counted);
}

absl::Duration LatencyRecorder::Mean() const {
  return count_ == 0 ? absl::ZeroDuration() : sum_ / count_;
}

absl::Duration LatencyRecorder::Percentile(double percent) const {
  const auto wanted = static_cast<std::int64_t>(
      std::ceil(percent / 100 * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && seen >= wanted) {
      const auto end = static_cast<std::int64_t>(UpperEnd(bucket));
      return std::min(absl::Nanoseconds(end), max_);
    }
  }
  return max_;
}

}  // namespace semrank
