// Prints rankings and search results as tables and JSON. A response that ranks
// `candidates` must have passed CheckRankResponse.
#ifndef SEMRANK_CLIENT_OUTPUT_RANKING_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_RANKING_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "client/output/table.h"
#include "model/data/text_reader.h"
#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

struct RankingTableOptions {
  bool with_scores = true;
  // SearchTable: the hits have the cosines of the parts.
  bool with_parts = false;
  // Four decimals, for people; else all digits, for programs.
  bool rounded = true;
};

// Columns rank, score, semantic and lexical (if the response has them), id (if
// any candidate has one) and title.
Table RankingTable(const TextList& candidates, const v1::RankResponse& response,
                   const RankingTableOptions& options);
// The same columns; ids are those of the documents.
Table SearchTable(const v1::SearchDocumentsResponse& response,
                  const RankingTableOptions& options);

// {"query", "model": {"name", "version"}, "score_kind", "results": [{"rank",
// "score", "semantic_score", "lexical_score", "index", "id", "title",
// "name_match"}], "problems": [{"index", "id", "code", "reason", "message"}],
// "skipped_lines", "cache_hits", "cache_misses", "timings_ms",
// "query_known_features": {"num_words", "num_known_words", "num_ngrams",
// "num_known_ngrams"}}; "id", "reason", the scores of the parts, "name_match"
// and "query_known_features" only if there is one.
nlohmann::ordered_json RankingJson(std::string_view query,
                                   const TextList& candidates,
                                   const v1::RankResponse& response);
// {"query", "model": {"name", "version"}, "score_kind",
// "num_documents_searched", "results": [{"rank", "score", "id" (a number) or
// "document_id", "title", "name_match", "payload"}], "timings_ms",
// "query_known_features" as in RankingJson}; "name_match" only of documents
// that the query names; "payload", in base64, only if there is one.
nlohmann::ordered_json SearchJson(std::string_view query,
                                  const v1::SearchDocumentsResponse& response);

// Says on standard error that the query is unknown, or that all scores are 0:
// then the order is that of the candidates. `parts` were scored. For a search,
// returns whether the hits have nothing to do with the query: the model knows
// no word of it, all scores are 0, and the query names none of them.
void PrintIfUnknown(const v1::RankResponse& response, v1::Parts parts);
bool PrintIfUnknown(const v1::SearchDocumentsResponse& response,
                    v1::Parts parts);

// Reports the candidates that could not be scored on standard error.
void PrintProblems(const TextList& candidates,
                   const v1::RankResponse& response);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_RANKING_OUTPUT_H_
