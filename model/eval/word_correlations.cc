#include "model/eval/word_correlations.h"

#include <algorithm>
#include <set>

#include "model/text/normalizer.h"

namespace semrank {

WordCorrelations::WordCorrelations(const std::vector<std::string>& words) {
  for (const std::string& word : words) beside_[word];
}

void WordCorrelations::AddText(std::string_view text) {
  std::set<std::string_view> words;
  ForEachWord(text, [&](std::string_view word) { words.insert(word); });
  const auto count = [](std::string_view word, Counts& counts) {
    const auto found = counts.find(word);
    if (found != counts.end()) {
      ++found->second;
    } else {
      counts.emplace(word, 1);
    }
  };
  for (const std::string_view word : words) {
    count(word, num_texts_);
    const auto given = beside_.find(word);
    if (given == beside_.end()) continue;
    for (const std::string_view other : words) {
      if (other != word) count(other, given->second);
    }
  }
}

std::int64_t WordCorrelations::NumTexts(const std::string& word) const {
  const auto found = num_texts_.find(word);
  return found == num_texts_.end() ? 0 : found->second;
}

std::vector<CorrelatedWord> WordCorrelations::MostCorrelated(
    const std::string& word, std::size_t count) const {
  const auto given = beside_.find(word);
  if (given == beside_.end()) return {};
  std::vector<CorrelatedWord> correlated;
  for (const auto& [other, together] : given->second) {
    correlated.push_back(
        {other, 2 * static_cast<double>(together) /
                    static_cast<double>(NumTexts(word) + NumTexts(other))});
  }
  std::stable_sort(correlated.begin(), correlated.end(),
                   [](const CorrelatedWord& a, const CorrelatedWord& b) {
                     return a.dice > b.dice;
                   });
  if (correlated.size() > count) correlated.resize(count);
  return correlated;
}

}  // namespace semrank
