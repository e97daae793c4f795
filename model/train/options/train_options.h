// What a training run does: the flags of semrank-train as values.
//
// The values written here are the defaults that --help shows, the recipe of
// --tower=linear. What another tower or a preset changes is stated once, in
// recipes.cc. "auto" values are replaced by ResolveOptions, except two that
// depend on the training data (ChooseGamma, ChooseLogQ).
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_TRAIN_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_TRAIN_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/cli/flag_spec.h"
#include "model/data/input_lines.h"
#include "model/text/featurizer.h"
#include "model/text/normalizer.h"
#include "model/text/text_limit.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Where the texts come from and where the model goes.
struct DataOptions {
  // Files of pairs,
  // `query<TAB>title[<TAB>clicks[<TAB>impressions[<TAB>position]]]`.
  std::vector<std::string> train_files;
  // Folders and files of events, whose clicks take the place of train_files.
  std::vector<std::string> event_paths;
  // Documents of the catalogue, doc_id TAB title; may be empty. Their titles
  // count in the idf and in the weight of the lexical part. Without train_files
  // the run makes a model of them alone (no_clicks.h).
  std::string docs_file;
  // Judged titles for hard negatives; may be empty.
  std::string judged_file;
  std::string model_dir;
  // Bytes; 0 = half of this machine's memory, or of what its container or shell
  // allows if that is less. Pairs that take more than kMaxPairShare of it are
  // streamed from their files, and then it bounds all that the run takes.
  std::int64_t memory_limit = 0;
  // The limit of the run that this one resumes, in place of a memory_limit of
  // 0: a machine with more memory would read the pairs in another order. 0 if
  // no run is resumed.
  std::int64_t resumed_memory_limit = 0;
  // Bytes of a text after normalising; lines with a longer one are bad.
  std::int64_t max_text_bytes = kDefaultMaxTextBytes;
  BadLineLimit max_bad_lines;

  // Pairs for the validation loss: of these files, or else of this share of
  // the queries of train_files (-1 = ResolveOptions chooses it).
  std::vector<std::string> valid_pair_files;
  double valid_fraction = -1;
  // Whether ResolveOptions chose the fraction. Then too few pairs to choose an
  // epoch by their loss are not held out.
  bool default_valid_fraction = false;
  // For the validation NDCG; all three or none.
  std::string valid_queries;
  std::string valid_docs;
  std::string valid_qrels;
  // A query ranks its judged documents only, not all of valid_docs.
  bool valid_judged_only = false;
  // Also scores each half of the validation queries, for two-fold
  // cross-validation.
  bool valid_halves = false;
  // The rules that make words of texts; --init_from sets those of its model.
  int normalizer_version = kNormalizerVersion;

  // With judge_fraction, the lists of the last days of event_paths, by the
  // newest of them, are not trained on: they judge this model or the next one.
  int judge_days = 1;
  // Share of the queries, by a hash, whose pairs no run learns from: they judge
  // whether a model may replace the served one. -1 = kDefaultJudgeFraction
  // where a run compares the two, otherwise 0.
  double judge_fraction = -1;

  // Most pairs of the published model that are kept in its folder, for a run
  // that continues it; 0 = none.
  std::int64_t keep_pairs = 100'000;
};

// Without clicks a model is made of the catalogue alone.
inline bool HasClicks(const DataOptions& options) {
  return !options.train_files.empty() || !options.event_paths.empty();
}

inline constexpr double kMaxPairShare = 0.75;
inline constexpr double kDefaultValidFraction = 0.05;
inline constexpr double kDefaultJudgeFraction = 0.05;
// More would validate on more pairs than are learned from.
inline constexpr double kMaxValidFraction = 0.5;

// What the input of the towers is made of (FeatureSpec).
struct FeatureOptions {
  v1::FeatureKind kind = v1::FEATURE_KIND_LETTERS_AND_BIGRAMS;
  int ngram_length = 3;
  // 0 = the n-grams of the training texts are listed.
  int hash_buckets = 0;
  // The most frequent words of the training texts; 0 = all.
  int max_words = 40000;
  // The same for bigrams.
  int max_bigrams = 50'000;
  // Bigrams that occur less often in the texts of the training pairs are
  // dropped.
  int min_bigram_count = 2;
  // The lexical part beside the towers' vectors: auto, none or its weight.
  std::string lexical = "auto";
  // Its weight; none = the run fits it. ResolveOptions reads it from `lexical`.
  std::optional<double> lexical_weight = std::nullopt;
  // ResolveOptions takes it from SsiOptions.
  int unknown_word_buckets = 0;
  // The vocabularies of another model; null = chosen from the training texts.
  std::shared_ptr<const Featurizer> given = nullptr;
  // The vocabulary of the training texts is added to them.
  bool grows_given = false;
};

