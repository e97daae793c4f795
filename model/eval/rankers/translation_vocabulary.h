// What the word and the phrase translation ranker have in common: smoothing,
// and the words of the documents and of the click log with their background
// probability.
//
//   P(q|C) = count of q in the documents and in the log's queries, divided by
//            the count of all words there
//
// The queries belong to it because a translation may be a word of no document.
//
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_VOCABULARY_H_
#define SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/eval/translation/translation_model.h"

namespace semrank {

// alpha and beta of translation_ranker.h.
struct TranslationSmoothing {
  double background = 0.5;  // alpha, in (0, 1]
  double self = 0.1;        // beta, in [0, 1]
};

class TranslationVocabulary {
 public:
  TranslationVocabulary(const TranslationModel& model,
                        const std::vector<std::string>& documents);

  std::size_t size() const { return background_.size(); }
  // Words of the model keep their numbers.
  std::optional<std::uint32_t> Find(std::string_view word) const;
  // P(q|C); 0 only for words of titles of the log, which are no translations.
  double Background(std::uint32_t word) const { return background_[word]; }

 private:
  absl::flat_hash_map<std::string, std::uint32_t> number_of_;
  std::vector<double> background_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_VOCABULARY_H_
