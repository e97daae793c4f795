// One turn's scoring of a request's candidates, one kind after the other: texts
// through the cache and the tower, documents of the catalog, vectors as the
// caller gives them. A further kind is one more method here.
//
//   Promise  a pair's score is the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Errors   InvalidArgument for what fails the call, DeadlineExceeded and
//            Cancelled when nobody waits; a candidate that cannot be scored is
//            one of the result's problems.
#ifndef SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_
#define SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/caller.h"
#include "server/ranking/rank_request.h"
#include "server/vectors/text_embedder.h"
#include "server/vectors/thread_scratch.h"

namespace semrank {

class CandidateScorer {
 public:
  // What is scored goes to the end of `scored`; problems, cache use and times
  // are added to `result`. All outlive the scorer.
  CandidateScorer(const Limits& limits, const TextEmbedder& embedder,
                  const ServedModel& served, const Caller& caller,
                  ScoredCandidates& scored, RankResult& result);

  // Empties `scored` and puts the query in; before everything else.
  absl::Status BeginWith(std::string_view query);

  // titles[0] is candidate number `first`; they are the request's first
  // candidates, so that the number is also the place in its list.
  absl::Status ScoreTitles(std::span<const std::string_view> titles,
                           std::uint32_t first);

  // Documents of the catalog, whose numbers go on after the titles': `first`
  // counts ids and document_ids through from 0. With the catalog's vectors if
  // they are of this model, else by title, through the cache.
  absl::Status ScoreDocuments(const DocumentCatalog* catalog,
                              const RankInput& input, std::size_t first,
                              std::size_t last);

  // Rows of embedding_dim float32, a whole number of them; the first is
  // candidate number `first`.
  void ScoreVectors(std::string_view vectors, std::uint32_t first);

 private:
  // Normalises titles into the scratch's texts; those without a problem become
  // candidates.
  absl::Status AddTitles(std::span<const std::string_view> titles,
                         std::uint32_t first);
  // The slot of each document; those that are found become candidates.
  absl::Status FindDocuments(const DocumentCatalog* catalog,
                             const RankInput& input, std::size_t first,
                             std::size_t last);
  // Scores of the candidates from `first_row` on, which are documents.
  absl::Status ScoreFound(const RankInput& input, std::size_t first_row);

  const Limits& limits_;
  const TextEmbedder& embedder_;
  const ServedModel& served_;
  const Caller& caller_;
  TurnScratch& scratch_;
  ScoredCandidates& scored_;
  RankResult& result_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_
