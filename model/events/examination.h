// Estimates how likely users look at each position of a list, from titles that
// were shown at different positions for the same query.
//
//   Model     P(click on d at k for q) = p_k r(q, d): a result is clicked if it
//             is looked at (p) and wanted (r). p_1 = 1.
//   Method    intervention harvesting (Agarwal, Zaitsev, Wang, Li, Najork and
//             Joachims, WSDM 2019): only titles that were shown at several
//             positions are used. p maximises
//               sum over (q, d), k of c_k log(n_k p_k / sum over j of n_j p_j)
//             for n_k impressions and c_k clicks of the title at position k:
//             its clicks fall on its positions as impressions and examination
//             have it, whatever r is. This is the likelihood of rare clicks
//             with r maximised out. It is concave in log p, and the expectation
//             of its derivative is 0 for clicks of any rate.
//   Prior     p is about a power law of the position, 1 / k^eta: the slope of
//             log p over log k does a random walk, with a variance of sigma^2
//             for each unit of log k. So positions learn from their neighbours
//             where few titles were clicked. The clicks choose sigma among six
//             values from .01 to 3: they are most probable under it (empirical
//             Bayes, by Laplace's approximation). So they decide how far p may
//             differ from a power law.
//   Weights   The paper's estimator from all pairs weighs the clicks of each
//             title by 1 / n_k, so that one that was seen once at a position
//             counts as much as one that was seen a thousand times. Here each
//             counts by what it knows.
//   Monotone  unless switched off, values that increase from one position to
//             the next are replaced by their mean, weighted by the clicks
//             behind them (isotonic regression).
//   Errors    standard errors of `num_bootstraps` resamplings of the queries,
//             with the same sigma. They are the same in every run.
#ifndef SEMRANK_MODEL_EVENTS_EXAMINATION_H_
#define SEMRANK_MODEL_EVENTS_EXAMINATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/events/click_rows.h"

namespace semrank {

struct ExaminationOptions {
  bool monotone = true;
  // Positions further down have the value of the last of these.
  std::uint32_t max_positions = 50;
  // Fewer titles that changed their position, or fewer clicks on them, are
  // refused.
  std::int64_t min_changed_titles = 100;
  std::int64_t min_clicks = 100;
  int num_bootstraps = 200;
  std::uint64_t seed = 1;
};

// The value of a position without clicks of its own is that of the one before.
struct ExaminedPosition {
  double examination = 1;  // in (0, 1] if monotone
  double standard_error = 0;
  // How many clicks decide the value, those of titles that were hardly shown
  // elsewhere counting little.
  double clicks = 0;
};

struct ExaminationCurve {
  std::vector<ExaminedPosition> positions;  // the first is position 1
  std::int64_t num_changed_titles = 0;      // pairs of query and title
  std::int64_t num_clicks = 0;              // on them

  // The examination of any position from 1.
  double At(std::uint32_t position) const;
};

// `rows` are in the order of ClickRows::Sorted. FailedPrecondition, with the
// numbers and the remedies, if too few titles changed their position: then a
// position that is rarely looked at cannot be distinguished from titles that
// are rarely wanted (arXiv:2506.20501).
absl::StatusOr<ExaminationCurve> EstimateExamination(
    std::span<const ClickRow> rows, const ExaminationOptions& options = {});

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_EXAMINATION_H_
