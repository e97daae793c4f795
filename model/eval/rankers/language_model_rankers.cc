#include "model/eval/rankers/language_model_rankers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/eval/rankers/word_features.h"
#include "model/text/index_set.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// Words of the window of f_U.
constexpr std::size_t kWindow = 8;

std::uint64_t OrderedPair(std::uint32_t first, std::uint32_t second) {
  return (std::uint64_t{first} << 32) | second;
}

std::uint64_t UnorderedPair(std::uint32_t a, std::uint32_t b) {
  return OrderedPair(std::min(a, b), std::max(a, b));
}

absl::Status CheckWeights(const DependenceOptions& options) {
  // The condition is false for NaN. Sums of decimals may round to a little more
  // than 1.
  if (options.ordered >= 0 && options.unordered >= 0 &&
      options.ordered + options.unordered <= 1 + 1e-9) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "MRF's weights of ordered and unordered pairs are %g and %g; each must "
      "be at least 0, and both together at most 1",
      options.ordered, options.unordered));
}

// Collects the pairs of each document as a bag and numbers them.
template <typename PairNumbers>
class PairBags {
 public:
  explicit PairBags(PairNumbers& numbers) : numbers_(numbers) {}

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
  BagBatch Take() { return std::move(bags_); }

 private:
  PairNumbers& numbers_;
  BagBatch bags_;
  IndexSet set_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<UnigramRanker>> UnigramRanker::Create(
    const std::vector<std::string>& documents, double mu) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words,
                           WordFeatures("unigram model", documents));
  return std::unique_ptr<UnigramRanker>(
      new UnigramRanker(std::move(words), documents, mu));
}

UnigramRanker::UnigramRanker(Featurizer words,
                             const std::vector<std::string>& documents,
                             double mu)
    : ListRanker(documents.size()), words_(std::move(words)) {
  BagBatch counts;
  for (const std::string& document : documents) {
    words_.AppendBag(document, counts);
  }
  lists_ = DirichletLists(words_.num_features(), std::move(counts),
                          LengthsInWords(documents), mu);
}

void UnigramRanker::ScoreQuery(std::string_view query, float* scores) const {
  BagBatch bag;
  // Query words that no document has are not features, so the bag omits them.
  words_.AppendBag(query, bag);
  lists_.AddScores(bag.indices, bag.counts, /*weight=*/1, scores);
}

absl::StatusOr<std::unique_ptr<DependenceRanker>> DependenceRanker::Create(
    const std::vector<std::string>& documents, const DependenceOptions& options,
    double mu) {
  SEMRANK_RETURN_IF_ERROR(CheckWeights(options));
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words, WordFeatures("MRF", documents));
  return std::unique_ptr<DependenceRanker>(
      new DependenceRanker(std::move(words), documents, options, mu));
}

DependenceRanker::DependenceRanker(Featurizer words,
                                   const std::vector<std::string>& documents,
                                   const DependenceOptions& options, double mu)
    : ListRanker(documents.size()),
      words_(std::move(words)),
      options_(options) {
  BagBatch counts;
  PairBags ordered(ordered_pairs_), unordered(unordered_pairs_);
  std::vector<std::uint32_t> text;
  for (const std::string& document : documents) {
    words_.AppendBag(document, counts);
    WordsOf(document, text);
    for (std::size_t i = 0; i < text.size(); ++i) {
      // Looks only forwards from each word, so that two positions are counted
      // once.
      const std::size_t end = std::min(text.size(), i + kWindow);
      for (std::size_t j = i + 1; j < end; ++j) {
        if (j == i + 1) ordered.AddPair(OrderedPair(text[i], text[j]));
        unordered.AddPair(UnorderedPair(text[i], text[j]));
      }
    }
    ordered.EndDocument();
    unordered.EndDocument();
  }
  const std::vector<float> lengths = LengthsInWords(documents);
  word_lists_ =
      DirichletLists(words_.num_features(), std::move(counts), lengths, mu);
  ordered_lists_ =
      DirichletLists(ordered_pairs_.size(), ordered.Take(), lengths, mu);
  unordered_lists_ =
      DirichletLists(unordered_pairs_.size(), unordered.Take(), lengths, mu);
}

void DependenceRanker::WordsOf(std::string_view text,
                               std::vector<std::uint32_t>& words) const {
  words.clear();
  ForEachWord(text, [&](std::string_view word) {
    words.push_back(words_.words()->Find(word).value_or(kUnknownWord));
  });
}

void DependenceRanker::ScoreQuery(std::string_view query, float* scores) const {
  std::vector<std::uint32_t> text, words, ordered, unordered;
  WordsOf(query, text);
  // Neither map has a pair with an unknown word.
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != kUnknownWord) words.push_back(text[i]);
    if (i + 1 == text.size()) break;
    const auto same = ordered_pairs_.find(OrderedPair(text[i], text[i + 1]));
    if (same != ordered_pairs_.end()) ordered.push_back(same->second);
    const auto near =
        unordered_pairs_.find(UnorderedPair(text[i], text[i + 1]));
    if (near != unordered_pairs_.end()) unordered.push_back(near->second);
  }
  // A pair that occurs twice in the query is in the list twice.
  const std::vector<float> once(text.size(), 1.0f);
  const auto add = [&](const DirichletLists& lists,
                       const std::vector<std::uint32_t>& features,
                       double weight) {
    if (weight <= 0) return;
    lists.AddScores(features, std::span(once).first(features.size()),
                    static_cast<float>(weight), scores);
  };
  // The three sums of the score; each has its own features, with the same mu
  // and the lengths in words.
  add(word_lists_, words, 1 - options_.ordered - options_.unordered);
  add(ordered_lists_, ordered, options_.ordered);
  add(unordered_lists_, unordered, options_.unordered);
}

}  // namespace semrank
