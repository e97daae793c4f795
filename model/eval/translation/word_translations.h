// IBM Model 1: the probabilities t(q|w) that a word w of a title is
// translated to the word q of a query, learned from clicked pairs by
// expectation maximization (Brown, Della Pietra, Della Pietra and Mercer,
// Computational Linguistics 19(2), 1993, "Model 1"; on clicked pairs: Gao, He
// and Nie, CIKM 2010):
//
//   P(Q|D) = product over query words q of  1 / (|D| + 1)
//            * sum over title words w, and the empty word, of t(q|w)
//   E step   c(q, w) += clicks * t(q|w) / sum over w' of t(q|w')
//   M step   t(q|w) = c(q, w) / sum over q' of c(q', w)
//
// The likelihood has one maximum and never falls; t starts uniform. The empty
// word explains query words that no title word explains, as in Brown et al. and
// in Berger and Lafferty (SIGIR 1999).
//
//   Memory   16 bytes for each two words that share a pair, while learning also
//            4 for each two words of each pair.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_EVAL_TRANSLATION_WORD_TRANSLATIONS_H_
#define SEMRANK_MODEL_EVAL_TRANSLATION_WORD_TRANSLATIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

// Two texts that mean the same, as word numbers; both have a word.
struct TranslatedText {
  std::vector<std::uint32_t> source;  // the title
  std::vector<std::uint32_t> target;  // the query
  double weight = 1;                  // clicks, > 0
};

class WordTranslations {
 public:
  struct Translation {
    std::uint32_t target = 0;
    double probability = 0;
  };

  // Word numbers must be below num_words. Returns Cancelled if the program
  // is interrupted.
  static absl::StatusOr<WordTranslations> Learn(
      std::span<const TranslatedText> texts, std::uint32_t num_words,
      int num_iterations);

  // The translations of a word in ascending order of target, which add up to 1;
  // empty for a word that no source text has.
  std::span<const Translation> Of(std::uint32_t source) const {
    return std::span(entries_).subspan(offsets_[source],
                                       offsets_[source + 1] - offsets_[source]);
  }
  // A source that each text has beside its words.
  std::uint32_t empty_word() const { return num_words_; }
  // t(target|source), 0 if they never share a pair.
  double Probability(std::uint32_t target, std::uint32_t source) const;

  // sum of weight * log P(target|source text): before each iteration, and after
  // the last.
  const std::vector<double>& log_likelihoods() const {
    return log_likelihoods_;
  }

 private:
  WordTranslations(std::span<const TranslatedText> texts,
                   std::uint32_t num_words);
  std::size_t EntryOf(std::uint32_t target, std::uint32_t source) const;
  // Sets `counts`, one for each entry, and returns the log likelihood.
  double CountExpected(std::span<const TranslatedText> texts,
                       std::span<const std::uint32_t> entry_of,
                       std::vector<double>& counts) const;
  void Normalize(const std::vector<double>& counts);

  std::uint32_t num_words_;  // also the number of the empty word
  // The translations of word w: entries [offsets_[w], offsets_[w + 1]).
  std::vector<std::size_t> offsets_;
  std::vector<Translation> entries_;
  std::vector<double> log_likelihoods_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_TRANSLATION_WORD_TRANSLATIONS_H_
