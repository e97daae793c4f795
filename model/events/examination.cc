#include "model/events/examination.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/random.h"

// The rows of a title follow each other, as do the titles of a query, so one
// pass over the rows finds what can be used (HarvestTitles). Derivatives has
// the log likelihood of log p with its gradient and information; PriorPrecision
// returns the inverse covariance of the normal prior. MaximizePosterior
// maximizes the log posterior. CurveFit chooses the prior once, on all queries.
// Each resampling keeps that prior and begins at that maximum.
namespace semrank {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// A title at one of its positions, which counts from 0.
struct Shown {
  int position = 0;
  double impressions = 0;
  double clicks = 0;
};

// The titles that were shown at several positions and clicked at one of them;
// nothing can be learned from others.
struct Harvest {
  std::vector<Shown> shown;
  std::vector<std::size_t> title_begins = {0};  // in `shown`
  std::vector<std::size_t> query_begins = {0};  // in `title_begins`
  std::int64_t num_changed_titles = 0;
  std::int64_t num_clicks = 0;
  int num_positions = 0;

  std::size_t num_titles() const { return title_begins.size() - 1; }
  std::size_t num_queries() const { return query_begins.size() - 1; }
  std::span<const Shown> title(std::size_t number) const {
    return std::span(shown).subspan(
        title_begins[number], title_begins[number + 1] - title_begins[number]);
  }
};

// Adds a title, whose rows are at more than one position.
void AddTitle(std::span<const ClickRow> rows, Harvest& harvest) {
  ++harvest.num_changed_titles;
  std::int64_t num_clicks = 0;
  for (const ClickRow& row : rows) num_clicks += row.clicks;
  harvest.num_clicks += num_clicks;
  // Each term of the likelihood has a number of clicks as its factor, so a
  // title without clicks adds nothing.
  if (num_clicks == 0) return;
  for (const ClickRow& row : rows) {
    harvest.shown.push_back(
        {.position = static_cast<int>(row.position) - 1,
         .impressions = static_cast<double>(row.impressions),
         .clicks = static_cast<double>(row.clicks)});
  }
  harvest.title_begins.push_back(harvest.shown.size());
  harvest.num_positions =
      std::max(harvest.num_positions, static_cast<int>(rows.back().position));
}

Harvest HarvestTitles(std::span<const ClickRow> rows,
                      std::uint32_t max_positions) {
  Harvest harvest;
  for (std::size_t begin = 0; begin < rows.size();) {
    const ClickRow& first = rows[begin];
    std::size_t end = begin;
    // The positions of a title ascend, so the rows that are used precede the
    // others.
    std::size_t num_used = 0;
    while (end < rows.size() && rows[end].query == first.query &&
           rows[end].title == first.title) {
      if (rows[end++].position <= max_positions) ++num_used;
    }
    if (num_used > 1) AddTitle(rows.subspan(begin, num_used), harvest);
    // A query is a unit of the resampling. One without a title to learn from
    // would only make the others rarer.
    const bool ends_query =
        end == rows.size() || rows[end].query != first.query;
    if (ends_query && harvest.num_titles() > harvest.query_begins.back()) {
      harvest.query_begins.push_back(harvest.num_titles());
    }
    begin = end;
  }
  return harvest;
}

// Whether titles compare a position with position 1, perhaps by way of others.
// The likelihood compares only the positions of one title: it determines p up
// to a factor in each group of positions that titles connect, and p_1 = 1 fixes
// the factor of one group. Each pass extends that group by the positions of all
// titles that touch it, until none does.
std::vector<bool> ReachedFromFirst(const Harvest& harvest) {
  std::vector<bool> reached(static_cast<std::size_t>(harvest.num_positions));
  reached[0] = true;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t number = 0; number < harvest.num_titles(); ++number) {
      const auto is_reached = [&reached](const Shown& at) {
        return reached[static_cast<std::size_t>(at.position)];
      };
      const std::span<const Shown> title = harvest.title(number);
      if (std::ranges::none_of(title, is_reached)) continue;
      for (const Shown& at : title) {
        if (is_reached(at)) continue;
        reached[static_cast<std::size_t>(at.position)] = true;
        has_changed = true;
      }
    }
  }
  return reached;
}

