#include "model/eval/translation/phrase_translations.h"

#include <algorithm>
#include <map>

#include "model/base/strings.h"

namespace semrank {
namespace {

// Position in `sources` of the word that translates best to `target`, the first
// of equal ones; sources.size() when the empty word is better than all.
std::size_t BestSource(std::uint32_t target,
                       const std::vector<std::uint32_t>& sources,
                       const WordTranslations& translations) {
  std::size_t best = sources.size();
  double highest = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const double probability = translations.Probability(target, sources[s]);
    if (probability <= highest) continue;
    highest = probability;
    best = s;
  }
  // A word that the empty word explains better gets no link.
  const double by_empty_word =
      translations.Probability(target, translations.empty_word());
  return highest >= by_empty_word ? best : sources.size();
}

// Callers test both sides with this, so that diagonal neighbours count
// too (grow-diag).
bool AreNeighbours(std::size_t a, std::size_t b) {
  return a == b || a + 1 == b || b + 1 == a;
}

// Adds links of `candidates` that touch one of `links` and connect an unlinked
// word, until none is left.
void Grow(const Alignment& candidates, std::size_t num_targets,
          std::size_t num_sources, Alignment& links) {
  std::vector<bool> target_linked(num_targets), source_linked(num_sources);
  const auto mark = [&](const auto& link) {
    target_linked[link.first] = source_linked[link.second] = true;
  };
  std::ranges::for_each(links, mark);
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& candidate : candidates) {
      if (target_linked[candidate.first] && source_linked[candidate.second]) {
        continue;
      }
      const bool touches = std::ranges::any_of(links, [&](const auto& link) {
        return AreNeighbours(link.first, candidate.first) &&
               AreNeighbours(link.second, candidate.second);
      });
      if (!touches) continue;
      links.push_back(candidate);
      mark(candidate);
      grew = true;
    }
  }
  std::ranges::sort(links);
}

std::string JoinWords(const std::vector<std::uint32_t>& text, std::size_t begin,
                      std::size_t end, std::span<const std::string> words) {
  std::string phrase = words[text[begin]];
  for (std::size_t i = begin + 1; i < end; ++i) phrase += " " + words[text[i]];
  return phrase;
}

}  // namespace

Alignment AlignWords(const TranslatedText& text,
                     const WordTranslations& forward,
                     const WordTranslations& backward) {
  Alignment to_sources, to_targets;
  for (std::size_t t = 0; t < text.target.size(); ++t) {
    const std::size_t s = BestSource(text.target[t], text.source, forward);
    if (s < text.source.size()) to_sources.emplace_back(t, s);
  }
  for (std::size_t s = 0; s < text.source.size(); ++s) {
    const std::size_t t = BestSource(text.source[s], text.target, backward);
    if (t < text.target.size()) to_targets.emplace_back(t, s);
  }
  std::ranges::sort(to_targets);
  // The intersection is precise and has few links; the union has many, and
  // wrong ones. Growing from the first within the second is between both.
  Alignment links, all;
  std::ranges::set_intersection(to_sources, to_targets,
                                std::back_inserter(links));
  std::ranges::set_union(to_sources, to_targets, std::back_inserter(all));
  Grow(all, text.target.size(), text.source.size(), links);
  return links;
}

std::vector<PhrasePair> ExtractPhrases(std::size_t num_targets,
                                       std::size_t num_sources,
                                       const Alignment& alignment) {
  std::vector<bool> source_linked(num_sources);
  for (const auto& link : alignment) source_linked[link.second] = true;
  std::vector<PhrasePair> pairs;
  for (std::size_t begin = 0; begin < num_targets; ++begin) {
    const std::size_t last = std::min(num_targets, begin + kMaxPhraseWords);
    for (std::size_t end = begin + 1; end <= last; ++end) {
      std::size_t low = num_sources, high = 0;  // sources of [begin, end)
      for (const auto& [t, s] : alignment) {
        if (t < begin || t >= end) continue;
        low = std::min(low, s);
        high = std::max(high, s + 1);
      }
      // The condition of Koehn, Och and Marcu: no word of the source span is
      // linked with a target outside.
      const bool linked_outside =
          std::ranges::any_of(alignment, [&](const auto& link) {
            return link.second >= low && link.second < high &&
                   (link.first < begin || link.first >= end);
          });
      // A target phrase without any link has low >= high: it has no source.
      if (low >= high || linked_outside) continue;
      // The smallest source span and all longer ones that only add
      // unlinked words.
      for (std::size_t from = low;; --from) {
        for (std::size_t to = high;
             to <= num_sources && to - from <= kMaxPhraseWords; ++to) {
          pairs.push_back({begin, end, from, to});
          if (to < num_sources && source_linked[to]) break;
        }
        if (from == 0 || source_linked[from - 1]) break;
      }
    }
  }
  return pairs;
}

PhraseTranslations::PhraseTranslations(std::span<const TranslatedText> texts,
                                       std::span<const std::string> words,
                                       const WordTranslations& forward,
                                       const WordTranslations& backward) {
  absl::flat_hash_map<std::string, std::uint32_t> target_numbers;
  absl::flat_hash_map<std::string, std::map<std::uint32_t, double>> counts;
  for (const TranslatedText& text : texts) {
    for (const PhrasePair& pair :
         ExtractPhrases(text.target.size(), text.source.size(),
                        AlignWords(text, forward, backward))) {
      const auto [target, is_new] = target_numbers.try_emplace(
          JoinWords(text.target, pair.target_begin, pair.target_end, words),
          static_cast<std::uint32_t>(targets_.size()));
      if (is_new) targets_.push_back(target->first);
      counts[JoinWords(text.source, pair.source_begin, pair.source_end, words)]
            [target->second] += text.weight;
    }
  }
  for (const auto& [source, row] : counts) {
    double sum = 0;
    // The map is ordered, as a sum over a hash map would be rounded differently
    // from run to run.
    for (const auto& [target, count] : row) sum += count;
    std::vector<Translation>& translations = translations_[source];
    for (const auto& [target, count] : row) {
      translations.push_back({target, static_cast<float>(count / sum)});
    }
  }
}

std::span<const PhraseTranslations::Translation> PhraseTranslations::Of(
    std::string_view source) const {
  const auto found = translations_.find(ToAbsl(source));
  if (found == translations_.end()) return {};
  return found->second;
}

}  // namespace semrank
