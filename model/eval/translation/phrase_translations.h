// Probabilities P(q|w) that a phrase w of a title, up to three words, is
// translated to the phrase q of a query, from clicked pairs whose words were
// aligned (Gao, He and Nie, CIKM 2010, after Koehn, Och and Marcu, NAACL 2003,
// section 2.2 and 3.1):
//
//   1. Each query word is aligned with the title word of the highest t(q|w),
//      and each title word with the query word of the highest t(w|q): the
//      Viterbi alignments of IBM Model 1 in both directions. A word that the
//      empty word explains better stays unaligned.
//   2. Both are joined: their intersection, which grows by neighbouring links
//      of their union as long as these connect a word without a link
//      ("grow-diag").
//   3. Every two phrases are counted whose words are linked with each other at
//      least once and with no word outside.
//   4. P(q|w) = count(q, w) / sum over q' of count(q', w)
//
// CIKM 2010 names "heuristics" for step 2; grow-diag is the choice here.
// Counts are weighted by clicks.
//
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_EVAL_TRANSLATION_PHRASE_TRANSLATIONS_H_
#define SEMRANK_MODEL_EVAL_TRANSLATION_PHRASE_TRANSLATIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/eval/translation/word_translations.h"

namespace semrank {

inline constexpr std::size_t kMaxPhraseWords = 3;

// (target position, source position), sorted, each once.
using Alignment = std::vector<std::pair<std::size_t, std::size_t>>;

// Steps 1 and 2 for one pair. `backward` translates targets to sources.
Alignment AlignWords(const TranslatedText& text,
                     const WordTranslations& forward,
                     const WordTranslations& backward);

// Two phrases as [begin, end) of words.
struct PhrasePair {
  std::size_t target_begin = 0, target_end = 0;
  std::size_t source_begin = 0, source_end = 0;
  friend bool operator==(const PhrasePair&, const PhrasePair&) = default;
};

// Step 3: all such pairs whose target and source have at most
// kMaxPhraseWords words. Unaligned source words at the edge of a phrase may
// belong to it or not.
std::vector<PhrasePair> ExtractPhrases(std::size_t num_targets,
                                       std::size_t num_sources,
                                       const Alignment& alignment);

class PhraseTranslations {
 public:
  struct Translation {
    std::uint32_t target = 0;  // index in targets()
    float probability = 0;
  };

  // `words[i]` is word i of the texts.
  PhraseTranslations(std::span<const TranslatedText> texts,
                     std::span<const std::string> words,
                     const WordTranslations& forward,
                     const WordTranslations& backward);

  // Query phrases, words joined by single blanks.
  const std::vector<std::string>& targets() const { return targets_; }
  // The translations of a title phrase, which add up to 1; empty for an
  // unknown one.
  std::span<const Translation> Of(std::string_view source) const;

 private:
  std::vector<std::string> targets_;
  absl::flat_hash_map<std::string, std::vector<Translation>> translations_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_TRANSLATION_PHRASE_TRANSLATIONS_H_
