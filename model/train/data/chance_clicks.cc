#include "model/train/data/chance_clicks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/fingerprint.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

constexpr std::int64_t kMinClickedTitles = 100;
constexpr double kMinShare = 0.01;
constexpr double kMinRatio = 2;  // of the rates
// More titles do not change three rates.
constexpr std::size_t kMaxFittedTitles = 100'000;
constexpr int kMaxSteps = 200;
constexpr double kTolerance = 1e-4;
// In click_simulation.py .5 loses right pairs of rare queries, and .1 keeps
// many wrong ones.
constexpr double kMinWantedProbability = 0.25;

// Natural logarithms of P(clicks) where `expected` is the mean of the clicks.
double LogWanted(double clicks, double expected) {
  // Poisson clicks whose rate is exponentially distributed are geometric.
  return clicks * std::log(expected / (1 + expected)) - std::log1p(expected);
}
double LogChance(double clicks, double expected) {
  return clicks * std::log(expected) - expected - std::lgamma(clicks + 1);
}

bool IsNear(const ClickRates& a, const ClickRates& b) {
  const auto near = [](double x, double y) {
    return std::abs(x - y) <= kTolerance * std::max(x, y);
  };
  return near(a.wanted, b.wanted) && near(a.chance, b.chance) &&
         near(a.share, b.share);
}

// 64 bits: two of a billion pairs are taken for one with a probability of 3 %.
std::uint64_t PairFingerprint(std::string_view query, std::string_view title) {
  return BytesFingerprint(absl::StrCat(ToAbsl(query), "\t", ToAbsl(title))).lo;
}

}  // namespace

double ClickRates::WantedProbability(double clicks, double examinations) const {
  if (share >= 1) return 1;
  const double log_wanted = LogWanted(clicks, wanted * examinations);
  // The logarithm needs a rate above 0.
  const double log_chance =
      LogChance(clicks, std::max(chance, 1e-12) * examinations);
  return 1 / (1 + (1 - share) / share * std::exp(log_chance - log_wanted));
}

void ClickCounts::Add(std::string_view query, std::string_view title,
                      double clicks, double examinations) {
  counts_.push_back({PairFingerprint(query, title), clicks, examinations});
}

void ClickCounts::AddUp() {
  // In the order of the log, so that sums are the same in every run.
  std::ranges::stable_sort(counts_, {}, &Count::pair);
  std::size_t size = 0;
  for (const Count& count : counts_) {
    if (size > 0 && counts_[size - 1].pair == count.pair) {
      counts_[size - 1].clicks += count.clicks;
      counts_[size - 1].examinations += count.examinations;
    } else {
      counts_[size++] = count;
    }
  }
  counts_.resize(size);
}

// One step of expectation maximisation: each title counts for both kinds, by
// its probability.
ClickRates ClickCounts::Improve(const ClickRates& rates,
                                const std::vector<Count>& counts) {
  const std::size_t stride = 1 + counts.size() / kMaxFittedTitles;
  double num = 0, wanted = 0, sum_rates = 0, clicks = 0, examinations = 0;
  for (std::size_t i = 0; i < counts.size(); i += stride) {
    const Count& count = counts[i];
    const double p = rates.WantedProbability(count.clicks, count.examinations);
    ++num;
    wanted += p;
    // The mean of the gamma distribution that r has after these clicks.
    sum_rates +=
        p * (count.clicks + 1) / (count.examinations + 1 / rates.wanted);
    clicks += (1 - p) * count.clicks;
    examinations += (1 - p) * count.examinations;
  }
  constexpr double kTiny = std::numeric_limits<double>::min();
  return {.wanted = sum_rates / std::max(wanted, kTiny),
          .chance = clicks / std::max(examinations, kTiny),
          .share = wanted / num};
}

ClickRates ClickCounts::FitRates() {
  AddUp();
  double clicks = 0, examinations = 0;
  std::int64_t num_clicked = 0;
  for (const Count& count : counts_) {
    clicks += count.clicks;
    examinations += count.examinations;
    num_clicked += count.clicks > 0 ? 1 : 0;
  }
  if (num_clicked < kMinClickedTitles) return {};
  const double rate = clicks / examinations;
  ClickRates rates = {.wanted = 10 * rate, .chance = rate / 10, .share = 0.1};
  for (int step = 0; step < kMaxSteps; ++step) {
    const ClickRates before = rates;
    rates = Improve(before, counts_);
    if (IsNear(before, rates)) break;
  }
  const bool are_two_kinds =
      rates.share >= kMinShare && rates.wanted >= kMinRatio * rates.chance;
  return are_two_kinds ? rates : ClickRates();
}

absl::StatusOr<std::vector<TextPair>> ClickCounts::TakeChance(
    const TextInterner& texts, std::vector<TextPair>& pairs) {
  const ClickRates rates = FitRates();
  if (rates.share == 1) return std::vector<TextPair>();
  std::vector<TextPair> taken = TakePairs(pairs, [&](const TextPair& pair) {
    const std::uint64_t key =
        PairFingerprint(texts.text(pair.query), texts.text(pair.title));
    const auto found = std::ranges::lower_bound(counts_, key, {}, &Count::pair);
    if (found == counts_.end() || found->pair != key) return false;
    return found->clicks <= rates.chance * found->examinations ||
           rates.WantedProbability(found->clicks, found->examinations) <
               kMinWantedProbability;
  });
  if (taken.empty()) return taken;
  absl::FPrintF(stderr,
                "%s omitted whose clicks may be chance: users click %.2g %% "
                "of the titles that they look at and want, and %.2g %% of the "
                "others\n",
                CountText(std::ssize(taken), "line"), 100 * rates.wanted,
                100 * rates.chance);
  if (HasTwoTitles(pairs)) return taken;
  return absl::InvalidArgumentError(
      "the clicks on all titles but one may be chance: they are as rare as on "
      "titles that are not wanted");
}

}  // namespace semrank
