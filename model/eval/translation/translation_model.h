// The knowledge that the translation rankers learn from a click log: word and
// phrase translations of titles to queries, and the number of times that each
// word is in queries.
//
//   Memory   the log's pairs as word numbers, while learning.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_EVAL_TRANSLATION_TRANSLATION_MODEL_H_
#define SEMRANK_MODEL_EVAL_TRANSLATION_TRANSLATION_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/pair_reader.h"
#include "model/eval/translation/phrase_translations.h"
#include "model/eval/translation/word_translations.h"

namespace semrank {

// More iterations do not change the order of systems and fit noise (5 to 10 are
// usual, also in GIZA++).
inline constexpr int kTranslationIterations = 10;

struct TranslationModel {
  // The words of queries and titles; the number of a word is its index.
  std::vector<std::string> words;
  absl::flat_hash_map<std::string, std::uint32_t> number_of;
  // Occurrences in queries, weighted by clicks, for each word.
  std::vector<double> query_counts;
  WordTranslations word_translations;
  PhraseTranslations phrase_translations;
};

// Returns InvalidArgument if there is no pair, Cancelled if the program
// is interrupted.
absl::StatusOr<std::shared_ptr<const TranslationModel>> LearnTranslations(
    std::span<const ClickPair> pairs);

// As above, from files of clicked pairs (pair_reader.h).
absl::StatusOr<std::shared_ptr<const TranslationModel>> LearnTranslations(
    const std::vector<std::string>& files, BadLines& bad_lines,
    int normalizer_version = kNormalizerVersion);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_TRANSLATION_TRANSLATION_MODEL_H_
