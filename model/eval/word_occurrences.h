// A word in the texts of a file: how a CLSM embeds it in different contexts
// (table 2 of the paper), and which words occur beside it (SSI 2.2.1).
#ifndef SEMRANK_MODEL_EVAL_WORD_OCCURRENCES_H_
#define SEMRANK_MODEL_EVAL_WORD_OCCURRENCES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/nn/clsm_tower.h"
#include "model/text/featurizer.h"

namespace semrank {

struct WordContext {
  std::string window;  // "free [office] 2000"
  float cosine = 0;    // with the first context
};

// Finds the distinct windows around `word`, normalised, in the lines of a file,
// and compares the convolution vectors h_t (CLSM eq. 2) of them with that of
// the first. The first window is followed by the others in descending order of
// cosine; equal ones keep the order of the file. Empty if no line has the word.
// Fails as ForEachText.
absl::StatusOr<std::vector<WordContext>> FindWordContexts(
    const std::string& path, std::string_view word, const ClsmTower& tower,
    const Featurizer& featurizer, BadLines& bad_lines);

struct CorrelatedWord {
  std::string word;
  double dice = 0;  // in (0, 1]
};

// Counts how often words occur in the same texts as some given words. SSI
// measures that by
//
//   DICE(s, t) = 2 n(s and t) / (n(s) + n(t))
//
// where n is the number of texts that have a word, or both: 1 for words that
// always occur together, 0 for words that never do.
//
// Keeps the distinct words of all texts in memory, and for each given word
// those that occur with it. Not thread-safe.
class WordCorrelations {
 public:
  // `words` are normalised.
  explicit WordCorrelations(const std::vector<std::string>& words);

  // Counts the words of one text, normalised.
  void AddText(std::string_view text);

  // The number of texts that have the word.
  std::int64_t NumTexts(const std::string& word) const;
  // At most `count` words with the highest DICE with one of the given words;
  // equal ones in alphabetical order.
  std::vector<CorrelatedWord> MostCorrelated(const std::string& word,
                                             std::size_t count) const;

 private:
  using Counts = std::map<std::string, std::int64_t, std::less<>>;

  Counts num_texts_;                                   // by word
  std::map<std::string, Counts, std::less<>> beside_;  // by given word
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_WORD_OCCURRENCES_H_
