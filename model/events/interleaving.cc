#include "model/events/interleaving.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

namespace semrank {
namespace {

// Quantile of the normal distribution: 2.5 % of it is above.
constexpr double kQuantile = 1.959964;

// Wilson's score interval: the shares p whose test statistic
// |share - p| / sqrt(p (1 - p) / n) is below the quantile. It has width even
// where all sessions have one result, unlike an interval of resamplings.
void SetInterval(InterleavedPair& pair) {
  const std::int64_t count = pair.wins + pair.ties + pair.losses;
  if (count == 0) return;
  const auto n = static_cast<double>(count);
  pair.share =
      (static_cast<double>(pair.wins) + static_cast<double>(pair.ties) / 2) / n;
  const double z2 = kQuantile * kQuantile / n;
  const double center = (pair.share + z2 / 2) / (1 + z2);
  const double width =
      std::sqrt(z2 * (pair.share * (1 - pair.share) + z2 / 4)) / (1 + z2);
  pair.share_low = std::max(0.0, center - width);
  pair.share_high = std::min(1.0, center + width);
}

}  // namespace

void InterleavingComparison::Add(const JoinedList& list,
                                 const ClickJoin& join) {
  std::string a = join.text(list.ranker_a);
  std::string b = join.text(list.ranker_b);
  if (a.empty() || b.empty()) return;
  // Team a of a list may be either model. A pair has one order, so that its
  // lists add up.
  const bool is_swapped = b < a;
  if (is_swapped) std::swap(a, b);
  const auto [entry, is_new] = pair_numbers_.try_emplace(
      {std::move(a), std::move(b)}, std::ssize(num_lists_));
  if (is_new) num_lists_.push_back(0);
  const std::int64_t pair = entry->second;
  ++num_lists_[static_cast<std::size_t>(pair)];
  SessionClicks& clicks = sessions_[{pair, list.session}];
  for (const JoinedResult& result : list.results) {
    if (!result.clicked || result.team == 0) continue;
    ++((result.team == 'a') == is_swapped ? clicks.b : clicks.a);
  }
}

std::vector<InterleavedPair> InterleavingComparison::Results() const {
  std::vector<InterleavedPair> by_number(num_lists_.size());
  for (const auto& [key, clicks] : sessions_) {
    InterleavedPair& pair = by_number[static_cast<std::size_t>(key.pair)];
    ++pair.sessions;
    if (clicks.a > clicks.b) {
      ++pair.wins;
    } else if (clicks.a < clicks.b) {
      ++pair.losses;
    } else {
      ++(clicks.a > 0 ? pair.ties : pair.without_clicks);
    }
  }
  // pair_numbers_ is ordered, so the results are too, whatever the order of the
  // hash map of sessions.
  std::vector<InterleavedPair> results;
  for (const auto& [names, number] : pair_numbers_) {
    const auto index = static_cast<std::size_t>(number);
    InterleavedPair& pair = by_number[index];
    std::tie(pair.a, pair.b) = names;
    pair.lists = num_lists_[index];
    pair.p = SignTest(pair.wins, pair.losses);
    SetInterval(pair);
    results.push_back(std::move(pair));
  }
  return results;
}

// Without a preference wins and losses have the distribution of coin throws.
// The p value is the probability of the smaller tail, twice, since either model
// might have won. Logarithms of the factorials: 171! is beyond a double.
double SignTest(std::int64_t wins, std::int64_t losses) {
  const std::int64_t count = wins + losses;
  if (count == 0) return 1;
  const auto n = static_cast<double>(count);
  double tail = 0;
  for (std::int64_t k = 0; k <= std::min(wins, losses); ++k) {
    const auto i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) -
                     std::lgamma(n - i + 1) - n * std::log(2));
  }
  // The tails of a draw overlap in the middle.
  return std::min(1.0, 2 * tail);
}

// The usual formula for one proportion p against 1/2, by the normal
// approximation: n = ((z_sig / 2 + z_pow sqrt(p (1 - p))) / (p - 1/2))^2.
std::int64_t SessionsForEffect(double effect) {
  // 20 % of the normal distribution is above.
  constexpr double kPower = 0.841621;
  const double share = 0.5 + effect;
  const double root =
      (kQuantile * 0.5 + kPower * std::sqrt(share * (1 - share))) / effect;
  return static_cast<std::int64_t>(std::ceil(root * root));
}

}  // namespace semrank
