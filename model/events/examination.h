// Estimates how likely users look at each position of a list, from titles that
// were shown at different positions for the same query.
//
//   Model     P(click on d at k for q) = p_k r(q, d): a result is clicked if it
//             is looked at (p) and wanted (r). p_1 = 1.
//   Method    intervention harvesting (Agarwal, Zaitsev, Wang, Li, Najork and
//             Joachims, WSDM 2019). A title d with n impressions and c clicks
//             at position k, n' and c' at k', adds to the weighted clicks of
//             the pair of positions
//                 C(k, k') += c n' / (n + n'),   C(k', k) += c' n / (n + n').
//             Both have the same expectation but for the factors p_k and p_k',
//             whatever r is. These are the weights of Mantel and Haenszel, with
//             which a title that was seen once at k' counts as little as it
//             knows; those of the paper, 1 / n and 1 / n', would let it count
//             as much as any other.
//   All pairs p maximises  sum over pairs of  C(k, k') log(p_k / (p_k + p_k')),
//             the likelihood of the paper's all-pairs estimator for rare clicks
//             with r maximised out. It is that of Bradley and Terry (1952), so
//             it is concave in log p.
//   Monotone  unless switched off, values that increase from one position to
//             the next are replaced by their mean, weighted by the clicks
//             behind them (isotonic regression).
//   Errors    standard errors of `num_bootstraps` resamplings of the queries.
//             They are the same in every run.
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
  double clicks = 0;  // weighted clicks that decide the value
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
