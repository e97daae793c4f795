#include "model/eval/word_occurrences.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>

#include "model/base/status_macros.h"
#include "model/data/input_lines.h"
#include "model/nn/kernels.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The words around words[middle], which stands in brackets.
std::string WindowText(const std::vector<std::string_view>& words,
                       std::size_t middle, int window) {
  // A window has n = 2d + 1 words (CLSM 3.1): d to each side. Near an end of
  // the text it is shorter.
  const std::size_t margin = static_cast<std::size_t>(window) / 2;
  const std::size_t first = middle > margin ? middle - margin : 0;
  const std::size_t last = std::min(words.size(), middle + margin + 1);
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) text += ' ';
    text +=
        i == middle ? "[" + std::string(words[i]) + "]" : std::string(words[i]);
  }
  return text;
}

// A word without known features has the zero vector, and a cosine of 0.
float Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const int size = static_cast<int>(a.size());
  const float length =
      std::sqrt(Dot(a.data(), a.data(), size) * Dot(b.data(), b.data(), size));
  return length > 0 ? Dot(a.data(), b.data(), size) / length : 0;
}

}  // namespace

absl::StatusOr<std::vector<WordContext>> FindWordContexts(
    const std::string& path, std::string_view word, const ClsmTower& tower,
    const Featurizer& featurizer, BadLines& bad_lines) {
  std::vector<WordContext> contexts;
  std::set<std::string> seen;
  std::vector<float> reference;
  TowerInput input;
  TowerScratch scratch;
  std::vector<std::string_view> words;
  const auto add_text = [&](const std::string& normalized) {
    words.clear();
    ForEachWord(normalized, [&](std::string_view text_word) {
      words.push_back(text_word);
    });
    if (std::ranges::find(words, word) == words.end()) return;
    input.Clear();
    tower.AppendText(featurizer, normalized, input);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != word) continue;
      const std::string window = WindowText(words, i, tower.window());
      // Titles repeat: the same window has the same vector.
      if (!seen.insert(window).second) continue;
      // h_t of the word (CLSM eq. 2) in the only text of `input`.
      const std::vector<float> activations =
          tower.ConvolveWord(input, 0, static_cast<int>(i), scratch);
      if (reference.empty()) reference = activations;
      contexts.push_back({window, Cosine(reference, activations)});
    }
  };
  SEMRANK_RETURN_IF_ERROR(
      ForEachText(path, featurizer.normalizer_version(), bad_lines, add_text));
  // The reference stays first, whatever the rounding of its cosine of 1.
  if (!contexts.empty()) {
    std::ranges::stable_sort(contexts.begin() + 1, contexts.end(),
                             std::greater<>(), &WordContext::cosine);
  }
  return contexts;
}

WordCorrelations::WordCorrelations(const std::vector<std::string>& words) {
  for (const std::string& word : words) beside_[word];
}

void WordCorrelations::AddText(std::string_view text) {
  // n counts texts, so a word that is repeated in one counts once.
  std::set<std::string_view> words;
  ForEachWord(text, [&](std::string_view word) { words.insert(word); });
  for (const std::string_view word : words) {
    ++num_texts_[std::string(word)];
    const auto given = beside_.find(word);
    if (given == beside_.end()) continue;
    for (const std::string_view other : words) {
      if (other != word) ++given->second[std::string(other)];
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
  // The map is in alphabetical order, which stays for equal values.
  std::ranges::stable_sort(correlated, std::greater<>(), &CorrelatedWord::dice);
  if (correlated.size() > count) correlated.resize(count);
  return correlated;
}

}  // namespace semrank
