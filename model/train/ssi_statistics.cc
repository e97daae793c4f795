#include "model/train/ssi_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace semrank {
namespace {

// Calls visit(bag) for the words of each document, rising.
template <typename Visit>
void ForEachDocument(const TextBags& bags, std::span<const TextId> documents,
                     Visit visit) {
  BagBatch bag;
  for (const TextId& document : documents) {
    // One text has fewer than 2^32 words, which is all that can fail.
    if (!bags.Layout(std::span(&document, 1), bag).ok()) continue;
    bags.Fill(std::span(&document, 1), 0, 1, bag);
    visit(std::span<const std::uint32_t>(bag.indices));
  }
}

std::vector<std::int64_t> DocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(num_words));
  ForEachDocument(bags, documents, [&](std::span<const std::uint32_t> words) {
    for (const std::uint32_t word : words) ++counts[word];
  });
  return counts;
}

// Frequent words of the documents of each rare word, repeated as they occur.
std::vector<std::vector<std::uint32_t>> Companions(
    const TextBags& bags, std::span<const TextId> documents, int num_words,
    std::uint32_t num_frequent) {
  std::vector<std::vector<std::uint32_t>> companions(
      static_cast<std::size_t>(num_words) - num_frequent);
  ForEachDocument(bags, documents, [&](std::span<const std::uint32_t> words) {
    const auto first_rare =
        std::lower_bound(words.begin(), words.end(), num_frequent);
    for (auto rare = first_rare; rare != words.end(); ++rare) {
      auto& list = companions[*rare - num_frequent];
      list.insert(list.end(), words.begin(), first_rare);
    }
  });
  return companions;
}

struct Correlation {
  double dice;
  std::uint32_t word;
};

}  // namespace

std::vector<float> InverseDocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words) {
  std::vector<float> idf;
  for (const std::int64_t count :
       DocumentFrequencies(bags, documents, num_words)) {
    idf.push_back(static_cast<float>(
        std::log((static_cast<double>(documents.size()) + 1) /
                 (static_cast<double>(count) + 1)) +
        1));
  }
  return idf;
}

std::vector<float> CorrelatedWords(const TextBags& bags,
                                   std::span<const TextId> documents,
                                   int num_words, int num_frequent, int top_k) {
  const std::vector<std::int64_t> frequencies =
      DocumentFrequencies(bags, documents, num_words);
  std::vector<float> correlated;
  std::vector<Correlation> found;
  std::size_t word = static_cast<std::size_t>(num_frequent);
  for (auto& list : Companions(bags, documents, num_words,
                               static_cast<std::uint32_t>(num_frequent))) {
    std::sort(list.begin(), list.end());
    found.clear();
    for (auto run = list.begin(); run != list.end();) {
      const auto end = std::upper_bound(run, list.end(), *run);
      found.push_back(
          {2.0 * static_cast<double>(end - run) /
               static_cast<double>(frequencies[word] + frequencies[*run]),
           *run});
      run = end;
    }
    // Stable: of equal ones the lower number, which is more frequent, stays
    // first.
    std::stable_sort(found.begin(), found.end(),
                     [](const Correlation& a, const Correlation& b) {
                       return a.dice > b.dice;
                     });
    for (std::size_t p = 0; p < static_cast<std::size_t>(top_k); ++p) {
      correlated.push_back(p < found.size() ? static_cast<float>(found[p].word)
                                            : -1.0f);
    }
    ++word;
    std::vector<std::uint32_t>().swap(list);
  }
  return correlated;
}

}  // namespace semrank
