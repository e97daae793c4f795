// One slice's scoring of a request's candidates, one kind after the other:
// texts through the cache and the tower, documents of the catalog, vectors as
// the caller gives them. A further kind is one more method here.
//
//   Promise  a pair's score is the same bits alone, in any batch, in any
//            thread, cached or not, on one machine and build.
//   Errors   InvalidArgument for what fails the call, DeadlineExceeded and
//            Cancelled when no client waits; a candidate that cannot be scored
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

// Scales a vector to length 1 and rounds it as the model rounds those of texts;
// zero stays zero, and one whose length is 1 up to rounding is not scaled, so
// that a vector from EmbedTexts scores what its text scores, to the last bit.
// False, and the vector left alone, when it holds NaN or infinity.
bool ScaleToUnitLength(std::span<float> vector,
                       VectorPrecision precision = VectorPrecision::kFloat32);

// For scores that are dot products of vectors of any length: false when the
// vector holds NaN, or a number beyond +-1e15, with which a score could leave
// single precision.
bool HasUsableValues(std::span<const float> vector);

class CandidateScorer {
 public:
  struct Options {
    const Limits& limits;
    const TextEmbedder& embedder;
    const DocumentCatalog* catalog = nullptr;  // null: no document has an id
    const ServedModel& served;
    const Caller& caller;
  };

  // Scored candidates are appended to `scored`; problems, cache use and times
  // are added to `result`. All must outlive the scorer.
  CandidateScorer(const Options& options, ScoredCandidates& scored,
                  RankResult& result);

  // Empties `scored` and puts the query in; before everything else.
  absl::Status BeginWith(const RankInput& input);

  // titles[0] is candidate number `first`; they are the request's first
  // candidates, so that the number is also the place in its list.
  absl::Status ScoreTitles(std::span<const std::string_view> titles,
                           std::uint32_t first);

  // Documents of the catalog, whose numbers follow the titles': `first`
  // counts ids and document_ids through from 0. With the catalog's vectors if
  // they are of this model, else by title, through the cache.
  absl::Status ScoreDocuments(const RankInput& input, std::size_t first,
                              std::size_t last);

  // Rows of embedding_dim float32, a whole number of them; the first is
  // candidate number `first`.
  void ScoreVectors(std::string_view vectors, std::uint32_t first);

 private:
  // Lifts what the query, which is UTF-8, names.
  absl::Status PrepareName(std::string_view query);
  // The titles that are not too long become candidates and the scratch's texts.
  void SelectTitles(std::span<const std::string_view> titles,
                    std::uint32_t first);
  // What the embedder is to compute of the scratch's texts: the dense part's
  // scores, and cosines of the lexical part in the scratch.
  VectorRows OutputsTo(std::span<float> scores);
  // Normalises the scratch's texts, where their words are scored or matched.
  absl::Status NormalizeTexts(TextEmbedder::OnInvalidText on_invalid);
  // Appends how the query names each of them. They are titles without ids.
  void MatchTitles();
  // The slot of each document; those that are found become candidates.
  absl::Status FindDocuments(const RankInput& input, std::size_t first,
                             std::size_t last);
  // Document number i, candidate number `candidate`, has no slot.
  absl::Status AddNotFound(const RankInput& input, std::size_t i,
                           std::uint32_t candidate);
  // Of documents that the catalog has rows of: the cosines of the lexical
  // parts, in the scratch. Candidate number `first_document` is the first
  // document.
  void FindCatalogCosines(std::span<const std::uint32_t> candidates,
                          std::size_t first_document);
  // Scores of the candidates from `first_row` on, which are documents.
  absl::Status ScoreFound(const RankInput& input, std::size_t first_row);

  const Options options_;
  const EmbedContext context_;
  SliceScratch& scratch_;
  ScoredCandidates& scored_;
  RankResult& result_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_CANDIDATE_SCORER_H_
