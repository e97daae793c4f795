#include "model/eval/rankers/combined_rankers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/text/name_match.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The name of a normalised text: as NormalizeName, but that its words end where
// NormalizeText ends them.
std::string NameOf(std::string_view normalized) {
  const std::string_view words = MainWords(normalized);
  std::string name;
  NormalizeName(words, name).IgnoreError();
  name.resize(MainWords(name).size());
  return name.append(normalized.substr(words.size()));
}

class HybridRanker : public Ranker {
 public:
  HybridRanker(std::unique_ptr<const Ranker> first,
               std::unique_ptr<const Ranker> second, double weight)
      : first_(std::move(first)),
        second_(std::move(second)),
        weight_(static_cast<float>(weight)) {
    assert(first_->num_documents() == second_->num_documents());
  }

  std::string name() const override {
    return first_->name() + "+" + second_->name();
  }
  std::size_t num_documents() const override { return first_->num_documents(); }

  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override {
    const std::size_t num = num_documents();
    std::vector<float> second(queries.size() * num);
    first_->ScoreAll(queries, scores);
    second_->ScoreAll(queries, second.data());
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto row = std::span(second).subspan(q * num, num);
      // The best document of the second ranker gets `weight`, as its own scores
      // have no fixed range.
      const float factor = FactorOf(row);
      for (std::size_t d = 0; d < num; ++d) {
        scores[q * num + d] += factor * row[d];
      }
    }
  }

  void ScoreSome(std::string_view query,
                 std::span<const std::uint32_t> documents,
                 std::span<float> scores) const override {
    std::vector<float> second(num_documents());
    first_->ScoreSome(query, documents, scores);
    // Scores all documents, as a document's score must not depend on the other
    // candidates.
    second_->ScoreAll(std::span(&query, 1), second.data());
    const float factor = FactorOf(second);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      scores[i] += factor * second[documents[i]];
    }
  }

 private:
  // The factor on the second ranker's scores, given all of them.
  float FactorOf(std::span<const float> second_scores) const {
    float best = 0;
    for (const float score : second_scores) best = std::max(best, score);
    // Without a match there is no scale and nothing to add.
    return best > 0 ? weight_ / best : 0;
  }

  const std::unique_ptr<const Ranker> first_;
  const std::unique_ptr<const Ranker> second_;
  const float weight_;
};

struct BoostedDocument {
  NameMatch match;
  float score;
  std::uint32_t document;
};

class NameMatchRanker : public Ranker {
 public:
  NameMatchRanker(std::unique_ptr<const Ranker> ranker,
                  const Collection& collection)
      : ranker_(std::move(ranker)), ids_(collection.document_ids.size()) {
    for (std::size_t d = 0; d < ids_.size(); ++d) {
      // An id of invalid UTF-8 is not a name.
      NormalizeName(collection.document_ids[d], ids_[d]).IgnoreError();
      titles_.push_back(NameOf(collection.documents[d]));
    }
  }

  std::string name() const override { return ranker_->name() + "+name_match"; }
  std::size_t num_documents() const override {
    return ranker_->num_documents();
  }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override {
    ranker_->ScoreAll(queries, scores);
    for (const std::string_view query : queries) {
      Boost(query, std::span(scores, num_documents()));
      scores += num_documents();
    }
  }

 private:
  void Boost(std::string_view query, std::span<float> scores) const {
    std::vector<BoostedDocument> boosted;
    const std::string name = NameOf(query);
    for (std::uint32_t d = 0; d < scores.size(); ++d) {
      const NameMatch match = MatchName(name, ids_[d], titles_[d]);
      if (match != NameMatch::kNone) boosted.push_back({match, scores[d], d});
    }
    if (boosted.empty()) return;
    const auto key = [](const BoostedDocument& document) {
      return std::tuple(document.match, document.score);
    };
    std::ranges::sort(boosted, {}, key);
    // Above 1, which no cosine exceeds, and above any score of the ranker.
    float score = 1 + std::max(0.0f, *std::ranges::max_element(scores));
    for (std::size_t i = 0; i < boosted.size(); ++i) {
      // The worst document comes first, and each next one gets a score that
      // is higher by the smallest step of a float. Documents that were tied
      // stay tied.
      if (i == 0 || key(boosted[i - 1]) < key(boosted[i])) {
        score = std::nextafter(score, std::numeric_limits<float>::infinity());
      }
      scores[boosted[i].document] = score;
    }
  }

  const std::unique_ptr<const Ranker> ranker_;
  std::vector<std::string> ids_;  // as names
  std::vector<std::string> titles_;
};

}  // namespace

std::unique_ptr<Ranker> CreateHybridRanker(std::unique_ptr<const Ranker> first,
                                           std::unique_ptr<const Ranker> second,
                                           double weight) {
  return std::make_unique<HybridRanker>(std::move(first), std::move(second),
                                        weight);
}

std::unique_ptr<Ranker> CreateNameMatchRanker(
    std::unique_ptr<const Ranker> ranker, const Collection& collection) {
  return std::make_unique<NameMatchRanker>(std::move(ranker), collection);
}

}  // namespace semrank
