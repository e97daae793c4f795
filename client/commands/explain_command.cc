// `semrank explain`: what each word adds to a score.
//
// The server computes the explanation; this file only prints it, as tables for
// people and as rows or JSON for programs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/commands/command.h"
#include "client/lib/semrank_client.h"
#include "model/base/status_macros.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

constexpr ProgramInfo kExplainInfo = {
    .name = "explain",
    .summary = "shows which words make the score of a title",
    .usage = R"(Usage:
  semrank explain --query=TEXT --title=TEXT [flags]
  semrank explain --query=TEXT [flags] TITLE
  semrank explain --query=TEXT --document_id=DOC_ID [flags]

Explains the score of a title, or of the title of a document in the catalog. Prints for each
word of both texts the score without the word, how much the word adds, and how many of its
features the model knows (with 0 of 6 the model cannot see the word). For models with a
lexical part it also prints which letter n-grams of the word the other text has (= is the
whole word) and what they add. For clsm models it also prints the words that won the most
active units of the pooling layer.

--versus=TITLE sets two titles side by side: what the tower adds and what the letters of
each word of the query add. The differences add up to the difference of the scores.

Examples:
  semrank explain --query="edit photos" "digital photo organizer"
  semrank explain --query="edit photos" --title=gimp --versus="photo album"
  semrank explain --query="edit photos" --document_id=gimp --output=json
)"};

struct ExplainOptions {
  std::string query;
  std::string title;
  std::vector<std::string> arguments;
  std::string document_id;
  bool numeric_ids = false;
  std::string versus;
  std::uint32_t max_pooling_units = 0;
  v1::Parts parts = v1::PARTS_UNSPECIFIED;
  ModelOptions model;
};

using Words = google::protobuf::RepeatedPtrField<v1::WordContribution>;
using Winners = google::protobuf::RepeatedPtrField<v1::PoolingWinner>;

// Leaves room for words beside the bar on a terminal of 80 columns.
constexpr int kMaxBarLength = 20;

// The bars of both texts have one scale, so that they can be compared.
float LargestContribution(const v1::ExplainResponse& response) {
  float largest = 0;
  for (const Words* words :
       {&response.query_words(), &response.title_words()}) {
    for (const v1::WordContribution& word : *words) {
      largest = std::max(largest, std::abs(word.contribution()));
    }
  }
  return largest;
}

std::string ContributionBar(float contribution, float largest) {
  // In this form a NaN has no bar either.
  if (!(largest > 0)) return "";
  const float share = std::min(std::abs(contribution) / largest, 1.0f);
  const auto length =
      static_cast<std::size_t>(std::lround(kMaxBarLength * share));
  return std::string(length, contribution < 0 ? '-' : '+');
}

// The response does not say whether the model has a lexical part. If it adds
// nothing to any word, its columns would be empty.
bool HasLexicalPart(const v1::ExplainResponse& response) {
  return std::ranges::any_of(
      response.query_words(), [](const v1::WordContribution& word) {
        return word.matches_size() > 0 || word.lexical_contribution() != 0;
      });
}

// "=" for a word that the other text has, else its n-grams that it has.
std::string DescribeMatches(const v1::WordContribution& word) {
  if (word.in_other_text()) return "=";
  return absl::StrJoin(word.matches(), " ",
                       [](std::string* out, const v1::NgramMatch& match) {
                         out->append(match.ngram());
                       });
}

// Programs get all digits and no bar, since they compute with the numbers.
void AddWordRows(std::string_view text, const Words& words, float largest,
                 bool rounded, bool lexical, Table& table) {
  for (const v1::WordContribution& word : words) {
    std::vector<std::string> row = {std::string(text), word.word()};
    row.push_back(rounded ? absl::StrFormat("%+.4f", word.contribution())
                          : ShortestText(word.contribution()));
    if (rounded) row.push_back(ContributionBar(word.contribution(), largest));
    row.push_back(ScoreText(word.score_without(), rounded));
    row.push_back(absl::StrFormat("%d/%d", word.num_known_features(),
                                  word.num_features()));
    if (lexical) {
      row.push_back(ScoreText(word.lexical_part(), rounded));
      row.push_back(DescribeMatches(word));
    }
    table.AddRow(std::move(row));
  }
}

