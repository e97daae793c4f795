#include "model/train/validation/lexical_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "model/base/random.h"
#include "model/base/status_macros.h"
#include "model/nn/lexical_query.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

constexpr int kMaxPairs = 2000;
constexpr int kMaxPairsOfQuery = 10;
constexpr int kNumUnclicked = 255;
// Unclicked titles are drawn from this many, whose vectors fit in 8 MB.
constexpr std::size_t kMaxTitles = 8192;

constexpr double kPenaltyOfOnePair = 0.5;
const double kPriorLog = std::log(5.0);
constexpr double kSmallestWeight = 0.01;
constexpr int kMaxSteps = 50;

// ln a, ln b.
using Logs = std::array<double, 2>;

// The objective with its gradient and a positive semidefinite approximation of
// its second derivatives (Gauss-Newton), all by ln a and ln b.
struct Objective {
  double log_likelihood = 0;
  double value = 0;
  Logs gradient = {};
  double aa = 0, ab = 0, bb = 0;
};

// `b` is 0 with uses_lexical false.
Objective Evaluate(const ScoredPairs& pairs, const Logs& logs,
                   bool uses_lexical) {
  const double a = std::exp(logs[0]);
  const double b = uses_lexical ? std::exp(logs[1]) : 0;
  Objective sum;
  double total_weight = 0;
  std::vector<double> terms;
  for (std::size_t i = 0; i < pairs.num_pairs(); ++i) {
    const std::size_t begin = pairs.offsets[i], end = pairs.offsets[i + 1];
    const auto score = [&](std::size_t k) {
      return a * pairs.semantic[k] + b * pairs.lexical[k];
    };
    // Log-sum-exp: the highest score is subtracted, so no exponential
    // overflows.
    double highest = score(begin);
    for (std::size_t k = begin; k < end; ++k) {
      highest = std::max(highest, score(k));
    }
    // Sums over the candidates of p, p x and p x x', of the two terms x of s.
    double p_sum = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const double p = std::exp(score(k) - highest);
      const double s = a * pairs.semantic[k], l = b * pairs.lexical[k];
      p_sum += p;
      x += p * s;
      y += p * l;
      xx += p * s * s;
      xy += p * s * l;
      yy += p * l * l;
    }
    x /= p_sum;
    y /= p_sum;
    const double weight = pairs.weights[i];
    total_weight += weight;
    sum.log_likelihood += weight * (score(begin) - highest - std::log(p_sum));
    sum.gradient[0] += weight * (x - a * pairs.semantic[begin]);
    sum.gradient[1] += weight * (y - b * pairs.lexical[begin]);
    // The derivative of s by ln a is a cos_dense. So the gradient is the mean
    // of that term under the softmax minus its value for the clicked title, and
    // its covariance is the Gauss-Newton part of the second derivatives. The
    // other part, which could make them negative, is omitted.
    sum.aa += weight * (xx / p_sum - x * x);
    sum.ab += weight * (xy / p_sum - x * y);
    sum.bb += weight * (yy / p_sum - y * y);
  }
  for (double* value : {&sum.log_likelihood, &sum.gradient[0], &sum.gradient[1],
                        &sum.aa, &sum.ab, &sum.bb}) {
    *value /= total_weight;
  }
  const double penalty =
      kPenaltyOfOnePair / static_cast<double>(pairs.num_pairs());
  sum.value = -sum.log_likelihood;
  for (int k = 0; k < (uses_lexical ? 2 : 1); ++k) {
    const double distance = logs[k] - kPriorLog;
    sum.value += penalty * distance * distance;
    sum.gradient[k] += 2 * penalty * distance;
  }
  sum.aa += 2 * penalty;
  // The penalty counts also without the lexical part, where it keeps the
  // determinant above 0 and the second component of the step at 0.
  sum.bb += 2 * penalty;
  return sum;
}

