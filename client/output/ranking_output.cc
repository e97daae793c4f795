#include "client/output/ranking_output.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "client/output/call_report.h"
#include "client/output/output.h"

// A response names candidates by their index, so the caller's titles and ids
// are beside it everywhere. The client has checked that indices are valid and
// that parallel fields have one length (response_check.h).
namespace semrank {
namespace {

// Adds "name_match" if the query names the document.
void AddNameMatch(v1::NameMatch match, nlohmann::ordered_json& object) {
  if (match == v1::NAME_MATCH_UNSPECIFIED) return;
  object["name_match"] = EnumWord(match);
}

void AddId(const TextList& candidates, std::uint32_t index,
           nlohmann::ordered_json& object) {
  const std::string_view id = candidates.id(index);
  if (!id.empty()) object["id"] = id;
}

// Scores are floats; ShortestDouble keeps a program from seeing digits that
// they do not have.
nlohmann::ordered_json ResultJson(const TextList& candidates,
                                  const v1::RankResponse& response, int i) {
  const std::uint32_t index = response.indices(i);
  nlohmann::ordered_json result = {
      {"rank", i + 1},
      {"score", ShortestDouble(response.scores(i))},
      {"index", index}};
  if (!response.semantic_scores().empty()) {
    result["semantic_score"] = ShortestDouble(response.semantic_scores(i));
  }
  if (!response.lexical_scores().empty()) {
    result["lexical_score"] = ShortestDouble(response.lexical_scores(i));
  }
  AddId(candidates, index, result);
  result["title"] = candidates.texts[index];
  if (!response.name_matches().empty()) {
    AddNameMatch(static_cast<v1::NameMatch>(response.name_matches(i)), result);
  }
  return result;
}

// The code as a name, as gRPC's documentation has it, and not as a number.
nlohmann::ordered_json ProblemJson(const TextList& candidates,
                                   const v1::Problem& problem) {
  const absl::Status status = FromItemStatus(problem.status());
  nlohmann::ordered_json object = {{"index", problem.index()}};
  AddId(candidates, problem.index(), object);
  object["code"] = absl::StatusCodeToString(status.code());
  if (const auto info = GetErrorInfo(status); info.has_value()) {
    object["reason"] = info->reason();
  }
  object["message"] = std::string(status.message());
  return object;
}

// The key is a number ("id") or a text ("document_id"), as in the API. A
// payload may be any bytes, which JSON cannot hold.
nlohmann::ordered_json HitJson(const v1::DocumentHit& hit, int rank) {
  nlohmann::ordered_json result = {{"rank", rank},
                                   {"score", ShortestDouble(hit.score())}};
  // The response does not say whether parts were requested. If they were, a hit
  // has nearly always one that is not 0.
  if (hit.semantic_score() != 0 || hit.lexical_score() != 0) {
    result["semantic_score"] = ShortestDouble(hit.semantic_score());
    result["lexical_score"] = ShortestDouble(hit.lexical_score());
  }
  if (hit.has_id()) {
    result["id"] = hit.id();
  } else {
    result["document_id"] = hit.document_id();
  }
  result["title"] = hit.title();
  AddNameMatch(hit.name_match(), result);
  if (!hit.payload().empty()) {
    result["payload"] = absl::Base64Escape(hit.payload());
  }
  return result;
}

// Servers before query_known_features do not say it.
template <typename Response>
bool IsQueryUnknown(const Response& response) {
  return response.has_query_known_features() &&
         response.query_known_features().num_known_words() == 0;
}

// Prints a message to standard error if the model knows no word of the query,
// or if all scores are 0. Returns true if both hold: the order of the results
// is then meaningless. Standard output has rows only. The cosines of a query
// without a known word are exactly 0, because its vector is 0.
template <typename Response, typename Items, typename Score>
bool PrintIfUnknown(const Response& response, const Items& items,
                    v1::Parts parts, Score score) {
  if (items.empty() || parts == v1::PARTS_LEXICAL) return false;
  const bool all_zero = std::ranges::all_of(
      items, [&](const auto& item) { return score(item) == 0; });
  const bool unknown = IsQueryUnknown(response);
  if (unknown && all_zero) {
    absl::FPrintF(
        stderr, "the model knows no word of the query, so all scores are 0\n");
  } else if (unknown) {
    absl::FPrintF(stderr,
                  "the model knows no word of the query: letters alone decide "
                  "on the order\n");
  } else if (all_zero) {
    absl::FPrintF(stderr,
                  "all scores are 0: the model knows nothing in the query, or "
                  "nothing in the titles\n");
  }
  return unknown && all_zero;
}

template <typename Response>
void AddKnownFeatures(const Response& response,
                      nlohmann::ordered_json& object) {
  if (!response.has_query_known_features()) return;
  const v1::KnownFeatures& known = response.query_known_features();
  object["query_known_features"] = {
      {"num_words", known.num_words()},
      {"num_known_words", known.num_known_words()},
      {"num_ngrams", known.num_ngrams()},
      {"num_known_ngrams", known.num_known_ngrams()}};
}

}  // namespace

Table RankingTable(const TextList& candidates, const v1::RankResponse& response,
                   const RankingTableOptions& options) {
  // A column of blanks would look as if ids had been lost.
  const bool with_ids = !candidates.ids.empty();
  Table table;
  table.AddColumn("rank", Table::kRight);
  if (options.with_scores) {
    // Users expect cosines, so only other kinds of scores are named.
    const bool cosine = response.score_kind() != v1::SCORE_KIND_SSI_DOT;
    table.AddColumn(cosine ? "score" : EnumWord(response.score_kind()),
                    Table::kRight);
  }
  const bool with_semantic = !response.semantic_scores().empty();
  const bool with_lexical = !response.lexical_scores().empty();
  if (with_semantic) table.AddColumn("semantic", Table::kRight);
  if (with_lexical) table.AddColumn("lexical", Table::kRight);
  const auto score_text = [&](float score) {
    return ScoreText(score, options.rounded);
  };
  if (with_ids) table.AddColumn("id");
  table.AddColumn("title");
  for (int i = 0; i < response.indices_size(); ++i) {
    const std::uint32_t index = response.indices(i);
    std::vector<std::string> row = {std::to_string(i + 1)};
    if (options.with_scores) row.push_back(score_text(response.scores(i)));
    if (with_semantic) row.push_back(score_text(response.semantic_scores(i)));
    if (with_lexical) row.push_back(score_text(response.lexical_scores(i)));
    if (with_ids) row.push_back(candidates.ids[index]);
    row.push_back(candidates.texts[index]);
    table.AddRow(std::move(row));
  }
  return table;
}

nlohmann::ordered_json RankingJson(std::string_view query,
                                   const TextList& candidates,
                                   const v1::RankResponse& response) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (int i = 0; i < response.indices_size(); ++i) {
    results.push_back(ResultJson(candidates, response, i));
  }
  nlohmann::ordered_json problems = nlohmann::ordered_json::array();
  for (const v1::Problem& problem : response.problems()) {
    problems.push_back(ProblemJson(candidates, problem));
  }
  nlohmann::ordered_json object = {
      {"query", query},
      {"model", ModelToJson(response.model())},
      {"score_kind", EnumWord(response.score_kind())},
      {"results", std::move(results)},
      {"problems", std::move(problems)},
      {"skipped_lines", candidates.num_skipped_lines},
      {"cache_hits", response.cache_hits()},
      {"cache_misses", response.cache_misses()},
      {"timings_ms", TimingsToJson(response.timings())}};
  AddKnownFeatures(response, object);
  return object;
}

