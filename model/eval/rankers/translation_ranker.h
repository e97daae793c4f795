// WTM, the word translation model (row 3 of the DSSM paper's table 2, row 10 of
// the CLSM paper's table 5; Gao, He and Nie, CIKM 2010, word model):
//
//   P(Q|D)   = product over query words q, repeats counted, of P_s(q|D)
//   P_s(q|D) = alpha P(q|C) + (1 - alpha) P_mx(q|D)
//   P_mx(q|D) = beta P(q|D) + (1 - beta) sum over title words w of
//               t(q|w) P(w|D)
//
// with P(w|D) the share of w among the words of the title and t(q|w) of IBM
// Model 1 on clicked pairs (word_translations.h). The score is log P(Q|D) -
// log of the product of alpha P(q|C), which is the same for all documents, so
// that a document is found by lists of the words it translates to.
//
// Left open: alpha and beta, which the papers tune; the collection of P(q|C)
// (translation_vocabulary.h); title words that the log does not have, which
// here translate to themselves. Translations below 0.001, and words that raise
// a document's score by less than 0.1, are left out, which bounds the lists.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_RANKER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/inverted_lists.h"
#include "model/eval/rankers/ranker.h"
#include "model/eval/rankers/translation_vocabulary.h"
#include "model/eval/translation/translation_model.h"

namespace semrank {

class TranslationRanker : public ListRanker {
 public:
  // `documents` are normalised; neither they nor `model` need outlive the call.
  // Cancelled when interrupted.
  static absl::StatusOr<std::unique_ptr<TranslationRanker>> Create(
      const TranslationModel& model, const std::vector<std::string>& documents,
      const TranslationSmoothing& smoothing);

  std::string name() const override { return "wtm"; }

 private:
  TranslationRanker(const TranslationModel& model,
                    const std::vector<std::string>& documents,
                    const TranslationSmoothing& smoothing);
  void ScoreQuery(std::string_view query, float* scores) const override;

  TranslationVocabulary vocabulary_;
  InvertedLists lists_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_RANKER_H_