// Newton steps, halved until the objective falls.
Logs Minimize(const ScoredPairs& pairs, bool uses_lexical,
              double& log_likelihood) {
  Logs logs = {kPriorLog, kPriorLog};
  Objective now = Evaluate(pairs, logs, uses_lexical);
  for (int i = 0; i < kMaxSteps; ++i) {
    const double determinant = now.aa * now.bb - now.ab * now.ab;
    const Logs direction = {
        -(now.bb * now.gradient[0] - now.ab * now.gradient[1]) / determinant,
        -(now.aa * now.gradient[1] - now.ab * now.gradient[0]) / determinant};
    Objective next = now;
    Logs at = logs;
    // Far from the minimum a full Newton step may overshoot, so it is halved.
    constexpr int kMaxHalvings = 20;
    for (int halvings = 0; halvings < kMaxHalvings; ++halvings) {
      const double length = std::ldexp(1.0, -halvings);
      at = {logs[0] + length * direction[0], logs[1] + length * direction[1]};
      next = Evaluate(pairs, at, uses_lexical);
      if (next.value < now.value) break;
    }
    if (!(next.value < now.value)) break;
    const double gained = now.value - next.value;
    logs = at;
    now = next;
    if (gained < 1e-10) break;
  }
  log_likelihood = now.log_likelihood;
  return logs;
}

// Pairs in random order, at most kMaxPairsOfQuery of a query.
std::vector<TextPair> DrawPairs(std::span<const TextPair> held_out,
                                Random& random) {
  std::vector<TextPair> shuffled(held_out.begin(), held_out.end());
  Shuffle(random, shuffled);
  absl::flat_hash_map<TextId, int> num_drawn;
  std::vector<TextPair> drawn;
  for (const TextPair& pair : shuffled) {
    if (drawn.size() == kMaxPairs) break;
    if (++num_drawn[pair.query] <= kMaxPairsOfQuery) drawn.push_back(pair);
  }
  return drawn;
}

// Dense vectors and lexical entries of some texts.
struct TextVectors {
  TextVectors(const TextInterner& texts, std::span<const TextId> ids, Side side,
              const TwoTowerModel& model, const LexicalPart& part)
      : dim(static_cast<std::size_t>(model.embedding_dim())),
        dense(ids.size() * dim) {
    constexpr std::size_t kTextsAtOnce = 256;
    EmbedScratch scratch;
    for (std::size_t first = 0; first < ids.size(); first += kTextsAtOnce) {
      std::vector<std::string_view> slice;
      for (const TextId id :
           ids.subspan(first, std::min(kTextsAtOnce, ids.size() - first))) {
        slice.push_back(texts.text(id));
        part.AppendText(texts.text(id), lexical);
      }
      model.EmbedTexts(side, slice, scratch, dense.data() + first * dim);
    }
  }
  const float* row(std::size_t i) const { return dense.data() + i * dim; }

  std::size_t dim;
  std::vector<float> dense;  // [ids.size(), dim]
  LexicalBatch lexical;
};

// Positions of the titles that a pair is scored with, in a list that begins
// with the drawn titles.
class CandidateTitles {
 public:
  CandidateTitles(const LexicalSampleSource& source,
                  std::span<const TextPair> pairs, Random& random)
      : ids_(source.titles.begin(), source.titles.end()) {
    Shuffle(random, ids_);
    ids_.resize(std::min(ids_.size(), kMaxTitles));
    num_drawn_from_ = static_cast<std::uint32_t>(ids_.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) places_[ids_[i]] = i;
    for (const TextPair& pair : pairs) {
      if (places_.try_emplace(pair.title, ids_.size()).second) {
        ids_.push_back(pair.title);
      }
    }
    // All clicks of a query count, also those of pairs that were not drawn.
    for (const TextPair& pair : source.held_out) {
      clicked_.emplace(pair.query, pair.title);
    }
  }

  const std::vector<TextId>& ids() const { return ids_; }

