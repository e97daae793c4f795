#include "client/output/explain_output.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/output/call_report.h"
#include "client/output/output.h"

namespace semrank {
namespace {

using Words = google::protobuf::RepeatedPtrField<v1::WordContribution>;
using Winners = google::protobuf::RepeatedPtrField<v1::PoolingWinner>;

constexpr int kLongestBar = 20;

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

std::string Bar(float contribution, float largest) {
  if (!(largest > 0)) return "";
  const float share = std::min(std::abs(contribution) / largest, 1.0f);
  const auto length =
      static_cast<std::size_t>(std::lround(kLongestBar * share));
  return std::string(length, contribution < 0 ? '-' : '+');
}

void AddWords(std::string_view text, const Words& words, float largest,
              bool rounded, Table& table) {
  for (const v1::WordContribution& word : words) {
    std::vector<std::string> row = {std::string(text), word.word()};
    if (rounded) {
      row.push_back(absl::StrFormat("%+.4f", word.contribution()));
      row.push_back(Bar(word.contribution(), largest));
      row.push_back(absl::StrFormat("%.4f", word.score_without()));
    } else {
      row.push_back(ShortestText(word.contribution()));
      row.push_back(ShortestText(word.score_without()));
    }
    row.push_back(absl::StrFormat("%d/%d", word.num_known_features(),
                                  word.num_features()));
    table.AddRow(std::move(row));
  }
}

void AddWinners(std::string_view text, const Winners& winners, Table& table) {
  for (const v1::PoolingWinner& winner : winners) {
    table.AddRow({std::string(text), std::to_string(winner.unit()),
                  absl::StrFormat("%.4f", winner.activation()), winner.word(),
                  winner.window()});
  }
}

nlohmann::ordered_json WordsJson(const Words& words) {
  auto array = nlohmann::ordered_json::array();
  for (const v1::WordContribution& word : words) {
    array.push_back({{"word", word.word()},
                     {"contribution", ShortestDouble(word.contribution())},
                     {"score_without", ShortestDouble(word.score_without())},
                     {"num_features", word.num_features()},
                     {"num_known_features", word.num_known_features()}});
  }
  return array;
}

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

}  // namespace

std::string DescribeScore(const v1::ExplainResponse& response) {
  return absl::StrFormat("score %.4f (%s), model %s/%d", response.score(),
                         EnumWord(response.score_kind()),
                         response.model().name(), response.model().version());
}

Table ContributionTable(const v1::ExplainResponse& response, bool rounded) {
  Table table;
  table.AddColumn("text");
  table.AddColumn("word");
  table.AddColumn("contribution", Table::Align::kRight);
  if (rounded) table.AddColumn("");
  table.AddColumn("without", Table::Align::kRight);
  table.AddColumn("known", Table::Align::kRight);
  const float largest = LargestContribution(response);
  AddWords("query", response.query_words(), largest, rounded, table);
  AddWords("title", response.title_words(), largest, rounded, table);
  return table;
}

Table PoolingTable(const v1::ExplainResponse& response) {
  Table table;
  table.AddColumn("text");
  table.AddColumn("unit", Table::Align::kRight);
  table.AddColumn("activation", Table::Align::kRight);
  table.AddColumn("word");
  table.AddColumn("window");
  AddWinners("query", response.query_pooling(), table);
  AddWinners("title", response.title_pooling(), table);
  return table;
}

nlohmann::ordered_json ExplanationJson(std::string_view query,
                                       const v1::ExplainResponse& response) {
  nlohmann::ordered_json object = {
      {"query", query},
      {"title", response.title()},
      {"score", ShortestDouble(response.score())},
      {"score_kind", EnumWord(response.score_kind())},
      {"model",
       {{"name", response.model().name()},
        {"version", response.model().version()}}},
      {"query_words", WordsJson(response.query_words())},
      {"title_words", WordsJson(response.title_words())}};
  if (!response.query_pooling().empty()) {
    object["query_pooling"] = WinnersJson(response.query_pooling());
  }
  if (!response.title_pooling().empty()) {
    object["title_pooling"] = WinnersJson(response.title_pooling());
  }
  object["timings_ms"] = TimingsToJson(response.timings());
  return object;
}

}  // namespace semrank
