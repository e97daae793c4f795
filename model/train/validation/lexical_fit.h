// Fits how much the lexical part of a text's vector counts (LexicalSpec), on
// clicked pairs of queries that the towers have not learned from.
//
//   Model    a softmax over one clicked and up to 255 random unclicked titles
//            of c times the joined cosine, (1 - w) cos_dense + w cos_lexical.
//            The minimum over w and c of the negative log-likelihood, a sum
//            over queries, plus s (w - w0)^2. The second term, a prior, decides
//            where there are hardly any pairs: towers that learned from few
//            pairs rank worse than letters do.
//   Result   w, to .005; 0 when it is below a hundredth, but a hundredth where
//            titles have ideographs (HaveIdeographs).
//   Titles   those of the catalogue, if it is known, otherwise of the log.
//   Pairs    those whose title the log knows suit a lower w than others: with
//            a catalogue each kind counts by its share of the catalogue.
//   Clicks   the pairs of a query count in proportion to their LossWeight, so
//            that a title clicked by chance counts little beside a wanted one.
//   Promise  the same pairs, model and seed give the same bits.
#ifndef SEMRANK_MODEL_TRAIN_VALIDATION_LEXICAL_FIT_H_
#define SEMRANK_MODEL_TRAIN_VALIDATION_LEXICAL_FIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/format/safetensors.h"
#include "model/nn/lexical_part.h"
#include "model/nn/two_tower_model.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"

namespace semrank {

// Both cosines of the candidates of held-out pairs.
struct ScoredPairs {
  // Pair i has candidates [offsets[i], offsets[i + 1]); the first was clicked.
  std::vector<std::size_t> offsets = {0};
  std::vector<float> semantic;
  std::vector<float> lexical;
  // The weight of each pair; the weights of a query's pairs add up to 1, or
  // less where a catalogue weighs them.
  std::vector<double> weights;

  std::size_t num_pairs() const { return weights.size(); }
};

// What is known of w before a pair is seen.
struct LexicalPrior {
  double weight = 0.9;
  double strength = 1;  // nats that it costs at a distance of 1
  double least = 0;     // w is not below it
};
// Towers that began from the general model know words before the first pair:
// .5 to .7 suit them without clicks, and eight held-out pairs say little.
inline constexpr LexicalPrior kGeneralPrior = {.weight = 0.65, .strength = 25};
// Returns the prior of a run.
LexicalPrior LexicalPriorOf(const TrainOptions& options);

// w in [0, 1).
double FitLexicalWeight(const ScoredPairs& pairs, const LexicalPrior& prior);

// The source of the pairs to fit on; what it refers to outlives the call.
struct LexicalSampleSource {
  const TextInterner& texts;
  // Every clicked pair of these queries.
  std::span<const TextPair> held_out;
  std::span<const TextId> titles;  // unclicked ones are drawn from them
  std::uint64_t seed = 1;
  v1::ClickUse clicks = v1::CLICK_USE_IGNORE;
  // The titles that the towers have learned from, in ascending order, and the
  // share of the served titles that they are: pairs of known and of new titles
  // get weights of this proportion. None = all pairs count alike.
  std::span<const TextId> known_titles = {};
  std::optional<double> known_share = std::nullopt;
};

// The weight of each pair: those of a query add up to 1, in proportion to their
// LossWeight.
std::vector<double> WeighPairs(std::span<const TextPair> pairs,
                               v1::ClickUse clicks);

// Scores at most 2,000 random pairs, at most 10 of a query, against random
// titles that were not clicked for the query. `model` gives the dense vectors.
ScoredPairs ScoreHeldOutPairs(const LexicalSampleSource& source,
                              const TwoTowerModel& model,
                              const LexicalPart& lexical);

// Whether a tenth of the titles or more have an ideograph. A query of two
// ideographs has three n-grams. If the log knows none of them, the towers give
// every title a cosine of 0, and the lexical part alone finds the titles that
// have both characters.
bool HaveIdeographs(const TextInterner& texts, std::span<const TextId> titles);

// The weight that fits `held_out`, pairs of `data` that `weights` were learned
// without. Prints it.
absl::StatusOr<double> FitLexicalWeight(const TrainOptions& options,
                                        const TrainingData& data,
                                        std::span<const TextPair> held_out,
                                        std::vector<TensorView> weights);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_VALIDATION_LEXICAL_FIT_H_
