#include "model/eval/rankers/tfidf_ranker.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "model/base/status_macros.h"
#include "model/eval/rankers/list_ranker.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/vocabulary_builder.h"

namespace semrank {
namespace {

class QueryExpansionRanker : public TfidfRanker {
 public:
  QueryExpansionRanker(Featurizer words,
                       const std::vector<std::string>& documents,
                       const QueryExpansionOptions& options)
      : TfidfRanker("qe", std::move(words), documents, Vectors::kKept),
        options_(options),
        text_rank_(documents.size()) {
    // The rank of each document's text, so that ties are broken by texts and
    // not by the order of the file.
    std::vector<std::uint32_t> order(documents.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(
        order, {},
        [&](std::uint32_t d) -> const std::string& { return documents[d]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
      text_rank_[order[i]] = static_cast<std::uint32_t>(i);
    }
  }

 private:
  void ScoreQuery(std::string_view query, float* scores) const override {
    TfidfRanker::ScoreQuery(query, scores);
    if (options_.weight == 0) return;
    // The cosine is linear in the query, so the scores of the documents' words
    // are added to the first scores.
    const auto factor =
        static_cast<float>(options_.weight / options_.num_documents);
    std::vector<std::pair<std::uint32_t, float>> expansion;
    for (const std::uint32_t d : Feedback({scores, num_documents()})) {
      const BagView vector = VectorOf(d);
      for (std::size_t i = 0; i < vector.indices.size(); ++i) {
        expansion.emplace_back(vector.indices[i], factor * vector.counts[i]);
      }
    }
    // Each word's list is read once. Equal words are added in one fixed order.
    std::ranges::stable_sort(expansion, {},
                             &std::pair<std::uint32_t, float>::first);
    for (std::size_t i = 0; i < expansion.size();) {
      const std::uint32_t feature = expansion[i].first;
      float weight = 0;
      for (; i < expansion.size() && expansion[i].first == feature; ++i) {
        weight += expansion[i].second;
      }
      AddScores({&feature, 1}, {&weight, 1}, scores);
    }
  }

  // The E best of `scores` that are above 0.
  std::vector<std::uint32_t> Feedback(std::span<const float> scores) const {
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      if (scores[a] != scores[b]) return scores[a] > scores[b];
      return text_rank_[a] < text_rank_[b];
    };
    // A heap of the E best, with the worst of them on top. Most blocks have no
    // document that belongs there and are skipped by their highest score.
    const auto limit = static_cast<std::size_t>(options_.num_documents);
    std::vector<std::uint32_t> best;
    const auto offer = [&](std::uint32_t d) {
      if (scores[d] <= 0) return;
      if (best.size() == limit) {
        if (!before(d, best.front())) return;
        std::pop_heap(best.begin(), best.end(), before);
        best.pop_back();
      }
      best.push_back(d);
      std::push_heap(best.begin(), best.end(), before);
    };
    constexpr std::size_t kBlock = 64;
    for (std::size_t begin = 0; begin < scores.size(); begin += kBlock) {
      const auto block =
          scores.subspan(begin, std::min(kBlock, scores.size() - begin));
      const float lowest = best.size() == limit
                               ? scores[best.front()]
                               : std::numeric_limits<float>::denorm_min();
      // Not <=: if scores are equal, offer compares the texts.
      const Eigen::Map<const Eigen::ArrayXf> values(
          block.data(), static_cast<Eigen::Index>(block.size()));
      if (values.maxCoeff() < lowest) continue;
      for (std::size_t i = 0; i < block.size(); ++i) {
        offer(static_cast<std::uint32_t>(begin + i));
      }
    }
    std::ranges::sort(best, before);
    return best;
  }

  QueryExpansionOptions options_;
  std::vector<std::uint32_t> text_rank_;  // of each document, in byte order
};

}  // namespace

absl::StatusOr<std::unique_ptr<TfidfRanker>> TfidfRanker::OfLetters(
    const std::vector<std::string>& documents, int ngram_length) {
  VocabularyBuilder builder;
  for (const std::string& document : documents) builder.AddText(document);
  if (builder.num_distinct_words() == 0) {
    return absl::InvalidArgumentError("TF-IDF: no document has a word");
  }
  // All n-grams of the documents, as a letter model has those of its titles.
  SEMRANK_ASSIGN_OR_RETURN(
      NgramVocabulary ngrams,
      NgramVocabulary::FromList(ngram_length,
                                builder.LetterNgrams(ngram_length, 0, 1)));
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           Featurizer::Create(std::move(ngrams), std::nullopt));
  return std::unique_ptr<TfidfRanker>(
      new TfidfRanker("letter_tfidf", std::move(featurizer), documents));
}

absl::StatusOr<std::unique_ptr<TfidfRanker>> TfidfRanker::OfWords(
    const std::vector<std::string>& documents) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           WordFeatures("TF-IDF", documents));
  return std::unique_ptr<TfidfRanker>(
      new TfidfRanker("word_tfidf", std::move(featurizer), documents));
}

TfidfRanker::TfidfRanker(std::string name, Featurizer featurizer,
                         const std::vector<std::string>& documents,
                         Vectors vectors)
    : LexicalRanker(std::move(featurizer), documents), name_(std::move(name)) {
  BagBatch weighted = BuildIndex([this](Bag bag) { Weigh(bag); });
  if (vectors == Vectors::kKept) vectors_ = std::move(weighted);
}

void TfidfRanker::Weigh(Bag bag) const {
  const auto total = static_cast<double>(num_documents());
  double squares = 0;
  for (std::size_t i = 0; i < bag.features.size(); ++i) {
    const auto n = static_cast<double>(DocumentFrequency(bag.features[i]));
    // At least 1, so a feature of all documents still counts. SSI's models use
    // the same idf (ssi_statistics.h).
    const double idf = std::log((total + 1) / (n + 1)) + 1;
    bag.values[i] *= static_cast<float>(idf);
    squares += static_cast<double>(bag.values[i]) * bag.values[i];
  }
  if (squares == 0) return;
  // With documents and queries of norm 1 the dot product is the cosine.
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (float& value : bag.values) value *= scale;
}

absl::StatusOr<std::unique_ptr<Ranker>> CreateQueryExpansionRanker(
    const std::vector<std::string>& documents,
    const QueryExpansionOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words,
                           WordFeatures("query expansion", documents));
  return std::make_unique<QueryExpansionRanker>(std::move(words), documents,
                                                options);
}

}  // namespace semrank
