#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "model/eval/rankers/combined_rankers.h"
#include "tests/model/eval/rankers/table_ranker.h"

namespace semrank {
namespace {

class NameMatchRankerTest : public ::testing::Test {
 protected:
  NameMatchRankerTest() {
    collection_.document_ids = {"Vim", "vim-gtk3", "p3", "p4"};
    collection_.documents = {"vi improved", "vim gtk3 editor", "vim scripts",
                             "plugins for vim"};
  }
  // With scores 0.1, 0.3, 0.2, 5 for each query.
  std::vector<float> Scores(std::string_view query) {
    const std::vector<float> row = {0.1f, 0.3f, 0.2f, 5};
    const auto ranker = CreateNameMatchRanker(
        std::make_unique<TableRanker>(
            "table", TableRanker::Table{{std::string(query), row}}),
        collection_);
    EXPECT_EQ(ranker->name(), "table+name_match");
    std::vector<float> scores(4);
    ranker->ScoreAll(std::span(&query, 1), scores.data());
    return scores;
  }

  Collection collection_;
};

TEST_F(NameMatchRankerTest, NameThenLeadingWordsByScoreThenTheOthers) {
  const std::vector<float> scores = Scores("vim");
  EXPECT_GT(scores[0], scores[1]);
  EXPECT_GT(scores[1], scores[2]);
  EXPECT_GT(scores[2], scores[3]);
  EXPECT_EQ(scores[3], 5);
}

TEST_F(NameMatchRankerTest, OtherQueriesKeepTheirScores) {
  EXPECT_EQ(Scores("editor"), (std::vector<float>{0.1f, 0.3f, 0.2f, 5}));
}

TEST_F(NameMatchRankerTest, TiedDocumentsStayTied) {
  collection_.documents[0] = "x";
  collection_.document_ids[0] = "vim1";
  collection_.document_ids[1] = "vim2";
  collection_.documents[1] = "y";
  const std::vector<float> row = {0, 0, 0, 0};
  const auto ranker = CreateNameMatchRanker(
      std::make_unique<TableRanker>("table", TableRanker::Table{{"vim", row}}),
      collection_);
  std::vector<float> scores(4);
  const std::string_view query = "vim";
  ranker->ScoreAll(std::span(&query, 1), scores.data());
  EXPECT_EQ(scores[0], scores[1]);
  EXPECT_GT(scores[2], scores[1]);
  EXPECT_EQ(scores[3], 0);
}

}  // namespace
}  // namespace semrank
