// How often words occur in the same texts, as SSI measures it (section 2.2.1):
//
//   DICE(s, t) = 2 n(s and t) / (n(s) + n(t))
//
// where n counts the texts that have a word, or both: 1 for words that always
// stand together, 0 for words that never do.
//
//   Memory   the distinct words of all texts, and those beside the given ones.
//   Threads  one thread.
#ifndef SEMRANK_MODEL_EVAL_WORD_CORRELATIONS_H_
#define SEMRANK_MODEL_EVAL_WORD_CORRELATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace semrank {

struct CorrelatedWord {
  std::string word;
  double dice = 0;  // in (0, 1]
};

// Counts what occurs beside some words.
class WordCorrelations {
 public:
  // `words` are normalised.
  explicit WordCorrelations(const std::vector<std::string>& words);

  // To be called once for each text, normalised.
  void AddText(std::string_view text);

  // How many texts have the word.
  std::int64_t NumTexts(const std::string& word) const;
  // The words of highest DICE with one of the given words, at most `count`; of
  // equal ones the first in the alphabet.
  std::vector<CorrelatedWord> MostCorrelated(const std::string& word,
                                             std::size_t count) const;

 private:
  using Counts = std::map<std::string, std::int64_t, std::less<>>;

  Counts num_texts_;                                   // by word
  std::map<std::string, Counts, std::less<>> beside_;  // of the given words
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_WORD_CORRELATIONS_H_