// A program gets all that is known of a word, also what has no column in the
// table.
nlohmann::ordered_json WordsJson(const Words& words, bool lexical) {
  auto array = nlohmann::ordered_json::array();
  for (const v1::WordContribution& word : words) {
    array.push_back({{"word", word.word()},
                     {"contribution", ShortestDouble(word.contribution())},
                     {"score_without", ShortestDouble(word.score_without())},
                     {"num_features", word.num_features()},
                     {"num_known_features", word.num_known_features()}});
    // Without a lexical part these fields would all be 0.
    if (!lexical) continue;
    auto matches = nlohmann::ordered_json::array();
    for (const v1::NgramMatch& match : word.matches()) {
      matches.push_back(
          {{"ngram", match.ngram()},
           {"lexical_part", ShortestDouble(match.lexical_part())}});
    }
    array.back().update(
        {{"semantic_contribution",
          ShortestDouble(word.semantic_contribution())},
         {"lexical_contribution", ShortestDouble(word.lexical_contribution())},
         {"lexical_part", ShortestDouble(word.lexical_part())},
         {"in_other_text", word.in_other_text()},
         {"matches", std::move(matches)}});
  }
  return array;
}

// Windows with the same words differ in their position.
nlohmann::ordered_json WinnersJson(const Winners& winners) {
  auto array = nlohmann::ordered_json::array();
  for (const v1::PoolingWinner& winner : winners) {
    array.push_back({{"unit", winner.unit()},
                     {"activation", ShortestDouble(winner.activation())},
                     {"position", winner.position()},
                     {"word", winner.word()},
                     {"window", winner.window()}});
  }
  return array;
}

// The line above the table: "score 0.7222 (cosine) = 0.6222 semantic + 0.1000
// lexical, model shop/3".
std::string DescribeScore(const v1::ExplainResponse& response) {
  const std::string parts =
      HasLexicalPart(response)
          ? absl::StrFormat(" = %.4f semantic + %.4f lexical",
                            response.semantic_part(), response.lexical_part())
          : "";
  return absl::StrFormat("score %.4f (%s)%s, model %s/%d", response.score(),
                         EnumWord(response.score_kind()), parts,
                         response.model().name(), response.model().version());
}

// A row per word: text ("query" or "title"), word, contribution, score without
// the word, known features of all features; with a lexical part what the word's
// n-grams add, and which the other text has. For people (`rounded`) numbers
// have four decimals, and a bar shows the contribution relative to the largest
// one: "++++" raises the score, "----" lowers it.
Table ContributionTable(const v1::ExplainResponse& response, bool rounded) {
  Table table({{"text"}, {"word"}, {"contribution", Table::kRight}});
  if (rounded) table.AddColumn("");
  table.AddColumn("without", Table::kRight);
  table.AddColumn("known", Table::kRight);
  const bool lexical = HasLexicalPart(response);
  if (lexical) {
    table.AddColumn("lexical", Table::kRight);
    table.AddColumn("matches");
  }
  const float largest = LargestContribution(response);
  AddWordRows("query", response.query_words(), largest, rounded, lexical,
              table);
  AddWordRows("title", response.title_words(), largest, rounded, lexical,
              table);
  return table;
}

// A row per unit of the pooling layer; empty for models without one. The number
// of a unit has no meaning of its own: the rows show which words the layer
// looks at.
Table PoolingTable(const v1::ExplainResponse& response) {
  Table table({{"text"},
               {"unit", Table::kRight},
               {"activation", Table::kRight},
               {"word"},
               {"window"}});
  const auto add = [&table](const char* text, const Winners& winners) {
    for (const v1::PoolingWinner& winner : winners) {
      table.AddRow({text, std::to_string(winner.unit()),
                    absl::StrFormat("%.4f", winner.activation()), winner.word(),
                    winner.window()});
    }
  };
  add("query", response.query_pooling());
  add("title", response.title_pooling());
  return table;
}

