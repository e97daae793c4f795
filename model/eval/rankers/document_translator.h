// The words that a title may be translated to, weighted as the word and the
// phrase translation ranker count them (translation_ranker.h).
//
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_DOCUMENT_TRANSLATOR_H_
#define SEMRANK_MODEL_EVAL_RANKERS_DOCUMENT_TRANSLATOR_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/eval/rankers/translation_vocabulary.h"
#include "model/eval/translation/translation_model.h"
#include "model/text/bag_batch.h"

namespace semrank {

class DocumentTranslator {
 public:
  // Both outlive the translator.
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
  std::vector<double> probability_;  // P_mx(q|D), 0 but for found_
  std::vector<std::uint32_t> found_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_DOCUMENT_TRANSLATOR_H_
