// Scores the documents of one list for a query: a model or a baseline.
//
//   Texts    normalised; documents are identified by their index in the list
//            that the ranker was made for.
//   Scores   higher is better, never NaN. 0 if query and document have no known
//            feature in common; but language models then give a long document
//            less than a short one. Scores of different queries cannot be
//            compared.
//   Promise  the score of a document does not depend on the other queries of a
//            call, on the thread, or on its position in the list.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_EVAL_RANKERS_RANKER_H_
#define SEMRANK_MODEL_EVAL_RANKERS_RANKER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace semrank {

class Ranker {
 public:
  virtual ~Ranker() = default;

  // The name in results and run files: "bm25", "model+bm25".
  virtual std::string name() const = 0;
  virtual std::size_t num_documents() const = 0;

  // Scores of all documents, row-major [queries.size(), num_documents()].
  virtual void ScoreAll(std::span<const std::string_view> queries,
                        float* scores) const = 0;

  // Sets scores[i] to the score of documents[i]. Sizes are equal, indices below
  // num_documents(). The default implementation calls ScoreAll.
  virtual void ScoreSome(std::string_view query,
                         std::span<const std::uint32_t> documents,
                         std::span<float> scores) const;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_RANKER_H_