// {"query", "title", "score", "score_kind", "semantic_part", "lexical_part",
// "model", "query_words": [{"word", "contribution", "score_without",
// "num_features", "num_known_features", "semantic_contribution",
// "lexical_contribution", "lexical_part", "in_other_text", "matches":
// [{"ngram", "lexical_part"}]}], "title_words", "query_pooling": [{"unit",
// "activation", "position", "word", "window"}], "title_pooling", "timings_ms"};
// the poolings only if there are any, the parts and a word's fields from the
// sixth on only if the lexical part adds something.
nlohmann::ordered_json ExplanationJson(std::string_view query,
                                       const v1::ExplainResponse& response) {
  const bool lexical = HasLexicalPart(response);
  nlohmann::ordered_json object = {
      {"query", query},
      {"title", response.title()},
      {"score", ShortestDouble(response.score())},
      {"score_kind", EnumWord(response.score_kind())}};
  if (lexical) {
    object["semantic_part"] = ShortestDouble(response.semantic_part());
    object["lexical_part"] = ShortestDouble(response.lexical_part());
  }
  object["model"] = ModelToJson(response.model());
  object["query_words"] = WordsJson(response.query_words(), lexical);
  object["title_words"] = WordsJson(response.title_words(), lexical);
  if (!response.query_pooling().empty()) {
    object["query_pooling"] = WinnersJson(response.query_pooling());
  }
  if (!response.title_pooling().empty()) {
    object["title_pooling"] = WinnersJson(response.title_pooling());
  }
  object["timings_ms"] = TimingsToJson(response.timings());
  return object;
}

// The title, or the document whose title it is.
absl::Status SetCandidate(const ExplainOptions& options,
                          v1::ExplainRequest& request) {
  const std::size_t num_given = options.arguments.size() +
                                (options.title.empty() ? 0 : 1) +
                                (options.document_id.empty() ? 0 : 1);
  if (num_given != 1) {
    return UsageError(
        "title: give exactly one, with --title=TEXT or as the argument, or a "
        "document with --document_id=DOC_ID");
  }
  // AddUtf8Flag has checked the flags, but not the argument.
  std::uint64_t id = 0;
  if (options.document_id.empty()) {
    const std::string& title =
        options.title.empty() ? options.arguments[0] : options.title;
    if (!IsValidUtf8(title)) return UsageError("argument 1: not valid UTF-8");
    request.set_title(title);
  } else if (!options.numeric_ids) {
    request.set_document_id(options.document_id);
  } else if (absl::SimpleAtoi(options.document_id, &id)) {
    request.set_id(id);
  } else {
    return FlagError("document_id", options.document_id,
                     "must be a number from 0 to 2^64 - 1 (--numeric_ids)");
  }
  return absl::OkStatus();
}

// The score is above the table, where it is seen first; programs read it from
// JSON, which has it in a field.
absl::Status PrintExplanation(const std::string& query, OutputFormat format,
                              const v1::ExplainResponse& response) {
  if (format == OutputFormat::kJson) {
    return WriteJson(ExplanationJson(query, response));
  }
  // TSV has one table, so that each of its lines has the same columns.
  const bool for_people = format == OutputFormat::kTable;
  if (for_people) {
    SEMRANK_RETURN_IF_ERROR(
        WriteStdout(EscapeControls(DescribeScore(response)) + "\n"));
  }
  SEMRANK_RETURN_IF_ERROR(
      WriteTable(ContributionTable(response, for_people), format));
  // In TSV its rows would mix with those of the words; JSON has both.
  return for_people ? WriteTable(PoolingTable(response), format)
                    : absl::OkStatus();
}

