#include "client/output/search_output.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "client/output/enum_words.h"
#include "client/output/output.h"
#include "client/output/timings.h"

namespace semrank {
namespace {

nlohmann::ordered_json HitJson(const v1::DocumentHit& hit, int rank) {
  nlohmann::ordered_json result = {{"rank", rank},
                                   {"score", ShortestDouble(hit.score())}};
  if (hit.has_id()) {
    result["id"] = hit.id();
  } else {
    result["document_id"] = hit.document_id();
  }
  result["title"] = hit.title();
  if (!hit.payload().empty()) {
    result["payload"] = absl::Base64Escape(hit.payload());
  }
  return result;
}

}  // namespace

Table SearchTable(const v1::SearchDocumentsResponse& response,
                  const RankingTableOptions& options) {
  // The hits as a ranking of themselves.
  TextList documents;
  v1::RankResponse ranking;
  ranking.set_score_kind(response.score_kind());
  for (const v1::DocumentHit& hit : response.hits()) {
    ranking.add_indices(ranking.indices_size());
    ranking.add_scores(hit.score());
    documents.ids.push_back(hit.has_id() ? std::to_string(hit.id())
                                         : hit.document_id());
    documents.texts.push_back(hit.title());
  }
  return RankingTable(documents, ranking, options);
}

nlohmann::ordered_json SearchJson(std::string_view query,
                                  const v1::SearchDocumentsResponse& response) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const v1::DocumentHit& hit : response.hits()) {
    results.push_back(HitJson(hit, static_cast<int>(results.size()) + 1));
  }
  return {{"query", query},
          {"model",
           {{"name", response.model().name()},
            {"version", response.model().version()}}},
          {"score_kind", EnumWord(response.score_kind())},
          {"num_documents_searched", response.num_documents_searched()},
          {"results", std::move(results)},
          {"timings_ms", TimingsToJson(response.timings())}};
}

}  // namespace semrank