// The shape of the networks.
struct TowerOptions {
  v1::TowerKind kind = v1::TOWER_KIND_LINEAR;
  // Queries and titles have one tower, as in DSSM. CLSM reports separate ones
  // as better; on our collections, which have far fewer pairs, they are worse
  // (RESULTS.md).
  bool shared = true;
  // Sizes of the layers between the input and the vector; linear towers and
  // SSI have none. The first layer of CLSM is its convolution.
  std::vector<int> hidden_dims = {300, 300};
  // A single layer learns more from a longer vector; several do not.
  int embedding_dim = 256;
  // Share of hidden units put to 0 while learning, 0 to below 1.
  double dropout = 0;
  // Unspecified = tanh for DSSM and CLSM, which have no other; identity for
  // LINEAR.
  v1::Activation activation = v1::ACTIVATION_UNSPECIFIED;
  // Words in a window of CLSM, odd; 0 = kDefaultClsmWindow. Other towers have
  // no window.
  int clsm_window = 0;
  // False = biases stay 0, as in the equations of the CLSM paper.
  bool biases = true;
};

inline constexpr int kDefaultClsmWindow = 3;

// The shape of SSI's W, and where it begins. Only --tower=ssi uses them.
struct SsiOptions {
  v1::SsiVariant variant = v1::SSI_VARIANT_LOW_RANK;
  // n of the n-constrained form: U and V know the n most frequent words. 0 =
  // all words.
  int dense_words = 0;
  // H of the hash kernels, for FULL and FULL_NO_IDENTITY. 0 = W is stored
  // whole.
  int pair_hash_buckets = 0;
  // F and k of correlated feature hashing: both or none.
  int frequent_words = 0;
  int correlated_top_k = 0;
  // Decides which of the k words of one side meet which of the other (eq. 6).
  v1::CorrelatedPairing correlated_pairing = v1::CORRELATED_PAIRING_ALL;
  // U and V have a part of frequent words and a part of correlated ones, mixed
  // by a learned factor.
  bool mix_parts = false;
  // U and V begin as N(0, 1) times this (MATHEMATICS.md says why it is not the
  // paper's 1).
  double init_scale = 0.03;
  // Words that the vocabulary does not list are hashed to this many indices,
  // where W has an identity for them. 0 = they are dropped.
  int unknown_word_buckets = 0;
};

inline constexpr double kAutoGamma = 0;
// Training pairs of this many distinct queries take kManyQueriesGamma.
inline constexpr int kManyQueries = 20'000;
inline constexpr double kManyQueriesGamma = 15;
inline constexpr double kFewQueriesGamma = 10;
inline constexpr double kAutoLogQ = -1;
inline constexpr double kPopularTitlesLogQ = 0.5;
inline constexpr int kDefaultNegatives = 4;
inline constexpr int kMaxNegatives = 1000;

inline constexpr char kNoPositionBias[] = "none";
inline constexpr char kEstimatePositionBias[] = "estimate";

// What is minimised, and against which unclicked titles.
struct LossOptions {
  v1::NegativeSampling sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  // J. In-batch: 0 = all other titles. -1 = all with in-batch sampling,
  // otherwise kDefaultNegatives.
  int negatives = -1;
  // In-batch: most titles beside them that were shown but not clicked.
  int hard_negatives = 0;
  // Smoothing factor of eq. 6; kAutoGamma = as ChooseGamma says.
  double gamma = kAutoGamma;
  // Margin of the ranking loss (SSI); 1 in the paper.
  double margin = 0.5;
  // WEIGHT and REPEAT make a pair count as often as it was clicked.
  v1::ClickUse clicks = v1::CLICK_USE_IGNORE;
  // The file of an examination curve, whose inverse weighs clicks by their
  // positions; kEstimatePositionBias = the clicks show the curve;
  // kNoPositionBias = they are not corrected.
  std::string position_bias = kNoPositionBias;
  // No click weighs more.
  double max_position_weight = 100;
  // X of the logQ correction of in-batch sampling; 0 = none, kAutoLogQ = as
  // ChooseLogQ says.
  double logq = kAutoLogQ;
  // Share of the queries that get one random edit each time they are trained
  // on.
  double query_typos = 0;
  // An epoch has each query with accents once more, without them.
  bool unaccented_queries = true;
};

// Letters that a word needs to be mistyped: a shorter one would become any
// other.
inline constexpr int kMinTypoLetters = 3;

// What moves the weights.
struct OptimizerOptions {
  v1::Optimizer kind = v1::OPTIMIZER_ADAM;
  double learning_rate = 0.001;
  // Longest gradient of a step, all weights together; 0 = any.
  double gradient_clip_norm = 0;
  // Mini-batches over which the rate rises from 0; 0 = none.
  int warmup_batches = 0;
  v1::LearningRateDecay decay = v1::LEARNING_RATE_DECAY_COSINE;
};

// The share of the learning rate that is left at the end of a cosine decay.
inline constexpr double kCosineDecayEnd = 0.02;

// When a run is saved, and whether it continues from there.
struct CheckpointOptions {
  // Time between two; 0 = none by time.
  absl::Duration every = absl::Minutes(10);
  // Mini-batches between two; 0 = none by number.
  std::int64_t batches = 0;
  // Continue from the checkpoint, if there is one.
  bool resume = false;

  bool enabled() const {
    return resume || batches > 0 || every > absl::ZeroDuration();
  }
};