// The log likelihood, but for a constant, and its first two derivatives by log
// p.
struct Derivatives {
  double value = 0;
  Vector gradient;
  Matrix information;  // minus the second derivative

  explicit Derivatives(Eigen::Index size)
      : gradient(Vector::Zero(size)), information(Matrix::Zero(size, size)) {}

  // Adds a title, which counts `weight` times. `p` has the examination of each
  // position. With s_k = n_k p_k / sum over j of n_j p_j and c = sum of the
  // c_k:
  //
  //   value        sum over k of c_k log s_k
  //   gradient     c_k - c s_k
  //   information  c (s_k [k = j] - s_k s_j)
  void Add(std::span<const Shown> title, const Vector& p, double weight) {
    double clicks = 0, expected = 0;
    for (const Shown& at : title) {
      clicks += at.clicks;
      expected += at.impressions * p[at.position];
    }
    for (const Shown& at : title) {
      const double share = at.impressions * p[at.position] / expected;
      if (at.clicks > 0) value += weight * at.clicks * std::log(share);
      gradient[at.position] += weight * (at.clicks - clicks * share);
      information(at.position, at.position) += weight * clicks * share;
      for (const Shown& other : title) {
        information(at.position, other.position) -=
            weight * clicks * share * other.impressions * p[other.position] /
            expected;
      }
    }
  }
};

// `num_draws` says how often a resampling drew each query; empty = each once.
Derivatives Differentiate(const Harvest& harvest,
                          std::span<const int> num_draws, const Vector& log_p) {
  Derivatives derivatives(harvest.num_positions);
  const Vector p = log_p.array().exp();
  for (std::size_t query = 0; query < harvest.num_queries(); ++query) {
    const double weight = num_draws.empty() ? 1 : num_draws[query];
    if (weight == 0) continue;
    for (std::size_t number = harvest.query_begins[query];
         number < harvest.query_begins[query + 1]; ++number) {
      derivatives.Add(harvest.title(number), p, weight);
    }
  }
  return derivatives;
}

// The normal prior of log p: the inverse of its covariance. The slope of log p
// over log k does a random walk, whose variance is sigma^2 for each unit of log
// k. Power laws cost nothing: their slope never changes.
Matrix PriorPrecision(Eigen::Index num_positions, double sigma) {
  // As if log p had a variance of 25, too: a position without a click gets a
  // small value, not 0. Clicks outweigh it.
  Matrix precision =
      Matrix::Identity(num_positions, num_positions) * (1.0 / 25);
  for (Eigen::Index k = 1; k + 1 < num_positions; ++k) {
    const auto position = static_cast<double>(k + 1);
    const double before = std::log(position / (position - 1));
    const double after = std::log((position + 1) / position);
    // This row times log p is the change of the slope at k. Under the walk it
    // is normal with mean 0, so the prior adds its square over its variance.
    Vector change = Vector::Zero(num_positions);
    change[k - 1] = 1 / before;
    change[k] = -1 / before - 1 / after;
    change[k + 1] = 1 / after;
    // The slopes belong to the middles of the two intervals, which are this far
    // apart in log k.
    const double variance = sigma * sigma * (before + after) / 2;
    precision += change * change.transpose() / variance;
  }
  return precision;
}

// Newton's method from `log_p`, in which likelihood and prior are concave.
// Steps are bounded, so that it converges from afar. Position 1 is no variable:
// its row and column are cut from gradient and information.
Vector MaximizePosterior(const Harvest& harvest, std::span<const int> num_draws,
                         const Matrix& precision, Vector log_p, int max_steps) {
  constexpr double kMaxChange = 1;
  constexpr double kTolerance = 1e-6;
  const Eigen::Index size = log_p.size() - 1;  // log p_1 is 0
  for (int step = 0; step < max_steps; ++step) {
    const Derivatives derivatives = Differentiate(harvest, num_draws, log_p);
    const Vector gradient = derivatives.gradient - precision * log_p;
    const Matrix information = derivatives.information + precision;
    const Vector change = information.bottomRightCorner(size, size)
                              .ldlt()
                              .solve(gradient.tail(size));
    const double largest = change.cwiseAbs().maxCoeff();
    log_p.tail(size) += change * std::min(1.0, kMaxChange / largest);
    if (largest < kTolerance) break;
  }
  return log_p;
}

