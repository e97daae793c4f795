// A ranking as people and programs read it.
#ifndef SEMRANK_CLIENT_OUTPUT_RANKING_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_RANKING_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/input/text_list.h"
#include "client/output/table.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// Columns rank, score, id and title; the score if asked for, the id if any
// candidate has one. The score has four decimals for people (`rounded`), all
// of its digits for programs. `response` ranks `candidates` and is checked
// (response_check.h), here and below.
struct RankingTableOptions {
  bool with_scores = true;
  bool rounded = true;
};
Table RankingTable(const TextList& candidates, const v1::RankResponse& response,
                   const RankingTableOptions& options);

// {"query", "model": {"name", "version"}, "score_kind", "results": [{"rank",
// "score", "index", "id", "title"}], "problems": [{"index", "id", "code",
// "reason", "message"}], "cache_hits", "cache_misses", "timings_ms"}; "id"
// only where there is one, "reason" only if the server gave one.
nlohmann::ordered_json RankingJson(std::string_view query,
                                   const TextList& candidates,
                                   const v1::RankResponse& response);

// A line for each of the first candidates that could not be scored, and how
// many more there are. Empty when all could.
std::string DescribeProblems(const TextList& candidates,
                             const v1::RankResponse& response);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_RANKING_OUTPUT_H_
