#include "model/train/ssi/ssi_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace semrank {
namespace {

// The words of one document after another.
class DocumentReader {
 public:
  explicit DocumentReader(const TextBags& bags) : bags_(bags) {}

  // Words in ascending order; valid until the next call.
  std::span<const std::uint32_t> Words(TextId document) {
    // Layout fails only for more than 2^32 words, which no text has.
    if (!bags_.Layout(std::span(&document, 1), bag_).ok()) return {};
    bags_.Fill(std::span(&document, 1), 0, 1, bag_);
    return bag_.indices;
  }

 private:
  const TextBags& bags_;
  BagBatch bag_;
};

std::vector<std::int64_t> DocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(num_words));
  DocumentReader reader(bags);
  for (const TextId document : documents) {
    for (const std::uint32_t word : reader.Words(document)) ++counts[word];
  }
  return counts;
}

// The documents of each word from `first` on; the list of word first + i begins
// at offsets[i].
struct DocumentLists {
  std::vector<std::size_t> offsets = {0};
  std::vector<TextId> documents;

  std::span<const TextId> Of(std::size_t i) const {
    return std::span(documents).subspan(offsets[i],
                                        offsets[i + 1] - offsets[i]);
  }
};

DocumentLists ListDocuments(const TextBags& bags,
                            std::span<const TextId> documents,
                            std::span<const std::int64_t> frequencies,
                            std::uint32_t first) {
  DocumentLists lists;
  for (const std::int64_t frequency : frequencies.subspan(first)) {
    lists.offsets.push_back(lists.offsets.back() +
                            static_cast<std::size_t>(frequency));
  }
  lists.documents.resize(lists.offsets.back());
  std::vector<std::size_t> places = lists.offsets;
  DocumentReader reader(bags);
  for (const TextId document : documents) {
    for (const std::uint32_t word : reader.Words(document)) {
      if (word < first) continue;
      lists.documents[places[word - first]++] = document;
    }
  }
  return lists;
}

struct Correlation {
  double dice;
  std::uint32_t word;
};

// Counts the frequent words beside one word after another.
class CompanionCounter {
 public:
  // The arguments outlive the counter.
  CompanionCounter(const TextBags& bags,
                   std::span<const std::int64_t> frequencies,
                   std::uint32_t num_frequent)
      : reader_(bags), frequencies_(frequencies), together_(num_frequent) {}

  // Returns the companions of word `of`, which `documents` have: itself if it
  // is frequent, then the highest DICE first, and of equal ones the lower
  // number, which is more frequent.
  const std::vector<Correlation>& Rank(std::uint32_t of,
                                       std::span<const TextId> documents) {
    Count(documents);
    const auto frequency = static_cast<std::int64_t>(documents.size());
    found_.clear();
    if (of < together_.size()) found_.push_back({1, of});
    const auto num_own = static_cast<std::ptrdiff_t>(found_.size());
    for (const std::uint32_t word : companions_) {
      const std::int64_t together = std::exchange(together_[word], 0);
      if (word == of) continue;
      // DICE(i, j) = 2 n(i and j) / (n(i) + n(j)) (SSI 2.2.1).
      found_.push_back({2.0 * static_cast<double>(together) /
                            static_cast<double>(frequency + frequencies_[word]),
                        word});
    }
    std::sort(found_.begin() + num_own, found_.end(),
              [](const Correlation& a, const Correlation& b) {
                return a.dice != b.dice ? a.dice > b.dice : a.word < b.word;
              });
    return found_;
  }

 private:
  void Count(std::span<const TextId> documents) {
    companions_.clear();
    for (const TextId document : documents) {
      for (const std::uint32_t word : reader_.Words(document)) {
        // Words are in ascending order, and the frequent ones have the lowest
        // numbers.
        if (word >= together_.size()) break;
        if (together_[word]++ == 0) companions_.push_back(word);
      }
    }
  }

  DocumentReader reader_;
  std::span<const std::int64_t> frequencies_;
  std::vector<std::int64_t> together_;     // by frequent word; 0 between calls
  std::vector<std::uint32_t> companions_;  // those that are not 0
  std::vector<Correlation> found_;
};

}  // namespace

std::vector<float> InverseDocumentFrequencies(const TextBags& bags,
                                              std::span<const TextId> documents,
                                              int num_words) {
  std::vector<float> idf;
  for (const std::int64_t count :
       DocumentFrequencies(bags, documents, num_words)) {
    // With 1 added on both sides, a word of no document, which queries may
    // have, gets the largest idf, and no idf is 0 or infinite.
    idf.push_back(static_cast<float>(
        std::log((static_cast<double>(documents.size()) + 1) /
                 (static_cast<double>(count) + 1)) +
        1));
  }
  return idf;
}

std::vector<float> CorrelatedWords(const TextBags& bags,
                                   std::span<const TextId> documents,
                                   const CorrelationOptions& options) {
  const std::vector<std::int64_t> frequencies =
      DocumentFrequencies(bags, documents, options.num_words);
  const auto first = static_cast<std::uint32_t>(
      options.of_all_words ? 0 : options.num_frequent);
  // One row of counts is enough when each word goes through the documents that
  // have it; a matrix of all by all frequent words would not fit.
  const DocumentLists lists =
      ListDocuments(bags, documents, frequencies, first);
  CompanionCounter counter(bags, frequencies,
                           static_cast<std::uint32_t>(options.num_frequent));
  const auto top_k = static_cast<std::size_t>(options.top_k);
  std::vector<float> correlated;
  for (std::size_t word = first; word < frequencies.size(); ++word) {
    const std::vector<Correlation>& found =
        counter.Rank(static_cast<std::uint32_t>(word), lists.Of(word - first));
    for (std::size_t p = 0; p < top_k; ++p) {
      correlated.push_back(p < found.size() ? static_cast<float>(found[p].word)
                                            : -1.0f);
    }
  }
  return correlated;
}

}  // namespace semrank
