#include "model/text/vocabulary_builder.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "model/base/strings.h"
#include "model/text/letter_windows.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

using Counts = absl::flat_hash_map<std::string, std::int64_t>;

bool ValidLength(int ngram_length) {
  return ngram_length >= kMinNgramLength && ngram_length <= kMaxNgramLength;
}

std::vector<std::string> MostFrequent(const Counts& counts,
                                      std::int64_t max_size,
                                      std::int64_t min_count) {
  using Entry = std::pair<std::int64_t, std::string_view>;
  std::vector<Entry> entries;
  for (const auto& [text, count] : counts) {
    if (count >= min_count) entries.emplace_back(count, text);
  }
  // The order is total, so the map's own order does not show.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (max_size > 0 && static_cast<std::int64_t>(entries.size()) > max_size) {
    entries.resize(static_cast<std::size_t>(max_size));
  }
  std::vector<std::string> texts;
  texts.reserve(entries.size());
  for (const Entry& entry : entries) texts.emplace_back(entry.second);
  return texts;
}

// The count that an entry must have so that at most `max_size` have it.
std::int64_t LowestKept(const Counts& counts, std::int64_t max_size) {
  if (static_cast<std::int64_t>(counts.size()) <= max_size) return 0;
  std::vector<std::int64_t> values;
  values.reserve(counts.size());
  for (const auto& [text, count] : counts) values.push_back(count);
  // values[max_size] becomes the highest count that does not fit. Entries tied
  // with it are all dropped: which of them would stay must not depend on the
  // order of the map. So fewer than max_size may be left.
  std::nth_element(values.begin(), values.begin() + max_size, values.end(),
                   std::greater<>());
  return values[max_size] + 1;
}

}  // namespace

void VocabularyBuilder::AddText(std::string_view normalized) {
  ForEachWord(normalized, [&](std::string_view word) {
    // Characters are counted once for each entry, as they bound its memory.
    if (++word_counts_[ToAbsl(word)] > 1) return;
    num_characters_ += static_cast<std::int64_t>(word.size());
  });
}

void VocabularyBuilder::AddBigrams(std::string_view normalized,
                                   std::int64_t times) {
  ForEachBigram(normalized, [&](std::string_view bigram) {
    std::int64_t& count = bigram_counts_[ToAbsl(bigram)];
    if ((count += times) > times) return;
    num_characters_ += static_cast<std::int64_t>(bigram.size());
  });
}

void VocabularyBuilder::DropRareWords(std::int64_t num_words,
                                      int ngram_length) {
  const std::int64_t lowest = LowestKept(word_counts_, num_words);
  absl::erase_if(word_counts_, [&](const auto& entry) {
    if (entry.second >= lowest) return false;
    num_characters_ -= static_cast<std::int64_t>(entry.first.size());
    // Letter n-grams represent rare words (DSSM 3.2), so their counts are kept
    // when the words are dropped.
    ForEachLetterWindow(entry.first, ngram_length, [&](std::string_view g) {
      ngram_counts_[ToAbsl(g)] += entry.second;
    });
    return true;
  });
  const std::int64_t lowest_ngram = LowestKept(ngram_counts_, num_words);
  absl::erase_if(ngram_counts_, [lowest_ngram](const auto& entry) {
    return entry.second < lowest_ngram;
  });
}

void VocabularyBuilder::DropRareBigrams(std::int64_t num_bigrams) {
  const std::int64_t lowest = LowestKept(bigram_counts_, num_bigrams);
  absl::erase_if(bigram_counts_, [&](const auto& entry) {
    if (entry.second >= lowest) return false;
    num_characters_ -= static_cast<std::int64_t>(entry.first.size());
    return true;
  });
}

std::vector<std::string> VocabularyBuilder::Words(
    std::int64_t max_size, std::int64_t min_count) const {
  return MostFrequent(word_counts_, max_size, min_count);
}

std::vector<std::string> VocabularyBuilder::Bigrams(
    std::int64_t max_size, std::int64_t min_count) const {
  return MostFrequent(bigram_counts_, max_size, min_count);
}

std::vector<std::string> VocabularyBuilder::LetterNgrams(
    int ngram_length, std::int64_t max_size, std::int64_t min_count) const {
  if (!ValidLength(ngram_length)) return {};
  // The n-grams of a text are counted from its distinct words, each times the
  // word's count; those of dropped words are counted already.
  Counts counts = ngram_counts_;
  for (const auto& [word, count] : word_counts_) {
    ForEachLetterWindow(word, ngram_length, [&, n = count](std::string_view g) {
      counts[ToAbsl(g)] += n;
    });
  }
  return MostFrequent(counts, max_size, min_count);
}

CollisionStatistics CountCollisions(const std::vector<std::string>& words,
                                    int ngram_length) {
  CollisionStatistics statistics;
  if (!ValidLength(ngram_length)) return statistics;
  absl::flat_hash_set<std::string_view> distinct;
  absl::flat_hash_map<std::string, std::uint32_t> ngram_ids;
  absl::flat_hash_set<std::vector<std::uint32_t>> bags;
  for (const std::string& word : words) {
    if (word.empty() || !distinct.insert(word).second) continue;
    // Sorted ids with repeats are the bag, counts included.
    std::vector<std::uint32_t> bag;
    ForEachLetterWindow(word, ngram_length, [&](std::string_view ngram) {
      // n-grams are numbered in order of first appearance, as a bag of numbers
      // is compared faster than one of strings.
      const auto next_id = static_cast<std::uint32_t>(ngram_ids.size());
      bag.push_back(
          ngram_ids.try_emplace(ToAbsl(ngram), next_id).first->second);
    });
    std::sort(bag.begin(), bag.end());
    if (!bags.insert(std::move(bag)).second) ++statistics.num_collisions;
  }
  statistics.num_words = static_cast<std::int64_t>(distinct.size());
  statistics.num_ngrams = static_cast<std::int64_t>(ngram_ids.size());
  return statistics;
}

}  // namespace semrank
