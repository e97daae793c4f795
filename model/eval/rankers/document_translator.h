// The words that a title may be translated to, weighted as the word and the
// phrase translation ranker count them (translation_rankers.h).
#ifndef SEMRANK_MODEL_EVAL_RANKERS_DOCUMENT_TRANSLATOR_H_
#define SEMRANK_MODEL_EVAL_RANKERS_DOCUMENT_TRANSLATOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/eval/translation/translation_model.h"
#include "model/text/bag_batch.h"

namespace semrank {

// alpha and beta of translation_rankers.h.
struct TranslationSmoothing {
  double background = 0.5;  // alpha, in (0, 1]
  double self = 0.1;        // beta, in [0, 1]
};

// The words of the documents and of the click log, with their background
// probability:
//
//   P(q|C) = count of q in the documents and in the log's queries, divided by
//            the count of all words there
//
// The log's queries count because a translation may be a word that no document
// has. Const after construction.
class TranslationVocabulary {
 public:
  TranslationVocabulary(const TranslationModel& model,
                        const std::vector<std::string>& documents);

  std::size_t size() const { return background_.size(); }
  // Words of the model keep their numbers.
  std::optional<std::uint32_t> Find(std::string_view word) const;
  // P(q|C). It is 0 only for words that occur in the log's titles alone, which
  // are never translations.
  double Background(std::uint32_t word) const { return background_[word]; }

 private:
  absl::flat_hash_map<std::string, std::uint32_t> number_of_;
  std::vector<double> background_;
};

// Not thread-safe.
class DocumentTranslator {
 public:
  // Both must outlive the translator.
  DocumentTranslator(const TranslationModel& model,
                     const TranslationVocabulary& vocabulary,
                     const TranslationSmoothing& smoothing);

  // Appends to the last bag of `bags`, without ending it, each word q of
  // P_mx(q|D) > 0 with the weight log P_s(q|D) - log(alpha P(q|C)).
  void AppendWords(std::string_view document, BagBatch& bags);

 private:
  void Add(std::uint32_t word, double probability);
  void AddTranslations(std::uint32_t word, double probability);

  const TranslationModel& model_;
  const TranslationVocabulary& vocabulary_;
  TranslationSmoothing smoothing_;
  std::vector<double> probability_;  // P_mx(q|D); 0 for words not in found_
  std::vector<std::uint32_t> found_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_DOCUMENT_TRANSLATOR_H_
