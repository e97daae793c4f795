// What a training run does: the flags of semrank-train as values. The values
// written here are the defaults that --help shows.
#ifndef SEMRANK_MODEL_TRAIN_TRAIN_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Where the texts come from and where the model goes.
struct DataOptions {
  // Files of pairs, `query<TAB>title[<TAB>clicks[<TAB>impressions]]`.
  std::vector<std::string> train_files;
  std::string model_dir;
  // Lines that may be skipped over all files.
  std::int64_t max_bad_lines = 100;

  // Pairs for the validation loss: of these files, or else of this share of
  // the queries of train_files (-1 = kDefaultValidFraction, but 0 with
  // valid_queries).
  std::vector<std::string> valid_pair_files;
  double valid_fraction = -1;
  // For the validation NDCG; all three or none.
  std::string valid_queries;
  std::string valid_docs;
  std::string valid_qrels;
  // A query ranks its judged documents only, not all of valid_docs.
  bool valid_judged_only = false;
};

inline constexpr double kDefaultValidFraction = 0.05;

// What a text's features are (FeatureSpec).
struct FeatureOptions {
  v1::FeatureKind kind = v1::FEATURE_KIND_LETTERS;
  int ngram_length = 3;
  // 0 = the n-grams of the training texts are listed.
  int hash_buckets = 0;
  // The most frequent words of the training texts; 0 = all.
  int max_words = 40000;
};

struct TowerOptions {
  v1::TowerKind kind = v1::TOWER_KIND_DSSM;
  bool shared = true;
  // Widths between the input and the vector; of no effect for LINEAR.
  std::vector<int> hidden_dims = {300, 300};
  int embedding_dim = 128;
  // Unspecified = tanh for DSSM, which has no other; identity for LINEAR.
  v1::Activation activation = v1::ACTIVATION_UNSPECIFIED;
};

struct LossOptions {
  v1::NegativeSampling sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  // J. In-batch: 0 = all other titles. -1 = kDefaultUniformNegatives with
  // uniform sampling, all with in-batch sampling.
  int negatives = -1;
  // Smoothing factor of eq. 6.
  double gamma = 15;
};

inline constexpr int kDefaultUniformNegatives = 4;

struct OptimizerOptions {
  v1::Optimizer kind = v1::OPTIMIZER_ADAM;
  double learning_rate = 0.001;
};

struct TrainOptions {
  DataOptions data;
  FeatureOptions features;
  TowerOptions tower;
  LossOptions loss;
  OptimizerOptions optimizer;
  int batch_size = 1024;
  int epochs = 20;
  // Epochs without improvement before training stops; 0 = never.
  int patience = 3;
  std::uint64_t seed = 1;
  // 0 = one for each processor. Has no influence on the model.
  int threads = 0;
};

inline constexpr int kMaxBatchSize = 16384;
inline constexpr int kMaxNegatives = 1000;

// Replaces -1 and UNSPECIFIED by what they stand for. Then checks every value
// against its range and against the others: FlagError naming the flag, the
// value and the limit, also for what this version cannot do yet.
absl::Status ResolveOptions(TrainOptions& options);

// The settings of a paper to the letter, over the defaults. FlagError for a
// name that is not known.
absl::StatusOr<TrainOptions> PresetOptions(std::string_view name);

// Widths of the layers of a tower: num_features, hidden, vector.
std::vector<int> TowerWidths(const TowerOptions& options, int num_features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_TRAIN_OPTIONS_H_
