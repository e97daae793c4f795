// Whether one ranker is better than another, from their values of one metric on
// the same queries: the paired t-test, as in the papers, and Fisher's
// randomization test, which assumes no distribution (Smucker, Allan and
// Carterette, CIKM 2007).
//
//   Threads  thread-safe free functions; the same input gives the same result.
#ifndef SEMRANK_MODEL_EVAL_METRICS_PAIRED_TESTS_H_
#define SEMRANK_MODEL_EVAL_METRICS_PAIRED_TESTS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace semrank {

struct PairedComparison {
  double delta = 0;           // mean difference
  double standard_error = 0;  // of delta; 0 for one query
  // Two-sided: how often chance alone makes a difference this large. 1 when all
  // differences are 0 or there is only one query.
  double t_test_p = 1;
  // Of kNumSignFlips random choices of signs, and the observed one.
  double randomization_p = 1;
  std::size_t wins = 0;  // positive differences
  std::size_t ties = 0;
  std::size_t losses = 0;
};

inline constexpr int kNumSignFlips = 10'000;

// `differences`: value minus baseline's value, one a query. Differences up to
// 1e-12 are rounding, and ties.
PairedComparison ComparePaired(std::span<const double> differences);

// Holm's correction of the p values of several tests (Scandinavian Journal of
// Statistics 1979): of values below 0.05, one or more is wrong in at most 5 %
// of all tables. In the order of `p`.
std::vector<double> HolmCorrection(std::span<const double> p);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_METRICS_PAIRED_TESTS_H_
