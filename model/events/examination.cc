#include "model/events/examination.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/random.h"

namespace semrank {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Weighted clicks of one query at two positions, from 0.
struct PairClicks {
  std::uint16_t first = 0;
  std::uint16_t second = 0;
  float first_clicks = 0;
  float second_clicks = 0;
};

// The pairs of all titles, by query.
struct Harvest {
  std::vector<PairClicks> pairs;
  std::vector<std::size_t> query_begins = {0};
  std::int64_t num_changed_titles = 0;
  std::int64_t num_clicks = 0;
  int num_positions = 0;

  std::size_t num_queries() const { return query_begins.size() - 1; }
};

// Adds the pairs of one title, whose rows are at more than one position.
void AddTitle(std::span<const ClickRow> rows, Harvest& harvest) {
  ++harvest.num_changed_titles;
  for (const ClickRow& row : rows) harvest.num_clicks += row.clicks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      if (rows[i].clicks + rows[j].clicks == 0) continue;
      const auto n = static_cast<float>(rows[i].impressions);
      const auto m = static_cast<float>(rows[j].impressions);
      harvest.pairs.push_back(
          {.first = static_cast<std::uint16_t>(rows[i].position - 1),
           .second = static_cast<std::uint16_t>(rows[j].position - 1),
           .first_clicks = static_cast<float>(rows[i].clicks) * m / (n + m),
           .second_clicks = static_cast<float>(rows[j].clicks) * n / (n + m)});
      harvest.num_positions =
          std::max(harvest.num_positions, static_cast<int>(rows[j].position));
    }
  }
}

Harvest HarvestPairs(std::span<const ClickRow> rows,
                     std::uint32_t max_positions) {
  Harvest harvest;
  for (std::size_t begin = 0; begin < rows.size();) {
    const ClickRow& first = rows[begin];
    std::size_t end = begin;
    std::size_t num_used = 0;
    while (end < rows.size() && rows[end].query == first.query &&
           rows[end].title == first.title) {
      if (rows[end++].position <= max_positions) ++num_used;
    }
    if (num_used > 1) AddTitle(rows.subspan(begin, num_used), harvest);
    const bool ends_query =
        end == rows.size() || rows[end].query != first.query;
    if (ends_query && harvest.pairs.size() > harvest.query_begins.back()) {
      harvest.query_begins.push_back(harvest.pairs.size());
    }
    begin = end;
  }
  return harvest;
}

// C(k, k') of the queries, each as often as it was drawn.
Matrix SumPairs(const Harvest& harvest, std::span<const int> num_draws) {
  Matrix clicks = Matrix::Zero(harvest.num_positions, harvest.num_positions);
  for (std::size_t query = 0; query < harvest.num_queries(); ++query) {
    const int weight = num_draws.empty() ? 1 : num_draws[query];
    if (weight == 0) continue;
    for (std::size_t i = harvest.query_begins[query];
         i < harvest.query_begins[query + 1]; ++i) {
      const PairClicks& pair = harvest.pairs[i];
      clicks(pair.first, pair.second) += weight * double{pair.first_clicks};
      clicks(pair.second, pair.first) += weight * double{pair.second_clicks};
    }
  }
  return clicks;
}

// Leaves the clicks of positions that are compared with position 1, perhaps by
// way of others.
Matrix ReachedFromFirst(const Matrix& clicks) {
  std::vector<Eigen::Index> reached = {0};
  std::vector<bool> is_reached(static_cast<std::size_t>(clicks.rows()), false);
  is_reached[0] = true;
  Matrix left = Matrix::Zero(clicks.rows(), clicks.cols());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Eigen::Index k = reached[i];
    left.row(k) = clicks.row(k);
    for (Eigen::Index other = 0; other < clicks.rows(); ++other) {
      if (clicks(k, other) + clicks(other, k) == 0) continue;
      if (is_reached[static_cast<std::size_t>(other)]) continue;
      is_reached[static_cast<std::size_t>(other)] = true;
      reached.push_back(other);
    }
  }
  return left;
}

