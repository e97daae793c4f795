#include "model/events/interleaving.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "model/base/random.h"

namespace semrank {
namespace {

double ShareOf(double wins, double ties, double count) {
  return (wins + ties / 2) / count;
}

// The sessions of a pair differ only in their result, so a resampling needs no
// sessions: it draws results by their shares. More draws than kMaxDraws would
// only take time, since the standard deviation of a share is proportional to
// 1 / sqrt(draws): the deviations of fewer draws are scaled to all sessions.
// The seed is fixed, so that the same events always have the same interval.
void SetInterval(InterleavedPair& pair) {
  constexpr int kResamplings = 1'000;
  constexpr std::int64_t kMaxDraws = 10'000;
  const std::int64_t count = pair.wins + pair.ties + pair.losses;
  if (count == 0) return;
  const auto num_draws = static_cast<std::uint32_t>(std::min(count, kMaxDraws));
  pair.share =
      ShareOf(static_cast<double>(pair.wins), static_cast<double>(pair.ties),
              static_cast<double>(count));
  const double win_share =
      static_cast<double>(pair.wins) / static_cast<double>(count);
  const double tie_share =
      static_cast<double>(pair.ties) / static_cast<double>(count);
  Random random(/*seed=*/1, RandomPurpose::kInterleavingBootstrap);
  std::vector<double> deviations;
  for (int i = 0; i < kResamplings; ++i) {
    int wins = 0, ties = 0;
    for (std::uint32_t draw = 0; draw < num_draws; ++draw) {
      const double at = random.Between(0, 1);
      if (at < win_share) {
        ++wins;
      } else if (at < win_share + tie_share) {
        ++ties;
      }
    }
    deviations.push_back(ShareOf(wins, ties, num_draws) - pair.share);
  }
  std::ranges::sort(deviations);
  const double scale =
      std::sqrt(static_cast<double>(num_draws) / static_cast<double>(count));
  constexpr std::size_t kTail = kResamplings / 40;  // 2.5 % at either end
  pair.share_low = std::max(0.0, pair.share + scale * deviations[kTail]);
  pair.share_high =
      std::min(1.0, pair.share + scale * deviations[kResamplings - 1 - kTail]);
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
  // Quantiles of the normal distribution: 97.5 % and 80 %.
  constexpr double kSignificance = 1.959964;
  constexpr double kPower = 0.841621;
  const double share = 0.5 + effect;
  const double root =
      (kSignificance * 0.5 + kPower * std::sqrt(share * (1 - share))) / effect;
  return static_cast<std::int64_t>(std::ceil(root * root));
}

}  // namespace semrank
