// `semrank embed`, as far as it prints.
#include <algorithm>

#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CliTest, EmbedPrintsOneVectorPerLine) {
  const auto run =
      Run({"embed", "--side=document", "--texts=-"}, {.input = "a b\n\nc\n"});
  EXPECT_EQ(run.out, "a b\t0 0.1 -0.5\n\t1 0.1 -0.5\nc\t2 0.1 -0.5\n");
  EXPECT_EQ(server_.last_embed().side(), v1::SIDE_DOCUMENT);
  const auto json = Run({"embed", "--side=query", "--output=json", "a"});
  EXPECT_EQ(json.out,
            "{\"text\":\"a\",\"vector\":[0.0,0.100000001,-0.50000000]}\n");
  EXPECT_EQ(server_.last_embed().side(), v1::SIDE_QUERY);
}

TEST_F(CliTest, EmbedStreamsManyTextsAndReportsProblems) {
  std::string texts;
  for (int i = 0; i < 2'500; ++i) texts += "text\n";
  const ProgramResult all = Run(
      {"embed", "--side=document", "--texts=-", "--timings"}, {.input = texts});
  EXPECT_EQ(std::ranges::count(all.out, '\n'), 2'500);
  // The position within its message, by the fake server.
  EXPECT_THAT(all.out, AllOf(StartsWith("text\t0 0.1 -0.5\n"),
                             EndsWith("text\t499 0.1 -0.5\n")));
  EXPECT_THAT(all.err, HasSubstr("model shop/3"));
  EXPECT_EQ(all.exit_code, 0);

  const ProgramResult one_bad = Run({"embed", "--side=document", "--texts=-"},
                                    {.input = texts + "bad\nlast\n"});
  EXPECT_EQ(std::ranges::count(one_bad.out, '\n'), 2'501);
  EXPECT_THAT(one_bad.out, EndsWith("last\t501 0.1 -0.5\n"));
  EXPECT_THAT(one_bad.err,
              AllOf(HasSubstr("not embedded: text 2501: why\n"),
                    HasSubstr("1 of 2,502 texts could not be embedded")));
  EXPECT_EQ(one_bad.exit_code, 1);
}

TEST_F(CliTest, EmbedOmitsABadTextAlsoOfAFew) {
  const auto run = Run({"embed", "--side=query", "a", "bad", "c"});
  EXPECT_EQ(run.out, "a\t0 0.1 -0.5\nc\t2 0.1 -0.5\n");
  EXPECT_THAT(run.err, AllOf(HasSubstr("not embedded: text 2: why\n"),
                             HasSubstr("1 of 3 texts could not be embedded")));
  EXPECT_EQ(run.exit_code, 1);
}

TEST_F(CliTest, TruncatedStreamIsAFailure) {
  std::string texts = "end silently\n";
  for (int i = 0; i < 2'000; ++i) texts += "text\n";
  const ProgramResult run =
      Run({"embed", "--side=query", "--texts=-"}, {.input = texts});
  EXPECT_THAT(run.err, HasSubstr("the stream ended after 0 of 2001 texts"));
  EXPECT_EQ(run.exit_code, 1);
}

TEST_F(CliTest, EmbedReadsTheTitlesOfCsvAndJsonLines) {
  for (const std::string& file :
       {dir_.Write("shop.CSV", "id,title\nm1,\"desk, small\"\nm2,tv\n"),
        dir_.Write("shop.jsonl",
                   "{\"id\":\"m1\",\"title\":\"desk, small\"}\n"
                   "{\"document_id\":\"m2\",\"title\":\"tv\"}\n")}) {
    const auto run =
        Run({"embed", "--side=document", "--texts=" + file, "--output=json"});
    EXPECT_THAT(run.out,
                AllOf(StartsWith("{\"id\":\"m1\",\"text\":\"desk, small\","),
                      HasSubstr("\n{\"id\":\"m2\",\"text\":\"tv\",")))
        << run.err;
  }
}

}  // namespace
}  // namespace semrank
