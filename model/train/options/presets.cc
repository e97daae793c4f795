#include "model/train/options/presets.h"

#include "model/cli/exit_code.h"

namespace semrank {
namespace {

// DSSM 3.3 and 3.4: letter trigrams, 300-300-128, four random unclicked titles,
// SGD on mini-batches of 1024, 20 epochs. gamma and the learning rate are not
// in the paper.
TrainOptions Dssm2013() {
  TrainOptions options;
  options.tower = {.kind = v1::TOWER_KIND_DSSM,
                   .shared = true,
                   .hidden_dims = {300, 300},
                   .embedding_dim = 128};
  options.loss = {
      .sampling = v1::NEGATIVE_SAMPLING_UNIFORM, .negatives = 4, .gamma = 10};
  options.optimizer = {.kind = v1::OPTIMIZER_SGD, .learning_rate = 0.5};
  options.batch_size = 1024;
  options.epochs = 20;
  options.patience = 0;
  return options;
}

// Table 5, row 15; the window is that of table 6, row 3.
TrainOptions Clsm2014() {
  TrainOptions options = Dssm2013();
  options.tower = {.kind = v1::TOWER_KIND_CLSM,
                   .shared = false,
                   .hidden_dims = {300},
                   .embedding_dim = 128,
                   .clsm_window = 3,
                   // The paper's equations have none.
                   .biases = false};
  options.loss.negatives = 50;
  return options;
}

// SSI 2.3 and 4.1: the 30,000 most frequent words, U and V from N(0, 1), margin
// 1, one random tuple a step, a fixed learning rate. The rate and the dimension
// are chosen here.
TrainOptions Ssi2009() {
  TrainOptions options = DefaultOptions(v1::TOWER_KIND_SSI);
  options.features.max_words = 30000;
  options.tower.embedding_dim = 100;
  options.ssi.variant = v1::SSI_VARIANT_LOW_RANK;
  options.ssi.init_scale = 1;
  options.ssi.unknown_word_buckets = 0;
  options.loss = {
      .sampling = v1::NEGATIVE_SAMPLING_UNIFORM, .negatives = 1, .margin = 1};
  options.optimizer = {.kind = v1::OPTIMIZER_SGD, .learning_rate = 0.1};
  // The paper takes a gradient step for each tuple.
  options.batch_size = 1;
  return options;
}

}  // namespace

TrainOptions DefaultOptions(v1::TowerKind tower) {
  TrainOptions options;
  options.tower.kind = tower;
  if (tower == v1::TOWER_KIND_LINEAR) {
    options.tower.embedding_dim = kDefaultLinearDim;
    options.loss.gamma = kAutoGamma;
    options.loss.logq = kAutoLogQ;
  }
  if (tower != v1::TOWER_KIND_SSI) {
    // The recipe of RESULTS.md; CLSM reads the order of words by itself.
    if (tower != v1::TOWER_KIND_CLSM) {
      options.features.kind = v1::FEATURE_KIND_LETTERS_AND_BIGRAMS;
    }
    options.features.lexical = "auto";
    options.optimizer.decay = v1::LEARNING_RATE_DECAY_COSINE;
    options.epochs = 12;
    // The last steps of a falling rate are the best: none is left out.
    options.patience = 0;
    return options;
  }
  options.features.kind = v1::FEATURE_KIND_WORDS;
  // Its rate falls with what a weight has seen, which suits words of very
  // different frequency (MATHEMATICS.md, "Why SSI has other defaults").
  options.optimizer.kind = v1::OPTIMIZER_ADAGRAD;
  options.optimizer.learning_rate = 0.02;
  options.ssi.unknown_word_buckets = kDefaultUnknownWordBuckets;
  return options;
}

absl::StatusOr<TrainOptions> PresetOptions(std::string_view name) {
  if (name == "dssm2013") return Dssm2013();
  if (name == "clsm2014") return Clsm2014();
  if (name == "ssi2009") return Ssi2009();
  return FlagError("preset", name,
                   "not known; there are dssm2013, clsm2014, ssi2009");
}

}  // namespace semrank
