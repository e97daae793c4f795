// `semrank explain`.
#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CliTest, ExplainTableHasABarPerWord) {
  const auto run =
      Run({"explain", "--query=edit photos", "--output=table", "photo editor"});
  EXPECT_EQ(
      run.out,
      "score 0.5000 (cosine), model shop/3\n"
      "text   word    contribution                        without  known\n"
      "query  edit         +0.2500  ++++++++++++++++++++   0.2500    4/6\n"
      "query  photos       +0.0000                         0.5000    4/6\n"
      "title  photo        +0.1250  ++++++++++             0.3750    4/6\n"
      "title  editor       -0.1250  ----------             0.6250    4/6\n"
      "text   unit  activation  word    window\n"
      "query    17      0.7500  photos  edit photos\n");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.exit_code, 0);
}

TEST_F(CliTest, ExplainShowsWholeWordsAndCommonTrigrams) {
  const auto table =
      Run({"explain", "--query=edit photos", "--output=table", "edit disks"});
  EXPECT_THAT(
      table.out,
      StartsWith("score 0.5000 (cosine) = 0.2500 semantic + 0.2500 lexical, "
                 "model shop/3\n"));
  EXPECT_THAT(table.out, HasSubstr("4/6   0.1875  =\n"));
  EXPECT_THAT(table.out, HasSubstr("4/6   0.0625  os# ks#\n"));
  const auto json =
      Run({"explain", "--query=edit photos", "--output=json", "edit disks"});
  EXPECT_THAT(json.out, HasSubstr("\"semantic_part\":0.25,"
                                  "\"lexical_part\":0.25"));
  EXPECT_THAT(json.out, HasSubstr("\"matches\":[{\"ngram\":\"#ed\","
                                  "\"lexical_part\":0.1875}]"));
}

TEST_F(CliTest, ExplainVersusComparesWhatTowerAndLettersAdd) {
  const auto run = Run({"explain", "--query=edit photos", "--output=table",
                        "--title=edit disks", "--versus=photo editor"});
  EXPECT_THAT(run.out,
              HasSubstr("part                title  versus  difference\n"
                        "tower              0.2500  0.5000     -0.2500\n"
                        "letters of edit    0.1875  0.0000     +0.1875\n"
                        "letters of photos  0.0625  0.0000     +0.0625\n"
                        "score              0.5000  0.5000     +0.0000\n"));
}

TEST_F(CliTest, ExplainPrintsTsvAndJson) {
  const auto tsv = Run({"explain", "--query=q", "--title=photo editor"});
  EXPECT_THAT(tsv.out, StartsWith("query\tedit\t0.25\t0.25\t4/6\n"));
  const auto json =
      Run({"explain", "--query=q", "--title=photo editor", "--output=json"});
  EXPECT_THAT(
      json.out,
      StartsWith("{\"query\":\"q\",\"title\":\"photo editor\",\"score\":0.5,"
                 "\"score_kind\":\"cosine\",\"model\":{\"name\":\"shop\","
                 "\"version\":3},\"query_words\":[{\"word\":\"edit\","
                 "\"contribution\":0.25,\"score_without\":0.25,"
                 "\"num_features\":6,\"num_known_features\":4}"));
  EXPECT_THAT(json.out, HasSubstr("\"query_pooling\":[{\"unit\":17,"));
}

}  // namespace
}  // namespace semrank