// Newton's method for log p, in which the likelihood is concave. The step is
// bounded, so that it converges from afar.
Vector MaximizeLikelihood(const Matrix& clicks) {
  constexpr int kMaxSteps = 100;
  constexpr double kMaxChange = 1;
  constexpr double kTolerance = 1e-9;
  // A position that has no click in a resampling gets a small value, not 0.
  constexpr double kPseudoClicks = 0.05;
  const Eigen::Index size = clicks.rows();
  Vector log_p = Vector::Zero(size);
  for (int step = 0; step < kMaxSteps; ++step) {
    Vector gradient = Vector::Zero(size);
    Matrix hessian = Matrix::Zero(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
      for (Eigen::Index j = 0; j < size; ++j) {
        if (i == j || clicks(i, j) + clicks(j, i) == 0) continue;
        const double total = clicks(i, j) + clicks(j, i) + 2 * kPseudoClicks;
        const double share = 1 / (1 + std::exp(log_p[j] - log_p[i]));
        gradient[i] += clicks(i, j) + kPseudoClicks - total * share;
        hessian(i, i) += total * share * (1 - share);
        hessian(i, j) -= total * share * (1 - share);
      }
      // Positions that are not reached have no term and stay where they are.
      if (hessian(i, i) == 0) hessian(i, i) = 1;
    }
    // log p_1 is 0.
    const Vector change = hessian.bottomRightCorner(size - 1, size - 1)
                              .ldlt()
                              .solve(gradient.tail(size - 1));
    log_p.tail(size - 1) += change.cwiseMax(-kMaxChange).cwiseMin(kMaxChange);
    if (change.cwiseAbs().maxCoeff() < kTolerance) break;
  }
  return log_p;
}

// Pools adjacent values that increase, weighted, and divides by the first.
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

std::vector<double> WeightedClicks(const Matrix& clicks) {
  std::vector<double> sums;
  for (Eigen::Index k = 0; k < clicks.rows(); ++k) {
    sums.push_back(clicks.row(k).sum() + clicks.col(k).sum());
  }
  return sums;
}

struct FittedCurve {
  std::vector<double> p;
  std::vector<double> clicks;
};

FittedCurve Fit(const Matrix& all_clicks, bool monotone) {
  const Matrix clicks = ReachedFromFirst(all_clicks);
  FittedCurve curve{.p = {1}, .clicks = WeightedClicks(clicks)};
  const Vector log_p = MaximizeLikelihood(clicks);
  for (std::size_t k = 1; k < curve.clicks.size(); ++k) {
    curve.p.push_back(curve.clicks[k] > 0
                          ? std::exp(log_p[static_cast<Eigen::Index>(k)])
                          : curve.p.back());
  }
  if (monotone) MakeMonotone(curve.clicks, curve.p);
  return curve;
}

absl::Status CheckHarvest(const Harvest& harvest,
                          const ExaminationOptions& options) {
  const bool compares_first = std::ranges::any_of(
      harvest.pairs, [](const PairClicks& pair) { return pair.first == 0; });
  if (harvest.num_changed_titles >= options.min_changed_titles &&
      harvest.num_clicks >= options.min_clicks && compares_first) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "the examination of positions cannot be estimated: %s of a query changed "
      "position, with %s%s; it needs %d titles and %d clicks. Where titles "
      "stay "
      "in their places, a position that is rarely looked at cannot be "
      "distinguished from titles that are rarely wanted (arXiv:2506.20501). "
      "Let "
      "the server exchange some results (semrank-server --explore=0.05), give "
      "a curve that you know (--position_bias=FILE), or do not correct "
      "(--position_bias=none)",
      CountText(harvest.num_changed_titles, "title"),
      CountText(harvest.num_clicks, "click"),
      compares_first || harvest.num_clicks == 0
          ? ""
          : ", but none to or from position 1",
      options.min_changed_titles, options.min_clicks));
}

// Sets the standard errors.
void Bootstrap(const Harvest& harvest, const ExaminationOptions& options,
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
    const std::vector<double> p =
        Fit(SumPairs(harvest, num_draws), options.monotone).p;
    for (std::size_t k = 0; k < positions.size(); ++k) {
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
  const Harvest harvest = HarvestPairs(rows, options.max_positions);
  const absl::Status status = CheckHarvest(harvest, options);
  if (!status.ok()) return status;
  ExaminationCurve curve;
  curve.num_changed_titles = harvest.num_changed_titles;
  curve.num_clicks = harvest.num_clicks;
  const FittedCurve fitted = Fit(SumPairs(harvest, {}), options.monotone);
  for (std::size_t k = 0; k < fitted.p.size(); ++k) {
    curve.positions.push_back(
        {.examination = fitted.p[k], .clicks = fitted.clicks[k]});
  }
  Bootstrap(harvest, options, curve.positions);
  return curve;
}

}  // namespace semrank
