// An explanation as people and programs read it.
#ifndef SEMRANK_CLIENT_OUTPUT_EXPLAIN_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_EXPLAIN_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/output/table.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

// "score 0.7222 (cosine), model shop/3\n": the line above the table.
std::string DescribeScore(const v1::ExplainResponse& response);

// A row for each word, the query's first: text ("query" or "title"), word,
// contribution, score without it, known features of all. For people (`rounded`)
// numbers have four decimals and a bar shows the contribution: "++++" speaks
// for the title, "----" against it, the longest being the largest.
Table ContributionTable(const v1::ExplainResponse& response, bool rounded);

// A row for each unit of the pooling layer: text, unit, activation, word,
// window. Empty unless the model has such a layer.
Table PoolingTable(const v1::ExplainResponse& response);

// {"query", "title", "score", "score_kind", "model", "query_words": [{"word",
// "contribution", "score_without", "num_features", "num_known_features"}],
// "title_words", "query_pooling": [{"unit", "activation", "position", "word",
// "window"}], "title_pooling", "timings_ms"}; the poolings only where there are
// some.
nlohmann::ordered_json ExplanationJson(std::string_view query,
                                       const v1::ExplainResponse& response);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_EXPLAIN_OUTPUT_H_