// Weights to begin from; empty = random ones.
struct InitialModelOptions {
  std::string version_dir;
  std::string weights_sha256;
  // It was made to begin others from (TrainingFacts.general_start).
  bool is_general = false;
  bool has_lexical = false;  // it has a lexical part
  // --judge_fraction of its run: the queries that it has not learned from.
  double judge_fraction = 0;
};

// What chooses the epoch that is published.
enum class EpochMeasure {
  kAuto,  // as ChooseEpochMeasure says
  kNdcg,  // NDCG@10 of the judged validation queries
  kLoss,  // mean loss of the validation pairs
  kLast,  // nothing: the last epoch is published
};

// When the model of a run becomes a version that is served.
enum class PublishMode {
  kAuto,      // ResolveOptions chooses
  kAlways,    // unless validation finds it worse than letters or its start
  kIfBetter,  // unless it is worse than its start on clicks that judge it
};

// Held-out pairs from which their loss chooses the epoch of a constant rate.
// The loss of a pair changes from one epoch to the next by about .5 (standard
// deviation over pairs), so the mean of this many is known to .016; fewer
// choose by chance.
inline constexpr std::size_t kMinPairsForLoss = 1000;

inline constexpr int kMaxBatchSize = 16384;

struct TrainOptions {
  DataOptions data;
  FeatureOptions features;
  TowerOptions tower;
  SsiOptions ssi;
  LossOptions loss;
  OptimizerOptions optimizer;
  CheckpointOptions checkpoint;
  InitialModelOptions initial_model;
  int batch_size = 1024;
  int epochs = 12;
  // Epochs without improvement before training stops; 0 = never. The last
  // epochs of a falling learning rate are the best ones.
  int patience = 0;
  EpochMeasure early_stopping = EpochMeasure::kAuto;
  PublishMode publish = PublishMode::kAuto;
  // The version that kIfBetter compares with; empty = none. It is that of
  // initial_model, unless that is an installed general model.
  std::string served_version_dir;
  // Publish also what validation finds worse than the weights before training.
  bool force = false;
  // How the file has the weights of the first layer.
  v1::WeightEncoding weights = v1::WEIGHT_ENCODING_UNSPECIFIED;
  // The model is made to begin others from (TrainingFacts.general_start).
  bool general_start = false;
  std::uint64_t seed = 1;
  // 0 = one for each processor. Has no influence on the model.
  int threads = 0;
};

// Whether clicks are weighted by the positions at which titles were shown.
inline bool CorrectsPositions(const LossOptions& options) {
  return options.position_bias != kNoPositionBias;
}

// Whether the weights come from the clicks themselves.
inline bool EstimatesPositions(const LossOptions& options) {
  return options.position_bias == kEstimatePositionBias;
}

// Whether negatives come from what was shown for the same query.
inline bool UsesShownTitles(const LossOptions& options) {
  return options.sampling == v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED ||
         options.hard_negatives > 0;
}

// Whether negatives are drawn from the titles of the whole training set.
inline bool DrawsTitles(const LossOptions& options) {
  return options.sampling != v1::NEGATIVE_SAMPLING_IN_BATCH;
}

// The words for values that flags and messages share.
inline constexpr Named<v1::TowerKind> kTowerNames[] = {
    {"dssm", v1::TOWER_KIND_DSSM},
    {"linear", v1::TOWER_KIND_LINEAR},
    {"clsm", v1::TOWER_KIND_CLSM},
    {"ssi", v1::TOWER_KIND_SSI}};
inline constexpr Named<v1::SsiVariant> kSsiVariantNames[] = {
    {"low_rank", v1::SSI_VARIANT_LOW_RANK},
    {"symmetric", v1::SSI_VARIANT_SYMMETRIC},
    {"diagonal", v1::SSI_VARIANT_DIAGONAL},
    {"full", v1::SSI_VARIANT_FULL},
    {"low_rank_no_identity", v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY},
    {"full_no_identity", v1::SSI_VARIANT_FULL_NO_IDENTITY}};
inline constexpr Named<v1::CorrelatedPairing> kCorrelatedPairingNames[] = {
    {"all", v1::CORRELATED_PAIRING_ALL},
    {"same_rank", v1::CORRELATED_PAIRING_SAME_RANK}};
inline constexpr Named<v1::FeatureKind> kFeatureNames[] = {
    {"letters", v1::FEATURE_KIND_LETTERS},
    {"words", v1::FEATURE_KIND_WORDS},
    {"bigrams", v1::FEATURE_KIND_BIGRAMS},
    {"letters+words", v1::FEATURE_KIND_LETTERS_AND_WORDS},
    {"letters+bigrams", v1::FEATURE_KIND_LETTERS_AND_BIGRAMS},
    {"words+bigrams", v1::FEATURE_KIND_WORDS_AND_BIGRAMS},
    {"letters+words+bigrams", v1::FEATURE_KIND_LETTERS_WORDS_AND_BIGRAMS}};
inline constexpr Named<v1::Activation> kActivationNames[] = {
    {"linear", v1::ACTIVATION_IDENTITY}, {"tanh", v1::ACTIVATION_TANH}};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_TRAIN_OPTIONS_H_
