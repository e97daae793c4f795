// Statistics that SSI computes from the documents before training: the idf of
// each word, and the frequent words that a rare word occurs with.
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
#ifndef SEMRANK_MODEL_TRAIN_SSI_SSI_STATISTICS_H_
#define SEMRANK_MODEL_TRAIN_SSI_SSI_STATISTICS_H_

#include <span>
#include <vector>

#include "model/data/text_table.h"

namespace semrank {

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

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_SSI_SSI_STATISTICS_H_