void PrintIfUnknown(const v1::RankResponse& response, v1::Parts parts) {
  PrintIfUnknown(response, response.scores(), parts,
                 [](float score) { return score; });
}

bool PrintIfUnknown(const v1::SearchDocumentsResponse& response,
                    v1::Parts parts) {
  const bool unknown =
      PrintIfUnknown(response, response.hits(), parts,
                     [](const v1::DocumentHit& hit) { return hit.score(); });
  // A document that the query names is a good hit, whatever the model knows.
  const bool names_none =
      std::ranges::none_of(response.hits(), [](const v1::DocumentHit& hit) {
        return hit.name_match() != v1::NAME_MATCH_UNSPECIFIED;
      });
  return unknown && names_none;
}

void PrintProblems(const TextList& candidates,
                   const v1::RankResponse& response) {
  ProblemReport report("not ranked");
  for (const v1::Problem& problem : response.problems()) {
    report.Add(
        DescribeItem("title", problem.index(), candidates.id(problem.index())),
        problem);
  }
  // A user must know that the ranking lacks more than the ten that are listed.
  report.PrintNumberOfOthers("titles");
}

Table SearchTable(const v1::SearchDocumentsResponse& response,
                  const RankingTableOptions& options) {
  // As a ranking in which each hit is a candidate, so that both tables have the
  // same columns.
  TextList documents;
  v1::RankResponse ranking;
  ranking.set_score_kind(response.score_kind());
  for (const v1::DocumentHit& hit : response.hits()) {
    ranking.add_indices(ranking.indices_size());
    ranking.add_scores(hit.score());
    if (options.with_parts) {
      ranking.add_semantic_scores(hit.semantic_score());
      ranking.add_lexical_scores(hit.lexical_score());
    }
    // A table shows names and numbers alike; JSON keeps them apart.
    documents.ids.push_back(KeyText(hit));
    documents.texts.push_back(hit.title());
  }
  return RankingTable(documents, ranking, options);
}

// The names of RankingJson, as far as both have the same, so that one program
// reads either.
nlohmann::ordered_json SearchJson(std::string_view query,
                                  const v1::SearchDocumentsResponse& response) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const v1::DocumentHit& hit : response.hits()) {
    results.push_back(HitJson(hit, static_cast<int>(results.size()) + 1));
  }
  nlohmann::ordered_json object = {
      {"query", query},
      {"model", ModelToJson(response.model())},
      {"score_kind", EnumWord(response.score_kind())},
      {"num_documents_searched", response.num_documents_searched()},
      {"results", std::move(results)},
      {"timings_ms", TimingsToJson(response.timings())}};
  AddKnownFeatures(response, object);
  return object;
}

}  // namespace semrank
