#include "model/train/validation/lexical_fit.h"

#include <algorithm>
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
#include "model/text/character_table.h"
#include "model/text/unicode.h"
#include "model/train/data/position_weights.h"
#include "model/train/validation/trained_model.h"

namespace semrank {
namespace {

// MATHEMATICS.md, "The lexical part", has the sum that is minimised. Pairs are
// scored once, as two cosines for each candidate; the search over w and c then
// needs no texts and no model.

constexpr int kMaxPairs = 2000;
constexpr int kMaxPairsOfQuery = 10;
constexpr int kNumUnclicked = 255;
// Unclicked titles are drawn from this many, whose vectors fit in 8 MB.
constexpr std::size_t kMaxTitles = 8192;

constexpr double kSmallestWeight = 0.01;
constexpr double kLargestWeight = 0.98;
// The scale of a typical fit, where the search for the best one begins.
constexpr double kFirstScale = 15;
constexpr double kMaxScale = 1000;
constexpr int kMaxSteps = 20;

// The negative log-likelihood of the clicks for scores c cos, where cos is the
// joined cosine of weight w, and its derivatives by c.
struct Likelihood {
  double value = 0;
  double first = 0;
  double second = 0;
};

Likelihood Evaluate(const ScoredPairs& pairs, double w, double c) {
  Likelihood sum;
  std::vector<double> cosines;
  for (std::size_t i = 0; i < pairs.num_pairs(); ++i) {
    cosines.clear();
    double highest = -1;
    // The clicked title is the first of its candidates.
    for (std::size_t k = pairs.offsets[i]; k < pairs.offsets[i + 1]; ++k) {
      cosines.push_back((1 - w) * pairs.semantic[k] + w * pairs.lexical[k]);
      highest = std::max(highest, cosines.back());
    }
    // Log-sum-exp: the highest score is subtracted, so no exponential
    // overflows. Sums over the candidates of p, p cos and p cos^2.
    double p_sum = 0, x = 0, xx = 0;
    for (const double cosine : cosines) {
      const double p = std::exp(c * (cosine - highest));
      p_sum += p;
      x += p * cosine;
      xx += p * cosine * cosine;
    }
    x /= p_sum;
    const double weight = pairs.weights[i];
    sum.value += weight * (std::log(p_sum) - c * (cosines[0] - highest));
    sum.first += weight * (x - cosines[0]);
    sum.second += weight * (xx / p_sum - x * x);
  }
  return sum;
}

// The negative log-likelihood at the best c, where `c` begins and is returned:
// Newton steps, of at most a factor of 2.
double BestLikelihood(const ScoredPairs& pairs, double w, double& c) {
  Likelihood now = Evaluate(pairs, w, c);
  for (int i = 0; i < kMaxSteps; ++i) {
    // Clicks that are always first have no best c.
    if (now.second <= 0) break;
    // The value is convex in c, but a Newton step far from its minimum
    // may overshoot.
    const double next = std::clamp(c - now.first / now.second, c / 2,
                                   std::min(2 * c, kMaxScale));
    const bool done = std::abs(next - c) < 1e-3 * c;
    c = next;
    now = Evaluate(pairs, w, c);
    if (done) break;
  }
  return now.value;
}

// Pairs in random order, at most kMaxPairsOfQuery of a query.
std::vector<TextPair> DrawPairs(std::span<const TextPair> held_out,
                                Random& random) {
  std::vector<TextPair> shuffled(held_out.begin(), held_out.end());
  // A bound on each query keeps the sample from being that of a few
  // frequent ones.
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
      // A clicked one is skipped and not drawn again: with 255 draws the number
      // of negatives hardly changes.
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

// Weighs pairs of known and of new titles as the catalogue has them. No weight
// grows: the rarer kind counts by its pairs, the prior more.
void WeighByCatalogue(const LexicalSampleSource& source,
                      std::span<const TextPair> pairs,
                      std::vector<double>& weights) {
  std::vector<bool> known;
  double known_weight = 0, new_weight = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    known.push_back(
        std::ranges::binary_search(source.known_titles, pairs[i].title));
    (known.back() ? known_weight : new_weight) += weights[i];
  }
  // With one kind alone no weighing can show the other.
  if (known_weight == 0 || new_weight == 0) return;
  const double of_known = *source.known_share / known_weight;
  const double of_new = (1 - *source.known_share) / new_weight;
  const double largest = std::max(of_known, of_new);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    weights[i] *= (known[i] ? of_known : of_new) / largest;
  }
}

}  // namespace

LexicalPrior LexicalPriorOf(const TrainOptions& options) {
  return options.initial_model.is_general ? kGeneralPrior : LexicalPrior();
}

