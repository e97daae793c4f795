// Documents found in the catalog, as people and programs read them.
#ifndef SEMRANK_CLIENT_OUTPUT_SEARCH_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_SEARCH_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "client/output/ranking_output.h"
#include "client/output/table.h"
#include "semrank/v1/catalog_service.pb.h"

namespace semrank {

// As RankingTable, the ids being the documents' keys.
Table SearchTable(const v1::SearchDocumentsResponse& response,
                  const RankingTableOptions& options);

// {"query", "model": {"name", "version"}, "score_kind",
// "num_documents_searched", "results": [{"rank", "score", "id" (a number) or
// "document_id", "title", "payload"}], "timings_ms"}; "payload", in base64,
// only where there is one.
nlohmann::ordered_json SearchJson(std::string_view query,
                                  const v1::SearchDocumentsResponse& response);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_SEARCH_OUTPUT_H_
