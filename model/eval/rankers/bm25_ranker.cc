#include "model/eval/rankers/bm25_ranker.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "model/base/status_macros.h"
#include "model/eval/rankers/list_ranker.h"

namespace semrank {
namespace {

class Bm25Ranker : public LexicalRanker {
 public:
  Bm25Ranker(Featurizer featurizer, const std::vector<std::string>& documents,
             const Bm25Options& options)
      : LexicalRanker(std::move(featurizer), documents) {
    const std::vector<float> lengths = LengthsInWords(documents);
    const double mean_length =
        std::accumulate(lengths.begin(), lengths.end(), 0.0) /
        static_cast<double>(lengths.size());
    // The tf factor depends on the document alone and is stored in the index;
    // the idf is applied to the query. So scoring costs one multiplication
    // per posting.
    BuildIndex([&](Bag bag) {
      // Every word of a document is known, so the counts add up to its length.
      const double length =
          std::accumulate(bag.values.begin(), bag.values.end(), 0.0);
      // The denominator of BM25 without tf: how fast repeats of a word stop
      // counting, by k1, and later in documents longer than the mean, by b.
      const double slowness =
          options.k1 * (1 - options.b + options.b * length / mean_length);
      for (float& value : bag.values) {
        value = static_cast<float>(value / (value + slowness));
      }
    });
  }
  std::string name() const override { return "bm25"; }

 private:
  void WeighQuery(Bag bag) const override {
    const auto total = static_cast<double>(num_documents());
    for (std::size_t i = 0; i < bag.features.size(); ++i) {
      const auto n = static_cast<double>(DocumentFrequency(bag.features[i]));
      // The values are the counts of the query's words: a repeated word counts
      // as often.
      bag.values[i] *=
          static_cast<float>(std::log1p((total - n + 0.5) / (n + 0.5)));
    }
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Ranker>> CreateBm25Ranker(
    const std::vector<std::string>& documents, const Bm25Options& options) {
  SEMRANK_ASSIGN_OR_RETURN(Featurizer words, WordFeatures("BM25", documents));
  return std::make_unique<Bm25Ranker>(std::move(words), documents, options);
}

}  // namespace semrank
