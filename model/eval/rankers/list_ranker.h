// What rankers over inverted lists share: the lists, the features of words, and
// the base classes.
//
//   Memory   8 bytes for each distinct feature of each document; twice that
//            during the construction of a LexicalRanker.
//   Threads  as Ranker. The lists are const after construction.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_LIST_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_LIST_RANKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/eval/rankers/ranker.h"
#include "model/text/bag_batch.h"
#include "model/text/featurizer.h"

namespace semrank {

// For each feature the documents that have it, each with a weight. A ranker
// that reads them visits only the documents which share a feature with the
// query.
class InvertedLists {
 public:
  struct Posting {
    std::uint32_t document = 0;
    float weight = 0;
  };

  InvertedLists() = default;
  // Transposes `documents`: bag d has the features of document d, all below
  // num_features, with their weights in `counts`.
  InvertedLists(std::size_t num_features, const BagBatch& documents);

  // In ascending order of document.
  std::span<const Posting> Of(std::uint32_t feature) const {
    return std::span(postings_).subspan(
        offsets_[feature], offsets_[feature + 1] - offsets_[feature]);
  }
  // Adds factor * weight to scores[document] of each posting.
  void AddScaled(std::uint32_t feature, float factor, float* scores) const;

 private:
  std::vector<std::size_t> offsets_;
  std::vector<Posting> postings_;
};

// A featurizer of every word of the normalised `documents`. InvalidArgument,
// which begins with `ranker`, if there is none.
absl::StatusOr<Featurizer> WordFeatures(
    std::string_view ranker, const std::vector<std::string>& documents);

// The number of words of a normalised text, and of each document.
float LengthInWords(std::string_view text);
std::vector<float> LengthsInWords(const std::vector<std::string>& documents);

// A ranker over inverted lists. A query adds to scores that begin at 0.
class ListRanker : public Ranker {
 public:
  std::size_t num_documents() const final { return num_documents_; }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const final;

 protected:
  explicit ListRanker(std::size_t num_documents)
      : num_documents_(num_documents) {}

 private:
  // Adds to the scores of all documents.
  virtual void ScoreQuery(std::string_view query, float* scores) const = 0;

  std::size_t num_documents_;
};

// Base of BM25 and TF-IDF. The score of a document is
//
//   sum over features f of query weight(f) * document weight(f)
//
// Document weights are computed once. Features of no document are dropped.
class LexicalRanker : public ListRanker {
 protected:
  // A bag whose counts are replaced by weights.
  struct Bag {
    std::span<const std::uint32_t> features;
    std::span<float> values;
  };

  // Counts in how many documents each feature occurs.
  LexicalRanker(Featurizer featurizer,
                const std::vector<std::string>& documents);

  // Fills the lists and returns the weighted documents. The constructor of a
  // subclass calls this once.
  BagBatch BuildIndex(const std::function<void(Bag)>& weigh_document);

  virtual void WeighQuery(Bag bag) const = 0;

  std::int64_t DocumentFrequency(std::uint32_t feature) const {
    return document_frequencies_[feature];
  }

  void ScoreQuery(std::string_view query, float* scores) const override;
  // Adds the scores of a weighted query to those of all documents.
  void AddScores(std::span<const std::uint32_t> features,
                 std::span<const float> weights, float* scores) const;

 private:
  Featurizer featurizer_;
  BagBatch documents_;  // their counts, until BuildIndex
  std::vector<std::uint32_t> document_frequencies_;
  InvertedLists lists_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_LIST_RANKER_H_
