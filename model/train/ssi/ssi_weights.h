// The values of an SSI model that is being trained: learned weights, and idf
// and correlated words, which are computed from the documents before training.
#ifndef SEMRANK_MODEL_TRAIN_SSI_SSI_WEIGHTS_H_
#define SEMRANK_MODEL_TRAIN_SSI_SSI_WEIGHTS_H_

#include <span>
#include <vector>

#include "model/data/text_table.h"
#include "model/format/safetensors.h"
#include "model/nn/sparse_scorer.h"
#include "model/nn/ssi_tower.h"
#include "model/train/data/training_data.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/tower_weights.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

struct SsiWeights {
  v1::SsiSpec spec;
  int num_words = 0;
  std::vector<float> idf;         // [num_words]
  std::vector<float> correlated;  // as SsiRows::correlated; may be empty
  // U' and V', [rows, dim], without biases. A variant without U and V has no
  // rows; nor has `document` when the tower is shared.
  LayerWeights query;
  LayerWeights document;
  // The logit of the factor of mixed parts; empty = one part.
  std::vector<float> mixing;
  // Depending on the variant, the diagonal, all of W, or the weights of hashed
  // pairs.
  std::vector<float> words;

  // The views are valid as long as the vectors do not move.
  SsiRows Rows() const;
  SparseWeights Sparse() const;
  // The weights under their names in a model file.
  std::vector<TensorView> Tensors() const;
  // The name of `words` in a model file.
  const char* WordsTensor() const;
};

// Two statistics of documents are computed before training: the idf of each
// word, and the frequent words that a rare word occurs with.
//
//   Documents  distinct texts, whose bags of words are `bags`: all titles, or
//              the sample that a streaming data set keeps. Results are exact
//              for these documents; for a sample of K of N titles the error is
//                idf      a standard deviation of about 1 / sqrt(n + 1) for a
//                         word of n titles of the sample, whatever N; and it is
//                         at most ln(K + 1) + 1, so words of fewer than about
//                         N / K titles have the same idf;
//                DICE     about a share of 1 / sqrt(n(i and j)).
//   Results    functions of the set of documents, whatever their order.
//   Memory     4 to 8 bytes a word of each document, beside the results.

// idf(w) = ln((N + 1) / (n + 1)) + 1 for the n of N documents that have w:
// never below 1, also for a word that no document has.
std::vector<float> InverseDocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words);

struct CorrelationOptions {
  int num_words = 0;
  int num_frequent = 0;  // F: the words below are frequent
  int top_k = 0;
  bool of_all_words = false;  // false: of words from num_frequent on
};

// For each word i, the `top_k` frequent words j with the highest DICE(i, j) = 2
// n(i and j) / (n(i) + n(j)), where n counts documents (SSI 2.2.1). The highest
// comes first, and of equal ones the more frequent; the first of a frequent
// word is itself, with a DICE of 1. -1 where fewer words occur beside i.
// Row-major [words, top_k].
std::vector<float> CorrelatedWords(const TextBags& bags,
                                   std::span<const TextId> documents,
                                   const CorrelationOptions& options);

// The weights before the first step: U and V drawn from N(0, 1) x init_scale
// (SSI 2.3), and otherwise W = I, or W = 0 for the hash kernel alone. Mixed
// parts begin with equal shares. The weights of --init_from overwrite all
// values, so idf and correlated words are not computed then.
SsiWeights InitialSsiWeights(const TrainOptions& options,
                             const TrainingData& data);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_SSI_WEIGHTS_H_