// Half the logarithm of the determinant, which is positive.
double HalfLogDeterminant(const Matrix& matrix) {
  const Vector pivots = matrix.ldlt().vectorD();
  return pivots.array().log().sum() / 2;
}

// The log of the probability of the clicks under a prior, but for a constant,
// by Laplace's approximation at the maximum `log_p`: the posterior is about a
// normal distribution there, whose integral needs only the determinant of the
// second derivatives. The powers of 2 pi of prior and posterior cancel.
double LogEvidence(const Harvest& harvest, const Matrix& precision,
                   const Vector& log_p) {
  const Derivatives derivatives = Differentiate(harvest, {}, log_p);
  const Eigen::Index size = log_p.size() - 1;  // log p_1 is known
  const Matrix prior = precision.bottomRightCorner(size, size);
  const Matrix posterior =
      prior + derivatives.information.bottomRightCorner(size, size);
  return derivatives.value - log_p.dot(precision * log_p) / 2 +
         HalfLogDeterminant(prior) - HalfLogDeterminant(posterior);
}

struct SmoothFit {
  Matrix precision;  // of the prior
  Vector log_p;
};

// With the prior under which the clicks are most probable.
SmoothFit FitSmoothly(const Harvest& harvest) {
  constexpr double kSigmas[] = {3, 1, 0.3, 0.1, 0.03, 0.01};
  constexpr int kMaxSteps = 100;
  SmoothFit best;
  double best_evidence = 0;
  // From the weakest prior to the strongest: the maximum under one sigma is
  // near that of the next, so that Newton's method begins close to it.
  Vector log_p = Vector::Zero(harvest.num_positions);
  for (const double sigma : kSigmas) {
    const Matrix precision = PriorPrecision(harvest.num_positions, sigma);
    log_p = MaximizePosterior(harvest, {}, precision, log_p, kMaxSteps);
    const double evidence = LogEvidence(harvest, precision, log_p);
    if (best.log_p.size() > 0 && evidence <= best_evidence) continue;
    best = {precision, log_p};
    best_evidence = evidence;
  }
  return best;
}

// Pools adjacent values that increase, weighted, and divides by the first,
// whose block may have a mean other than 1. This is the algorithm of isotonic
// regression: the means of the blocks so far decrease, and a block that would
// break this joins the one before it until they decrease again.
void MakeMonotone(std::span<const double> weights, std::vector<double>& p) {
  struct Block {
    double sum = 0;
    double weight = 0;
    std::size_t size = 0;
    double mean() const { return sum / weight; }
  };
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < p.size(); ++k) {
    // So small a weight decides nothing where a position has none.
    const double weight = weights[k] + 1e-6;
    blocks.push_back({weight * p[k], weight, 1});
    while (blocks.size() > 1 &&
           blocks[blocks.size() - 2].mean() < blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().weight += last.weight;
      blocks.back().size += last.size;
    }
  }
  p.clear();
  for (const Block& block : blocks) {
    p.insert(p.end(), block.size, block.mean() / blocks.front().mean());
  }
}

// What a position that no title compares with the first has.
void FillGaps(const std::vector<bool>& reached, std::vector<double>& p) {
  for (std::size_t k = 1; k < p.size(); ++k) {
    if (!reached[k]) p[k] = p[k - 1];
  }
}

absl::Status CheckHarvest(const Harvest& harvest,
                          const ExaminationOptions& options) {
  const bool compares_first = std::ranges::any_of(
      harvest.shown, [](const Shown& at) { return at.position == 0; });
  if (harvest.num_changed_titles >= options.min_changed_titles &&
      harvest.num_clicks >= options.min_clicks && compares_first) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "the examination of positions cannot be estimated: %s of a query changed "
      "position, with %s%s; it needs %d titles and %d clicks. Where titles "
      "stay in their places, a position that is rarely looked at cannot be "
      "distinguished from titles that are rarely wanted (arXiv:2506.20501). "
      "Let the server exchange some results (semrank-server --explore=0.05), "
      "give a curve that you know (--position_bias=FILE), or do not correct "
      "(--position_bias=none)",
      CountText(harvest.num_changed_titles, "title"),
      CountText(harvest.num_clicks, "click"),
      compares_first || harvest.num_clicks == 0
          ? ""
          : ", but none to or from position 1",
      options.min_changed_titles, options.min_clicks));
}