// Golden-section search: along w the likelihood has one maximum, because its
// logarithm is concave in (c (1 - w), c w).
double FitLexicalWeight(const ScoredPairs& pairs, const LexicalPrior& prior) {
  double c = kFirstScale;
  const auto cost = [&](double w) {
    const double distance = w - prior.weight;
    return BestLikelihood(pairs, w, c) + prior.strength * distance * distance;
  };
  constexpr double kGolden = 0.6180339887498949;
  // `c` is kept between the calls of cost: the best scale changes little with
  // w, so Newton begins near it.
  double low = 0, high = kLargestWeight;
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = cost(left), at_right = cost(right);
  // Each round shortens the interval to .618 of it and computes one new cost;
  // ten rounds are enough.
  while (high - low > kSmallestWeight) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = cost(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = cost(right);
    }
  }
  const double weight = (low + high) / 2;
  // A lexical part of no weight would cost memory and time in serving, so it
  // is omitted.
  return std::max(prior.least, weight < kSmallestWeight ? 0 : weight);
}

std::vector<double> WeighPairs(std::span<const TextPair> pairs,
                               v1::ClickUse clicks) {
  absl::flat_hash_map<TextId, double> of_queries;
  for (const TextPair& pair : pairs) {
    of_queries[pair.query] += LossWeight(pair, clicks);
  }
  std::vector<double> weights;
  for (const TextPair& pair : pairs) {
    // The weights of a query add up to 1: the sum is over queries.
    weights.push_back(LossWeight(pair, clicks) / of_queries.at(pair.query));
  }
  return weights;
}

ScoredPairs ScoreHeldOutPairs(const LexicalSampleSource& source,
                              const TwoTowerModel& model,
                              const LexicalPart& lexical) {
  Random random(source.seed, RandomPurpose::kLexicalFit);
  const std::vector<TextPair> pairs = DrawPairs(source.held_out, random);
  const CandidateTitles candidates(source, pairs, random);
  std::vector<TextId> queries;
  queries.reserve(pairs.size());
  for (const TextPair& pair : pairs) queries.push_back(pair.query);
  const TextVectors of_queries(source.texts, queries, Side::kQuery, model,
                               lexical);
  const TextVectors of_titles(source.texts, candidates.ids(), Side::kDocument,
                              model, lexical);
  ScoredPairs scored;
  scored.weights = WeighPairs(pairs, source.clicks);
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
  }
  if (source.known_share) WeighByCatalogue(source, pairs, scored.weights);
  return scored;
}

bool HaveIdeographs(const TextInterner& texts, std::span<const TextId> titles) {
  const auto num_with = std::ranges::count_if(titles, [&](TextId id) {
    CodePoints characters;
    return DecodeUtf8(texts.text(id), characters).ok() &&
           std::ranges::find(characters, TextClass::kIdeograph, &TextClassOf) !=
               characters.end();
  });
  return num_with > 0 && num_with * 10 >= std::ssize(titles);
}

absl::StatusOr<double> FitLexicalWeight(const TrainOptions& options,
                                        const TrainingData& data,
                                        std::span<const TextPair> held_out,
                                        std::vector<TensorView> weights) {
  const v1::ModelConfig config = DescribeModel(options, data.featurizer);
  SEMRANK_ASSIGN_OR_RETURN(const auto model,
                           ViewAsModel(std::move(weights), config, data));
  SEMRANK_ASSIGN_OR_RETURN(
      const auto lexical,
      LexicalPart::Create({.idf = data.lexical_idf.data()}, nullptr));
  // Titles that only held-out pairs have are new. A streamed log has a sample
  // of its titles, which was taken while its pairs were counted.
  const std::vector<TextId> known_titles =
      data.stream ? data.titles : DistinctTitles(data.train_pairs);
  LexicalSampleSource source = {.texts = *data.texts,
                                .held_out = held_out,
                                .titles = data.served_titles(),
                                .seed = options.seed,
                                .clicks = options.loss.clicks,
                                .known_titles = known_titles};
  const bool knows_titles = !data.stream || data.stream->has_all_titles;
  if (!data.catalogue.empty() && knows_titles) {
    source.known_share = data.statistics.known_share;
  }
  const ScoredPairs pairs = ScoreHeldOutPairs(source, *model, *lexical);
  LexicalPrior prior = LexicalPriorOf(options);
  if (HaveIdeographs(*data.texts, source.titles)) prior.least = kSmallestWeight;
  const double weight = FitLexicalWeight(pairs, prior);
  absl::FPrintF(stderr, "lexical weight %.3f, fitted on %d held-out pairs\n",
                weight, pairs.num_pairs());
  return weight;
}

}  // namespace semrank