  // The clicked title first.
  std::vector<std::size_t> Draw(const TextPair& pair, Random& random) const {
    std::vector<std::size_t> candidates = {places_.at(pair.title)};
    for (int i = 0; i < kNumUnclicked; ++i) {
      const std::size_t place = random.Below(num_drawn_from_);
      if (!clicked_.contains({pair.query, ids_[place]})) {
        candidates.push_back(place);
      }
    }
    return candidates;
  }

 private:
  std::vector<TextId> ids_;
  std::uint32_t num_drawn_from_ = 0;
  absl::flat_hash_map<TextId, std::size_t> places_;
  absl::flat_hash_set<std::pair<TextId, TextId>> clicked_;
};

}  // namespace

double FitLexicalWeight(const ScoredPairs& pairs) {
  if (pairs.num_pairs() == 0) return 0;
  double alone = 0, joined = 0;
  Minimize(pairs, /*uses_lexical=*/false, alone);
  const Logs logs = Minimize(pairs, /*uses_lexical=*/true, joined);
  // The comparison is without the penalty, which pulls b away from 0.
  if (!(joined > alone)) return 0;
  const double weight = 1 / (1 + std::exp(logs[0] - logs[1]));
  return weight < kSmallestWeight ? 0 : weight;
}

ScoredPairs ScoreHeldOutPairs(const LexicalSampleSource& source,
                              const TwoTowerModel& model,
                              const LexicalPart& lexical) {
  Random random(source.seed, RandomPurpose::kLexicalFit);
  const std::vector<TextPair> pairs = DrawPairs(source.held_out, random);
  const CandidateTitles candidates(source, pairs, random);
  std::vector<TextId> queries;
  absl::flat_hash_map<TextId, int> pairs_of_query;
  for (const TextPair& pair : pairs) {
    queries.push_back(pair.query);
    ++pairs_of_query[pair.query];
  }
  const TextVectors of_queries(source.texts, queries, Side::kQuery, model,
                               lexical);
  const TextVectors of_titles(source.texts, candidates.ids(), Side::kDocument,
                              model, lexical);
  ScoredPairs scored;
  LexicalQuery query;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    query.Prepare(of_queries.lexical[static_cast<int>(i)]);
    const float* const row = of_queries.row(i);
    for (const std::size_t place : candidates.Draw(pairs[i], random)) {
      scored.semantic.push_back(std::inner_product(row, row + of_queries.dim,
                                                   of_titles.row(place), 0.0f));
      scored.lexical.push_back(
          query.Cosine(of_titles.lexical[static_cast<int>(place)]));
    }
    scored.offsets.push_back(scored.semantic.size());
    scored.weights.push_back(1.0 / pairs_of_query.at(pairs[i].query));
  }
  return scored;
}

absl::StatusOr<double> FitLexicalWeight(
    const TrainOptions& options, const TrainingData& data,
    std::span<const std::span<const TextPair>> samples,
    std::vector<TensorView> weights) {
  const v1::ModelConfig config = DescribeModel(options, data.featurizer);
  SEMRANK_ASSIGN_OR_RETURN(const auto model,
                           ViewAsModel(std::move(weights), config, data));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto lexical,
      LexicalPart::Create({.idf = data.lexical_idf.data()}, nullptr));
  double sum = 0;
  int num_samples = 0;
  std::size_t num_pairs = 0;
  for (const std::span<const TextPair> sample : samples) {
    if (sample.empty()) continue;
    const ScoredPairs pairs = ScoreHeldOutPairs({.texts = *data.texts,
                                                 .held_out = sample,
                                                 .titles = data.titles,
                                                 .seed = options.seed},
                                                *model, *lexical);
    sum += FitLexicalWeight(pairs);
    num_pairs += pairs.num_pairs();
    ++num_samples;
  }
  // On queries whose titles the pass knows the towers are at their best, and w
  // is near 0; on new titles it is high. It is not known which of them a server
  // will see (TRAINING.md).
  const double weight = num_samples == 0 ? 0 : sum / num_samples;
  absl::FPrintF(stderr, "lexical weight %.3f, fitted on %d held-out pairs\n",
                weight, num_pairs);
  return weight;
}

}  // namespace semrank