// The estimate from some draw of the queries.
class CurveFit {
 public:
  CurveFit(const Harvest& harvest, bool monotone)
      : harvest_(harvest),
        monotone_(monotone),
        reached_(ReachedFromFirst(harvest)),
        fit_(FitSmoothly(harvest)),
        clicks_(reached_.size()) {
    const Vector information =
        Differentiate(harvest, {}, fit_.log_p).information.diagonal();
    for (std::size_t k = 0; k < reached_.size(); ++k) {
      if (reached_[k]) clicks_[k] = information[static_cast<Eigen::Index>(k)];
    }
  }

  std::vector<double> All() const { return Finish(fit_.log_p); }
  // The estimate from all queries is near, so that a few steps suffice.
  std::vector<double> Resampled(std::span<const int> num_draws) const {
    constexpr int kSteps = 3;
    return Finish(MaximizePosterior(harvest_, num_draws, fit_.precision,
                                    fit_.log_p, kSteps));
  }
  // The information on log p: the inverse of its variance, were the other
  // positions known.
  const std::vector<double>& clicks() const { return clicks_; }

 private:
  // The gaps are filled first: a copied value has no clicks, hence hardly any
  // weight, and cannot move the block that it joins.
  std::vector<double> Finish(const Vector& log_p) const {
    std::vector<double> p;
    for (const double value : log_p) p.push_back(std::exp(value));
    FillGaps(reached_, p);
    if (monotone_) MakeMonotone(clicks_, p);
    return p;
  }

  const Harvest& harvest_;
  const bool monotone_;
  const std::vector<bool> reached_;
  const SmoothFit fit_;
  std::vector<double> clicks_;
};

// Sets the standard errors. Queries are drawn, and not titles: the titles of
// one query were shown in the same lists, so their clicks are not independent.
void Bootstrap(const Harvest& harvest, const CurveFit& fit,
               const ExaminationOptions& options,
               std::vector<ExaminedPosition>& positions) {
  std::vector<double> sums(positions.size()), squares(positions.size());
  const auto num_queries = static_cast<std::uint32_t>(harvest.num_queries());
  for (int i = 0; i < options.num_bootstraps; ++i) {
    Random random(options.seed, RandomPurpose::kExaminationBootstrap,
                  static_cast<std::uint64_t>(i));
    std::vector<int> num_draws(num_queries);
    for (std::uint32_t n = 0; n < num_queries; ++n) {
      ++num_draws[random.Below(num_queries)];
    }
    const std::vector<double> p = fit.Resampled(num_draws);
    for (std::size_t k = 0; k < positions.size(); ++k) {
      // Squares of the differences, which are small, keep digits that the
      // difference of two large sums of squares would lose.
      const double difference = p[k] - positions[k].examination;
      sums[k] += difference;
      squares[k] += difference * difference;
    }
  }
  const double count = options.num_bootstraps;
  if (count < 2) return;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const double variance =
        (squares[k] - sums[k] * sums[k] / count) / (count - 1);
    positions[k].standard_error = std::sqrt(std::max(0.0, variance));
  }
}

}  // namespace

double ExaminationCurve::At(std::uint32_t position) const {
  const auto last = static_cast<std::uint32_t>(positions.size());
  return positions[std::clamp(position, std::uint32_t{1}, last) - 1]
      .examination;
}

absl::StatusOr<ExaminationCurve> EstimateExamination(
    std::span<const ClickRow> rows, const ExaminationOptions& options) {
  const Harvest harvest = HarvestTitles(rows, options.max_positions);
  const absl::Status status = CheckHarvest(harvest, options);
  if (!status.ok()) return status;
  const CurveFit fit(harvest, options.monotone);
  ExaminationCurve curve;
  curve.num_changed_titles = harvest.num_changed_titles;
  curve.num_clicks = harvest.num_clicks;
  for (const double p : fit.All()) {
    curve.positions.push_back(
        {.examination = p, .clicks = fit.clicks()[curve.positions.size()]});
  }
  Bootstrap(harvest, fit, options, curve.positions);
  return curve;
}

}  // namespace semrank
