// Inverted lists: for each feature the documents that have it, each with a
// weight. A ranker that reads them visits only the documents which share a
// feature with the query.
//
//   Memory   8 bytes an entry.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_INVERTED_LISTS_H_
#define SEMRANK_MODEL_EVAL_RANKERS_INVERTED_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/text/bag_batch.h"

namespace semrank {

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

// The number of `documents` that have each feature.
std::vector<std::uint32_t> DocumentFrequencies(std::size_t num_features,
                                               const BagBatch& documents);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_INVERTED_LISTS_H_
