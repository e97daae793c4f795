// `semrank rank`, and what all commands that print have in common.
#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CliTest, RankPrintsTsvWhenPiped) {
  const auto run = Run({"rank", "--query=photos", "image editor", "mail"});
  EXPECT_EQ(run.out, "1\t0.75\timage editor\n2\t0.5\tmail\n");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.exit_code, 0);
}

TEST_F(CliTest, RankPrintsAnAlignedTableOnATerminal) {
  const auto run =
      Run({"rank", "--query=q", "--titles=-"},
          {.input = "gimp\t\u65e5\u672c\nx\tb\x1b[2J\n", .terminal = true});
  EXPECT_EQ(run.out,
            "rank   score  id    title\n"
            "   1  0.7500  gimp  \u65e5\u672c\n"
            "   2  0.5000  x     b\\u001b[2J\n");
  EXPECT_EQ(run.exit_code, 0);
}

TEST_F(CliTest, NoFormatSendsControlsToATerminal) {
  for (const std::string format : {"table", "tsv", "json"}) {
    const auto run = Run({"rank", "--query=q\x1b", "--output=" + format,
                          "a\x1b[2J", "b\u009b2J"},
                         {.terminal = true});
    EXPECT_THAT(run.out, HasSubstr("a\\u001b[2J")) << format;
    EXPECT_THAT(run.out, HasSubstr("b\\u009b2J")) << format;
    EXPECT_THAT(run.out, Not(HasSubstr("\x1b"))) << format;
  }
}

TEST_F(CliTest, APipeGetsControlsOnlyAsRaw) {
  const std::vector<std::string> titles = {"a\x1b[2J", "b\u200f"};
  for (const std::string format : {"auto", "tsv"}) {
    EXPECT_EQ(
        Run({"rank", "--query=q", "--output=" + format, titles[0], titles[1]})
            .out,
        "1\t0.75\ta\\u001b[2J\n2\t0.5\tb\u200f\n");
  }
  EXPECT_EQ(
      Run({"rank", "--query=q", "--output=raw", titles[0], titles[1]}).out,
      "1\t0.75\ta\x1b[2J\n2\t0.5\tb\u200f\n");
}

TEST_F(CliTest, RankPrintsOneJsonObject) {
  const auto run =
      Run({"rank", "--query=q", "--output=json", "--top_k=1", "a", "b"});
  EXPECT_THAT(run.out,
              StartsWith("{\"query\":\"q\",\"model\":{\"name\":\"shop\","
                         "\"version\":3},\"score_kind\":\"cosine\","
                         "\"results\":[{\"rank\":1,\"score\":0.75,"
                         "\"index\":0,\"title\":\"a\"}],\"problems\":[],"));
  EXPECT_THAT(run.out, EndsWith("}\n"));
}

TEST_F(CliTest, RankAsksForTheParts) {
  Run({"rank", "--query=q", "--parts=lexical", "--with_parts", "a"});
  EXPECT_EQ(server_.last_rank().parts(), v1::PARTS_LEXICAL);
  EXPECT_TRUE(server_.last_rank().with_parts());
  Run({"rank", "--query=q", "a"});
  EXPECT_EQ(server_.last_rank().parts(), v1::PARTS_UNSPECIFIED);
  EXPECT_FALSE(server_.last_rank().with_parts());
}

TEST_F(CliTest, TitlesFileMayHaveEmptyLines) {
  const std::string titles = dir_.Write("titles.txt", "a\n\nb\n");
  const auto run = Run({"rank", "--query=q", "--titles=" + titles});
  EXPECT_EQ(run.out, "1\t0.75\ta\n2\t0.5\tb\n");
  EXPECT_THAT(server_.last_rank().titles(), ElementsAre("a", "b"));
}

TEST_F(CliTest, ArgumentsAreTitlesEvenWithTabs) {
  const auto run = Run({"rank", "--query=q", "--", "a\tb", "--c"});
  EXPECT_THAT(server_.last_rank().titles(), ElementsAre("a\tb", "--c"));
  EXPECT_EQ(run.exit_code, 0);
}

TEST_F(CliTest, RankSendsItsFlags) {
  const auto run =
      Run({"rank", "--query=q", "--top_k=2", "--min_score=0.5", "--model=shop",
           "--model_version=3", "--nowith_scores", "a", "b", "c"});
  EXPECT_EQ(run.out, "1\ta\n2\tb\n");
  EXPECT_EQ(server_.last_rank().query(), "q");
  EXPECT_EQ(server_.last_rank().top_k(), 2);
  EXPECT_EQ(server_.last_rank().min_score(), 0.5f);
  EXPECT_EQ(server_.last_rank().model().name(), "shop");
  EXPECT_EQ(server_.last_rank().model().version(), 3);
  Run({"rank", "--query=q", "a"});
  EXPECT_FALSE(server_.last_rank().has_min_score());
  EXPECT_FALSE(server_.last_rank().name_match());
  Run({"rank", "--query=q", "--name_match", "a"});
  EXPECT_TRUE(server_.last_rank().name_match());
}

TEST_F(CliTest, RankSaysThatNoTitleScoresEnough) {
  const auto run = Run({"rank", "--query=q", "--min_score=0.9", "a", "b"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "no title scores at least 0.9\n");
}

TEST_F(CliTest, TimingsGoToStandardError) {
  const auto run = Run({"rank", "--query=q", "--timings", "a", "b", "c"});
  EXPECT_THAT(
      run.err,
      AllOf(StartsWith("timings: "),
            HasSubstr(" ms round trip, server 2.25 ms (queue 0.00, parse 0.00, "
                      "cache 0.00, embed 1.50, score 0.00); 1 vector cached, "
                      "2 computed; model shop/3\n")));
  EXPECT_EQ(run.out, "1\t0.75\ta\n2\t0.5\tb\n3\t0.25\tc\n");
}

TEST_F(CliTest, UnrankedTitlesAreReported) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse* response) {
    v1::Problem& problem = *response->add_problems();
    problem.set_index(1);
    problem.mutable_status()->set_code(3);
    problem.mutable_status()->set_message("too long");
    return grpc::Status::OK;
  });
  const auto run = Run({"rank", "--query=q", "a", "b"});
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "not ranked: title 2: too long\n");
  EXPECT_EQ(run.exit_code, 0);
}

}  // namespace
}  // namespace semrank
