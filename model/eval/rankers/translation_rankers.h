// Rankers that translate titles to queries: WTM word by word, PTM by phrases
// (Gao, He and Nie, CIKM 2010).
#ifndef SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_RANKERS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_RANKERS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/ranker.h"
#include "model/eval/translation/translation_model.h"

namespace semrank {

// alpha and beta of the models below.
struct TranslationSmoothing {
  double background = 0.5;  // alpha, in (0, 1]
  double self = 0.1;        // beta, in [0, 1]
};

// WTM, the word translation model (row 3 of the DSSM paper's table 2, row 10 of
// the CLSM paper's table 5; CIKM 2010, word model):
//
//   P(Q|D)   = product over query words q, repeats counted, of P_s(q|D)
//   P_s(q|D) = alpha P(q|C) + (1 - alpha) P_mx(q|D)
//   P_mx(q|D) = beta P(q|D) + (1 - beta) sum over title words w of
//               t(q|w) P(w|D)
//
// P(w|D) is the share of w among the words of the title, and t(q|w) comes from
// IBM Model 1 on clicked pairs (word_translations.h). The score is log P(Q|D) -
// log of the product of alpha P(q|C). The latter is the same for all documents,
// so that inverted lists of the words that a document translates to find it.
//
// The papers tune alpha and beta, and do not say which collection P(q|C) is of:
// here it is the share of q among the words of the documents and of the log's
// queries. The queries count because a translation may be a word that no
// document has. Title words that the log does not have translate to
// themselves here. To bound the lists, translations below 0.001 are dropped,
// and so are words that raise a document's score by less than 0.1.
//
// `documents` are normalised; neither they nor `model` need outlive the call.
// Returns Cancelled after Ctrl-C.
absl::StatusOr<std::unique_ptr<Ranker>> CreateTranslationRanker(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing);

// PTM, the phrase translation model with phrases of up to three words (row 11
// of the CLSM paper's table 5; CIKM 2010, phrase model):
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
// The probability of one word is P_s(q|D) of the word model: with phrases of
// one word PTM is WTM, as section 5.2 of the CLSM paper says. P(q|w) comes from
// aligned clicked pairs (phrase_translations.h). P(w|D) is the count of w in
// the title divided by the title's words. The score is log P(Q|D) - log of the
// product of alpha P(q|C) over the query's words.
//
// Choices that the CLSM paper leaves to CIKM 2010, or that both leave open:
//   * Any title phrase may be translated to q. CIKM 2010 fixes one by the
//     Viterbi alignment of query and title, which would have to be found for
//     every document at ranking time.
//   * Words and phrases compete in one maximum. CIKM 2010 combines the
//     logarithms of the word, the phrase and a unigram model, with further
//     features, in a linear ranking model whose weights are learned from judged
//     queries.
//
// Arguments and errors are those of CreateTranslationRanker.
absl::StatusOr<std::unique_ptr<Ranker>> CreatePhraseRanker(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_TRANSLATION_RANKERS_H_
