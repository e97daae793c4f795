#include "model/eval/rankers/language_model_rankers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/eval/rankers/list_ranker.h"
#include "model/text/featurizer.h"
#include "model/text/index_set.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Query likelihood over one kind of features, such as words or pairs of words:
//
//   log P(Q|D) - log P(Q|C) = sum over features f of the query, repeats
//       counted, of log [ (tf(f, D) + mu P(f|C)) / ((|D| + mu) P(f|C)) ]
//
// where P(f|C) = cf(f) / |C|, cf(f) is the count of f in all documents, and |D|
// and |C| are lengths in words. log P(Q|C) is the same for all documents. It is
// subtracted because the score of a document that shares no feature with the
// query then depends on its length alone, so that inverted lists find the
// others. The score of an empty document is 0.
class DirichletLists {
 public:
  DirichletLists() = default;
  // `documents` has counts, lengths[d] is |D| of document d, and mu > 0.
  DirichletLists(std::size_t num_features, BagBatch documents,
                 const std::vector<float>& lengths, double mu) {
    std::vector<double> collection_counts(num_features);
    for (std::size_t i = 0; i < documents.indices.size(); ++i) {
      collection_counts[documents.indices[i]] += documents.counts[i];
    }
    const double total = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    for (std::size_t i = 0; i < documents.indices.size(); ++i) {
      // log [(tf + mu P) / ((|D| + mu) P)]
      //   = log(1 + tf / (mu P)) + log(mu / (|D| + mu))
      // The first term is 0 for documents without the feature, so inverted
      // lists hold it. The second is the same for all features of a document.
      const double background = collection_counts[documents.indices[i]] / total;
      documents.counts[i] = static_cast<float>(
          std::log1p(documents.counts[i] / (mu * background)));
    }
    lists_ = InvertedLists(num_features, documents);
    for (const float length : lengths) {
      // log1p is exact for a tiny |D| / mu: mu may be a million.
      length_terms_.push_back(static_cast<float>(-std::log1p(length / mu)));
    }
  }

  // Adds `weight` times the sum above for a query that has features[i]
  // counts[i] times. Each feature must occur in a document.
  void AddScores(std::span<const std::uint32_t> features,
                 std::span<const float> counts, float weight,
                 float* scores) const {
    float num_features = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
      lists_.AddScaled(features[i], weight * counts[i], scores);
      num_features += counts[i];
    }
    if (num_features == 0) return;
    const float factor = weight * num_features;
    for (std::size_t d = 0; d < length_terms_.size(); ++d) {
      scores[d] += factor * length_terms_[d];
    }
  }
  // The same for a list of features in which one may be repeated.
  void AddScores(const std::vector<std::uint32_t>& features, double weight,
                 float* scores) const {
    if (weight <= 0) return;
    const std::vector<float> once(features.size(), 1.0f);
    AddScores(features, once, static_cast<float>(weight), scores);
  }

 private:
  InvertedLists lists_;              // log(1 + tf / (mu P(f|C)))
  std::vector<float> length_terms_;  // log(mu / (|D| + mu)), by document
};

class UnigramRanker : public ListRanker {
 public:
  UnigramRanker(Featurizer words, const std::vector<std::string>& documents,
                double mu)
      : ListRanker(documents.size()), words_(std::move(words)) {
    BagBatch counts;
    for (const std::string& document : documents) {
      words_.AppendBag(document, counts);
    }
    lists_ = DirichletLists(words_.num_features(), std::move(counts),
                            LengthsInWords(documents), mu);
  }
  std::string name() const override { return "ulm"; }

 private:
  void ScoreQuery(std::string_view query, float* scores) const override {
    BagBatch bag;
    // Query words that no document has are not features, so the bag omits them.
    words_.AppendBag(query, bag);
    lists_.AddScores(bag.indices, bag.counts, /*weight=*/1, scores);
  }

  Featurizer words_;
  DirichletLists lists_;
};

std::uint64_t OrderedPair(std::uint32_t first, std::uint32_t second) {
  return (std::uint64_t{first} << 32) | second;
}

std::uint64_t UnorderedPair(std::uint32_t a, std::uint32_t b) {
  return OrderedPair(std::min(a, b), std::max(a, b));
}

