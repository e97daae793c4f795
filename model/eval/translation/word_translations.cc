#include "model/eval/translation/word_translations.h"

#include <algorithm>
#include <cmath>

#include "model/base/interrupt.h"

namespace semrank {
namespace {

// Calls visit(target, source) for each two words of the text, the empty word
// last for each target. The order fixes that of entry_of.
template <typename Visitor>
void ForEachTwoWords(const TranslatedText& text, std::uint32_t empty_word,
                     Visitor visit) {
  for (const std::uint32_t target : text.target) {
    for (const std::uint32_t source : text.source) visit(target, source);
    visit(target, empty_word);
  }
}

}  // namespace

WordTranslations::WordTranslations(std::span<const TranslatedText> texts,
                                   std::uint32_t num_words)
    : num_words_(num_words), offsets_(std::size_t{num_words} + 2) {
  // Only words that share a pair can ever have a probability above 0: t starts
  // uniform over these, and EM never revives a zero. Each such pair of words is
  // (source << 32 | target), so that sorting makes the rows of the table.
  std::vector<std::uint64_t> together;
  const auto make_distinct = [&] {
    std::ranges::sort(together);
    together.erase(std::unique(together.begin(), together.end()),
                   together.end());
  };
  std::size_t limit = std::size_t{1} << 20;
  for (const TranslatedText& text : texts) {
    ForEachTwoWords(
        text, num_words, [&](std::uint32_t target, std::uint32_t source) {
          together.push_back((std::uint64_t{source} << 32) | target);
        });
    if (together.size() < limit) continue;
    make_distinct();
    // Pairs that repeat are dropped each time the list has doubled, so memory
    // is bounded by about twice the distinct ones and the time for sorting
    // stays O(n log n).
    limit = std::max(limit, 2 * together.size());
  }
  make_distinct();
  entries_.reserve(together.size());
  // offsets_ has an element for each word, for the empty word and for the end.
  // The size of row w is counted at w + 1; the prefix sum then turns sizes
  // into offsets.
  for (const std::uint64_t pair : together) {
    ++offsets_[(pair >> 32) + 1];
    entries_.push_back({static_cast<std::uint32_t>(pair), 0});
  }
  for (std::size_t w = 1; w < offsets_.size(); ++w) {
    offsets_[w] += offsets_[w - 1];
  }
  Normalize(std::vector<double>(entries_.size(), 1));
}

std::size_t WordTranslations::EntryOf(std::uint32_t target,
                                      std::uint32_t source) const {
  const auto row = Of(source);
  const auto found =
      std::ranges::lower_bound(row, target, {}, &Translation::target);
  if (found == row.end() || found->target != target) return entries_.size();
  return offsets_[source] + (found - row.begin());
}

double WordTranslations::Probability(std::uint32_t target,
                                     std::uint32_t source) const {
  const std::size_t entry = EntryOf(target, source);
  return entry == entries_.size() ? 0 : entries_[entry].probability;
}

double WordTranslations::CountExpected(std::span<const TranslatedText> texts,
                                       std::span<const std::uint32_t> entry_of,
                                       std::vector<double>& counts) const {
  std::ranges::fill(counts, 0.0);
  double log_likelihood = 0;
  const std::uint32_t* entry = entry_of.data();
  for (const TranslatedText& text : texts) {
    const std::size_t num_sources = text.source.size() + 1;
    for (std::size_t t = 0; t < text.target.size(); ++t, entry += num_sources) {
      double sum = 0;
      // P(q|D) up to the factor 1 / (|D| + 1), which cancels in the
      // expected counts.
      for (std::size_t s = 0; s < num_sources; ++s) {
        sum += entries_[entry[s]].probability;
      }
      for (std::size_t s = 0; s < num_sources; ++s) {
        // E step: the share of this title word in the query word, times
        // the clicks.
        counts[entry[s]] += text.weight * entries_[entry[s]].probability / sum;
      }
      log_likelihood +=
          text.weight * std::log(sum / static_cast<double>(num_sources));
    }
  }
  return log_likelihood;
}

// The M step. No sum is 0: t of a row adds up to 1, so at least one of its
// entries has a count.
void WordTranslations::Normalize(const std::vector<double>& counts) {
  for (std::size_t w = 0; w + 1 < offsets_.size(); ++w) {
    double sum = 0;
    for (std::size_t e = offsets_[w]; e < offsets_[w + 1]; ++e) {
      sum += counts[e];
    }
    for (std::size_t e = offsets_[w]; e < offsets_[w + 1]; ++e) {
      entries_[e].probability = counts[e] / sum;
    }
  }
}

absl::StatusOr<WordTranslations> WordTranslations::Learn(
    std::span<const TranslatedText> texts, std::uint32_t num_words,
    int num_iterations) {
  WordTranslations result(texts, num_words);
  // Entries are looked up once for all iterations.
  std::vector<std::uint32_t> entry_of;
  for (const TranslatedText& text : texts) {
    ForEachTwoWords(
        text, num_words, [&](std::uint32_t target, std::uint32_t source) {
          entry_of.push_back(
              static_cast<std::uint32_t>(result.EntryOf(target, source)));
        });
  }
  std::vector<double> counts(result.entries_.size());
  for (int i = 0; i < num_iterations; ++i) {
    if (Interrupted()) {
      return absl::CancelledError(
          "interrupted while translations were learned");
    }
    result.log_likelihoods_.push_back(
        result.CountExpected(texts, entry_of, counts));
    result.Normalize(counts);
  }
  // The likelihood is measured before each M step, so that of the last one
  // needs another pass.
  result.log_likelihoods_.push_back(
      result.CountExpected(texts, entry_of, counts));
  return result;
}

}  // namespace semrank
