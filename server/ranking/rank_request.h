// The input, the result and the state of one Rank request: plain data, used by
// one thread at a time.
#ifndef SEMRANK_SERVER_RANKING_RANK_REQUEST_H_
#define SEMRANK_SERVER_RANKING_RANK_REQUEST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/cosine_scorer.h"
#include "model/text/known_features.h"
#include "server/base/phase_times.h"
#include "server/base/text_checks.h"
#include "server/catalog/store/catalog_names.h"
#include "server/catalog/store/document_catalog.h"
#include "server/catalog/store/document_tags.h"
#include "server/vectors/part_scorer.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

// Candidates are numbered from 0: titles, then `ids`, then `document_ids` (both
// of the catalog), then rows of `vectors`, which only models take whose score
// needs no words of the titles.
struct RankInput {
  std::string_view query = {};
  std::span<const std::string_view> titles = {};
  std::span<const std::uint64_t> ids = {};
  std::span<const std::string_view> document_ids = {};
  // Rows of embedding_dim float32, little-endian.
  std::string_view vectors = {};
  std::uint32_t top_k = 0;  // 0 = all
  std::optional<float> min_score = {};
  TagFilter filter = {};  // for ids and document_ids
  PartsWanted wanted = {};
  // Candidates that the query names come first (name_match.h).
  bool name_match = false;

  // The parts that are scored. Vectors are a dense part alone, so a request
  // with vectors that names no part is scored by that part, for all of its
  // candidates.
  PartsWanted scored_parts() const {
    const bool dense = wanted.parts == ModelParts::kBoth && !vectors.empty();
    return {dense ? ModelParts::kSemantic : wanted.parts, wanted.with_parts};
  }

  // The number of candidates before the vectors.
  std::size_t num_named() const {
    return titles.size() + ids.size() + document_ids.size();
  }
};

// The documents of the catalog among the candidates of a request.
struct RankedCatalog {
  CatalogSnapshot snapshot;
  // One for each of ids and then document_ids; kNoSlot = not found.
  std::vector<std::uint32_t> slots;
  static constexpr std::uint32_t kNoSlot = CatalogSnapshot::kNoSlot;
};

struct RankResult {
  std::vector<RankedDocument> ranking;  // index = candidate number
  PartScores parts;                     // parallel to `ranking`
  std::vector<NameMatch> names;         // parallel too, if name_match
  std::vector<ItemProblem> problems;
  KnownFeatures query_known;
  CacheUse cache;
  PhaseTimes times;
  RankedCatalog catalog;
};

// The query, and the candidates scored so far: scores[i] is the score of
// candidate number candidates[i].
struct ScoredCandidates {
  std::optional<TagMatcher> filter;  // null = the request has none
  QueryVector query;
  PartScorer part_scorer;  // prepared with the query
  std::vector<std::uint32_t> candidates;
  std::vector<float> scores;
  PartScores parts;
  std::string name_text;          // the query as a name, if name_match
  std::optional<NameQuery> name;  // if name_match
  std::vector<NameMatch> names;   // parallel to `scores`, if name_match
};

// The state of a request between two slices, initially empty.
struct RankState {
  bool begun = false;
  std::size_t next_named = 0;
  ScoredCandidates scored;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_RANK_REQUEST_H_