// Numbers pairs of words in order of their first appearance and scores by them.
class PairLists {
 public:
  void AddPair(std::uint64_t pair) {
    const auto [entry, is_new] =
        numbers_.try_emplace(pair, static_cast<std::uint32_t>(numbers_.size()));
    bags_.indices.push_back(entry->second);
  }
  void EndDocument() {
    set_.GrowTo(numbers_.size());
    set_.SortAndCount(bags_.offsets.back(), bags_.indices, bags_.counts);
    bags_.EndBag();
  }
  // Call this after the last document.
  void Build(const std::vector<float>& lengths, double mu) {
    lists_ =
        DirichletLists(numbers_.size(), std::exchange(bags_, {}), lengths, mu);
  }
  std::optional<std::uint32_t> Find(std::uint64_t pair) const {
    const auto found = numbers_.find(pair);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }
  const DirichletLists& lists() const { return lists_; }

 private:
  absl::flat_hash_map<std::uint64_t, std::uint32_t> numbers_;
  BagBatch bags_;
  IndexSet set_;
  DirichletLists lists_;
};

class DependenceRanker : public ListRanker {
 public:
  DependenceRanker(Featurizer words, const std::vector<std::string>& documents,
                   const DependenceOptions& options, double mu)
      : ListRanker(documents.size()),
        words_(std::move(words)),
        options_(options) {
    BagBatch counts;
    for (const std::string& document : documents) {
      words_.AppendBag(document, counts);
      // Further words have no order, so only main words have neighbours.
      AddPairs(WordsOf(MainWords(document)));
    }
    const std::vector<float> lengths = LengthsInWords(documents);
    word_lists_ =
        DirichletLists(words_.num_features(), std::move(counts), lengths, mu);
    ordered_.Build(lengths, mu);
    unordered_.Build(lengths, mu);
  }
  std::string name() const override { return "mrf"; }

 private:
  static constexpr std::uint32_t kUnknownWord = ~0U;

  std::vector<std::uint32_t> WordsOf(std::string_view text) const {
    std::vector<std::uint32_t> words;
    ForEachWord(text, [&](std::string_view word) {
      words.push_back(words_.words()->Find(word).value_or(kUnknownWord));
    });
    return words;
  }

  void AddPairs(const std::vector<std::uint32_t>& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      // Looks only forwards from each word, so that two positions are
      // counted once.
      const std::size_t end =
          std::min(text.size(), i + DependenceOptions::kWindow);
      for (std::size_t j = i + 1; j < end; ++j) {
        if (j == i + 1) ordered_.AddPair(OrderedPair(text[i], text[j]));
        unordered_.AddPair(UnorderedPair(text[i], text[j]));
      }
    }
    ordered_.EndDocument();
    unordered_.EndDocument();
  }

  void ScoreQuery(std::string_view query, float* scores) const override {
    std::vector<std::uint32_t> words = WordsOf(query), ordered, unordered;
    std::erase(words, kUnknownWord);
    // A pair with an unknown word has no number.
    const std::vector<std::uint32_t> text = WordsOf(MainWords(query));
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const auto same = ordered_.Find(OrderedPair(text[i], text[i + 1]));
      if (same) ordered.push_back(*same);
      const auto near = unordered_.Find(UnorderedPair(text[i], text[i + 1]));
      if (near) unordered.push_back(*near);
    }
    // The three sums of the score. Each has its own features, with the same mu
    // and the lengths in words.
    word_lists_.AddScores(words, 1 - options_.ordered - options_.unordered,
                          scores);
    ordered_.lists().AddScores(ordered, options_.ordered, scores);
    unordered_.lists().AddScores(unordered, options_.unordered, scores);
  }

  Featurizer words_;
  DependenceOptions options_;
  DirichletLists word_lists_;
  PairLists ordered_;
  PairLists unordered_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Ranker>> CreateUnigramRanker(
    const std::vector<std::string>& documents, double mu) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words,
                           WordFeatures("unigram model", documents));
  return std::make_unique<UnigramRanker>(std::move(words), documents, mu);
}

absl::StatusOr<std::unique_ptr<Ranker>> CreateDependenceRanker(
    const std::vector<std::string>& documents, const DependenceOptions& options,
    double mu) {
  // The condition is true for NaN. Sums of decimals may round to a little more
  // than 1.
  if (!(options.ordered >= 0 && options.unordered >= 0 &&
        options.ordered + options.unordered <= 1 + 1e-9)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "MRF's weights of ordered and unordered pairs are %g and %g; each must "
        "be at least 0, and both together at most 1",
        options.ordered, options.unordered));
  }
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words, WordFeatures("MRF", documents));
  return std::make_unique<DependenceRanker>(std::move(words), documents,
                                            options, mu);
}

}  // namespace semrank
