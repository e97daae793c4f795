// PTM, the phrase translation model with phrases of up to three words (row 11
// of the CLSM paper's table 5; Gao, He and Nie, CIKM 2010, phrase model):
//
//   P(Q|D) = max over the segmentations of Q in phrases q_1 .. q_K of
//            product over k of P(q_k|D)
//
// found by dynamic programming over the query's words, as in the paper:
//
//   a_0 = 1,   a_j = max over i < j of a_i P(q_i+1 .. q_j|D),   P(Q|D) = a_J
//
//   P(q|D) of one word   = alpha P(q|C) + (1 - alpha) P_mx(q|D)
//   P(q|D) of 2, 3 words = (1 - alpha) (1 - beta) sum over title phrases w of
//                          P(q|w) P(w|D)
//
// The first line is the word model, P_s(q|D) of translation_ranker.h: with
// phrases of one word PTM is WTM, as section 5.2 of the CLSM paper says. P(q|w)
// is from aligned clicked pairs (phrase_translations.h), P(w|D) is the count of
// w in the title divided by the title's words. The score is log P(Q|D) - log
// of the product of alpha P(q|C) over the query's words.
//
// Choices, where the CLSM paper leaves it to CIKM 2010 or both leave it open:
//   * All title phrases may give q. CIKM 2010 fixes one by the Viterbi
//     alignment of query and title, which had to be made for every document at
//     ranking time.
//   * Words and phrases compete in one maximum. CIKM 2010 puts the logarithms
//     of the word, the phrase and a unigram model, with further features, into
//     a linear ranking model with weights learned from judged queries.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_PHRASE_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_PHRASE_RANKER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "model/eval/rankers/inverted_lists.h"
#include "model/eval/rankers/ranker.h"
#include "model/eval/rankers/translation_vocabulary.h"
#include "model/eval/translation/translation_model.h"

namespace semrank {

class PhraseRanker : public ListRanker {
 public:
  // As TranslationRanker::Create.
  static absl::StatusOr<std::unique_ptr<PhraseRanker>> Create(
      const TranslationModel& model, const std::vector<std::string>& documents,
      const TranslationSmoothing& smoothing);

  std::string name() const override { return "ptm"; }

 private:
  // The lists of the phrases of two words and more.
  struct LongPhrases {
    // Of each target of the phrase table; nothing for single words.
    std::vector<std::optional<std::uint32_t>> list_of_target;
    // What the weights of a list have in common, the first list's first.
    std::vector<double> constants;
  };

  PhraseRanker(const TranslationModel& model,
               const std::vector<std::string>& documents,
               const TranslationSmoothing& smoothing);
  LongPhrases NumberPhrases(const TranslationModel& model,
                            const TranslationSmoothing& smoothing);
  // The list of a query phrase of `num_words` words, or nothing.
  std::optional<std::uint32_t> FindPhrase(std::string_view phrase,
                                          std::size_t num_words) const;
  void ScoreQuery(std::string_view query, float* scores) const override;

  TranslationVocabulary vocabulary_;
  // Phrases of two words and more; their lists follow those of the words.
  absl::flat_hash_map<std::string, std::uint32_t> long_phrases_;
  InvertedLists lists_;  // log P(q|D) - log of alpha P(q|C) of its words
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_PHRASE_RANKER_H_
