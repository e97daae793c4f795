#include "model/eval/metrics/paired_tests.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "model/eval/metrics/metrics.h"

namespace semrank {
namespace {

// Values are means over orders of ties in double: equal rankings can differ in
// the last digits.
constexpr double kRounding = 1e-12;

double TTestP(double t, std::size_t num_queries) {
  // All differences are equal: no variance, and Boost refuses infinity.
  if (!std::isfinite(t)) return 0;
  const boost::math::students_t distribution(
      static_cast<double>(num_queries - 1));
  return 2 * boost::math::cdf(boost::math::complement(distribution, t));
}

// If the rankers were equally good, each difference could as well have the
// other sign.
double RandomizationP(const std::vector<double>& differences) {
  const double sum =
      std::accumulate(differences.begin(), differences.end(), 0.0);
  // Flipping all signs gives the same sum, which rounding must not make
  // smaller.
  const double observed = std::abs(sum) - kRounding;
  std::mt19937_64 random;  // NOLINT: a fixed seed, so that p can be repeated
  int at_least_as_large = 1;
  for (int round = 0; round < kNumSignFlips; ++round) {
    double flipped = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (i % 64 == 0) bits = random();
      // A multiplication, not a branch, which would be mispredicted half of the
      // time. The sum with flipped signs is the sum minus twice the flipped
      // ones.
      flipped += static_cast<double>(bits & 1) * differences[i];
      bits >>= 1;
    }
    if (std::abs(sum - 2 * flipped) >= observed) ++at_least_as_large;
  }
  // The observed choice of signs counts as one of them, so p is never 0.
  return at_least_as_large / (kNumSignFlips + 1.0);
}

}  // namespace

PairedComparison ComparePaired(std::span<const double> differences) {
  PairedComparison result;
  // Ties change no sum, so the randomization test skips them.
  std::vector<double> moved;
  for (const double difference : differences) {
    if (std::abs(difference) > kRounding) moved.push_back(difference);
    if (difference > kRounding) ++result.wins;
    if (difference < -kRounding) ++result.losses;
  }
  result.ties = differences.size() - moved.size();
  if (moved.empty()) return result;
  const MeanAndError mean = MeanOf(differences);
  result.delta = mean.mean;
  result.standard_error = mean.standard_error;
  // One query has no variance, and one sign to flip.
  if (differences.size() < 2) return result;
  result.t_test_p =
      TTestP(std::abs(mean.mean) / mean.standard_error, differences.size());
  result.randomization_p = RandomizationP(moved);
  return result;
}

std::vector<double> HolmCorrection(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto num_left = static_cast<double>(p.size() - i);
    // Never below the one before: otherwise a larger p could be corrected to a
    // smaller one.
    least = std::max(least, std::min(1.0, num_left * p[order[i]]));
    corrected[order[i]] = least;
  }
  return corrected;
}

}  // namespace semrank