// A row per summand of both scores and their difference: the tower, the letters
// of each word of the query, the sum.
Table ComparisonTable(const v1::ExplainResponse& first,
                      const v1::ExplainResponse& second) {
  Table table({{"part"},
               {"title", Table::kRight},
               {"versus", Table::kRight},
               {"difference", Table::kRight}});
  const auto add = [&](const std::string& part, float a, float b) {
    table.AddRow({part, absl::StrFormat("%.4f", a), absl::StrFormat("%.4f", b),
                  absl::StrFormat("%+.4f", a - b)});
  };
  // Both scores are sums of these parts, so the differences add up, too.
  add("tower", first.semantic_part(), second.semantic_part());
  for (int i = 0; i < first.query_words_size(); ++i) {
    const v1::WordContribution& word = first.query_words(i);
    add("letters of " + word.word(), word.lexical_part(),
        second.query_words(i).lexical_part());
  }
  add("score", first.score(), second.score());
  return table;
}

// Explains the second title by the model that explained `first`, and sets both
// side by side.
absl::Status PrintComparison(SemrankClient& client,
                             const ExplainOptions& options, OutputFormat format,
                             v1::ExplainRequest request,
                             const v1::ExplainResponse& first) {
  // Title and ids are one oneof: a document of the first call is replaced.
  request.set_title(options.versus);
  // The same version for both, or the difference would compare two models.
  *request.mutable_model() = first.model();
  const auto second = client.Explain(request);
  if (!second.ok()) return WithHint(second.status());
  SEMRANK_RETURN_IF_ERROR(PrintExplanation(options.query, format, *second));
  // Another version may split the words otherwise; JSON has all the numbers.
  if (format == OutputFormat::kJson ||
      first.query_words_size() != second->query_words_size()) {
    return absl::OkStatus();
  }
  return WriteTable(ComparisonTable(first, *second), format);
}

// The flags are checked before the server is asked, so that wrong use has exit
// code 2 also where no server runs.
absl::Status RunExplain(const ExplainOptions& options,
                        const CommonOptions& common) {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(options.query));
  v1::ExplainRequest request;
  request.set_query(options.query);
  SEMRANK_RETURN_IF_ERROR(SetCandidate(options, request));
  request.set_max_pooling_units(options.max_pooling_units);
  request.set_parts(options.parts);
  *request.mutable_model() = options.model.ToRef();
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  const auto response = client->Explain(request);
  if (!response.ok()) return WithHint(response.status());
  SEMRANK_RETURN_IF_ERROR(
      PrintExplanation(options.query, common.ResultFormat(), *response));
  if (options.versus.empty()) return absl::OkStatus();
  return PrintComparison(*client, options, common.ResultFormat(), request,
                         *response);
}

}  // namespace

Command AddExplainCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<ExplainOptions>();
  CommandLine& command = program.AddCommand(kExplainInfo);
  command.Group("Explanation");
  AddQueryFlag(command, &options->query);
  AddUtf8Flag(command, "title",
              "The title to explain; or give it as the only argument.",
              &options->title);
  command.AddArguments(&options->arguments);
  AddUtf8Flag(command, "document_id",
              "The document of the catalog whose title is to be explained.",
              &options->document_id);
  command.Add("numeric_ids", &options->numeric_ids,
              "--document_id is a number, as with semrank put --numeric_ids.");
  AddUtf8Flag(command, "versus",
              "A second title, which is explained too and compared.",
              &options->versus);
  AddPartsFlag(command, &options->parts);
  command.Add("max_pooling_units", &options->max_pooling_units,
              "For models with a pooling layer (clsm): how many of the most "
              "active units to show per text. 0 = the server's choice.");
  AddModelFlags(command, options->model);
  return {kExplainInfo.name,
          [options, &common] { return RunExplain(*options, common); }};
}

}  // namespace semrank
