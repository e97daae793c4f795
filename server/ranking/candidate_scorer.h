// Scores the candidates of a request during one slice of work, one kind after
// the other: titles through the cache and the tower, documents of the catalog,
// vectors as the client sends them. Another kind is one more method here.
//
//   Promise  a pair's score has the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Errors   InvalidArgument for what fails the call; DeadlineExceeded and
//            Cancelled when no client waits. A candidate that cannot be scored
//            is one of the result's problems.
#ifndef SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_
#define SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/caller.h"
#include "server/ranking/rank_request.h"
#include "server/vectors/text_batch.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

class CandidateScorer {
 public:
  struct Options {
    const Limits& limits;
    const TextEmbedder& embedder;
    const DocumentCatalog* catalog = nullptr;  // null: no document has an id
    const ServedModel& served;
    const Caller& caller;
  };

  // Appends scored candidates to `scored`; adds problems, cache use and times
  // to `result`. Both, and what `options` refers to, must outlive the scorer.
  CandidateScorer(const Options& options, ScoredCandidates& scored,
                  RankResult& result);

  // Clears `scored` and embeds the query. Must be called first.
  absl::Status BeginWith(const RankInput& input);

  // titles[0] is candidate number `first`. Titles are the first candidates of a
  // request, so this is also its index in the request's list.
  absl::Status ScoreTitles(std::span<const std::string_view> titles,
                           std::uint32_t first);

  // Scores the documents [first, last) of the catalog, counted from 0 through
  // ids and document_ids; their candidate numbers follow those of the titles.
  // Uses the catalog's vectors if they are of this model, else the titles,
  // through the cache.
  absl::Status ScoreDocuments(const RankInput& input, std::size_t first,
                              std::size_t last);

  // `vectors` has rows of embedding_dim float32; the first one is candidate
  // number `first`.
  void ScoreVectors(std::string_view vectors, std::uint32_t first);

 private:
  // Counts what the model knows of the query, and prepares to find the
  // candidates that it names if the request asks for that.
  absl::Status ReadWords(const RankInput& input);
  // Adds titles that are not too long to the candidates and the scratch's
  // texts.
  void SelectTitles(std::span<const std::string_view> titles,
                    std::uint32_t first);
  // What the embedder computes for the scratch's texts: the scores of the dense
  // parts, and the cosines of the lexical parts into the scratch.
  VectorRows OutputsTo(std::span<float> scores);
  // Normalises the scratch's texts.
  absl::Status NormalizeTexts(TextEmbedder::OnInvalidText on_invalid);
  // Appends how the query names each of the scratch's texts.
  void MatchTitles();
  // Finds the slot of each document, and adds those found to the candidates.
  absl::Status FindDocuments(const RankInput& input, std::size_t first,
                             std::size_t last);
  // Reports that document i, which is candidate number `candidate`, was not
  // found.
  absl::Status AddNotFound(const RankInput& input, std::size_t i,
                           std::uint32_t candidate);
  // Computes the cosines of the lexical parts of documents from the catalog's
  // rows into the scratch. `first_document` is the candidate number of document
  // 0.
  void FindCatalogCosines(std::span<const std::uint32_t> candidates,
                          std::size_t first_document);
  // Scores the candidates from `first_row` on, which are documents.
  absl::Status ScoreFound(const RankInput& input, std::size_t first_row);

  const Options options_;
  const EmbedContext context_;
  SliceScratch& scratch_;
  ScoredCandidates& scored_;
  RankResult& result_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_
