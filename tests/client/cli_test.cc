// The `semrank` program as a user runs it, against a server in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/client/fake_server.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kProgram = SEMRANK_BINARY_DIR "/semrank";

class CliTest : public ::testing::Test {
 protected:
  // `arguments` after the address.
  ProgramResult Run(std::vector<std::string> arguments,
                    const ProgramOptions& options = {}) {
    arguments.insert(arguments.begin(),
                     {kProgram, "--address=" + server_.address()});
    return RunProgram(arguments, options);
  }

  FakeServer server_;
  TempDir dir_;
};

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

TEST_F(CliTest, TitlesComeFromAFileAndEmptyLinesAreNone) {
  const std::string titles = dir_.Write("titles.txt", "a\n\nb\n");
  const auto run = Run({"rank", "--query=q", "--titles=" + titles});
  EXPECT_EQ(run.out, "1\t0.75\ta\n2\t0.5\tb\n");
  EXPECT_THAT(server_.last_rank().titles(), ElementsAre("a", "b"));
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
}

TEST_F(CliTest, TimingsGoToStandardError) {
  const auto run = Run({"rank", "--query=q", "--timings", "a", "b", "c"});
  EXPECT_THAT(
      run.err,
      AllOf(StartsWith("timings: "),
            HasSubstr(" ms round trip, server 2.25 ms (queue 0.00, parse 0.00, "
                      "cache 0.00, embed 1.50, score 0.00); 1 vectors cached, "
                      "2 computed; model shop/3\n")));
  EXPECT_EQ(run.out, "1\t0.75\ta\n2\t0.5\tb\n3\t0.25\tc\n");
}

TEST_F(CliTest, TitlesThatCannotBeRankedAreNamed) {
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

TEST_F(CliTest, EmbedPrintsAVectorALine) {
  const auto run =
      Run({"embed", "--side=document", "--texts=-"}, {.input = "a b\n\nc\n"});
  EXPECT_EQ(run.out, "a b\t0 0.1 -0.5\n\t1 0.1 -0.5\nc\t2 0.1 -0.5\n");
  EXPECT_EQ(server_.last_embed().side(), v1::SIDE_DOCUMENT);
  const auto json = Run({"embed", "--side=query", "--output=json", "a"});
  EXPECT_EQ(json.out, "{\"text\":\"a\",\"vector\":[0.0,0.1,-0.5]}\n");
  EXPECT_EQ(server_.last_embed().side(), v1::SIDE_QUERY);
}

TEST_F(CliTest, EmbedStreamsManyTextsAndNamesThoseThatFail) {
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
                    HasSubstr("1 of 2502 texts could not be embedded")));
  EXPECT_EQ(one_bad.exit_code, 1);
}

TEST_F(CliTest, AStreamThatEndsSilentlyIsAFailure) {
  std::string texts = "end silently\n";
  for (int i = 0; i < 2'000; ++i) texts += "text\n";
  const ProgramResult run =
      Run({"embed", "--side=query", "--texts=-"}, {.input = texts});
  EXPECT_THAT(run.err, HasSubstr("the stream ended after 0 of 2001 texts"));
  EXPECT_EQ(run.exit_code, 1);
}

TEST_F(CliTest, ModelPrintsFacts) {
  server_.OnGetModel(
      [](const v1::GetModelRequest&, v1::GetModelResponse* response) {
        response->mutable_model()->set_name("shop");
        response->mutable_model()->set_version(3);
        response->mutable_model()->set_state(v1::MODEL_STATE_SERVING);
        return grpc::Status::OK;
      });
  EXPECT_EQ(Run({"model"}).out, "model\tshop\nversion\t3\nstate\tserving\n");
  EXPECT_EQ(Run({"model"}, {.terminal = true}).out,
            "model    shop\nversion  3\nstate    serving\n");
  EXPECT_EQ(Run({"model", "--output=json"}).out,
            "{\"name\":\"shop\",\"version\":\"3\","
            "\"state\":\"MODEL_STATE_SERVING\"}\n");
}

TEST_F(CliTest, ModelListsEveryVersionAndWhyOneFailed) {
  EXPECT_EQ(Run({"model", "--list"}, {.terminal = true}).out,
            "model  version  state             loaded  failure\n"
            "shop   4        failed                    "
            "weights.safetensors: cut\n"
            "shop   3        serving, current\n");
  EXPECT_EQ(Run({"model", "--list", "--output=json"}).out,
            "{\"name\":\"shop\",\"version\":\"4\",\"state\":"
            "\"MODEL_STATE_FAILED\",\"failure\":{\"message\":"
            "\"weights.safetensors: cut\"}}\n"
            "{\"name\":\"shop\",\"version\":\"3\",\"state\":"
            "\"MODEL_STATE_SERVING\",\"current\":true}\n");
}

TEST_F(CliTest, ModelReloadsAndSaysWhatWasBeforeOrWhyNot) {
  EXPECT_EQ(Run({"model", "--reload", "--model_version=2"}).out,
            "model\tshop\nversion\t2\nstate\tserving\nversion before\t3\n"
            "loaded\tnow\n");
  EXPECT_THAT(Run({"model", "--reload", "--model_version=3"}).out,
              HasSubstr("loaded\tno, it was current already\n"));
  EXPECT_THAT(
      Run({"model", "--reload", "--model_version=2", "--output=json"}).out,
      ::testing::EndsWith("\"changed\":true}\n"));
  const ProgramResult failed = Run({"model", "--reload", "--model_version=4"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("weights.safetensors: cut"));
}

TEST_F(CliTest, ExplainShowsPeopleABarForEachWord) {
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

TEST_F(CliTest, ExplainPrintsProgramsTsvAndJson) {
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

TEST_F(CliTest, LimitsPrintsEachOfThem) {
  EXPECT_THAT(Run({"limits"}).out,
              AllOf(HasSubstr("max_texts_per_request\t1000\n"),
                    HasSubstr("max_request_bytes\t5000000000\n"),
                    HasSubstr("max_connections\t0\n")));
  EXPECT_THAT(Run({"limits", "--output=json"}).out,
              HasSubstr("\"max_texts_per_request\":1000"));
}

TEST_F(CliTest, HealthIsTheExitCode) {
  auto run = Run({"health"});
  EXPECT_EQ(run.out, "SERVING\n");
  EXPECT_EQ(run.exit_code, 0);
  server_.SetServing("", false);
  run = Run({"health", "--output=json"});
  EXPECT_EQ(run.out, "{\"service\":\"\",\"status\":\"NOT_SERVING\"}\n");
  EXPECT_EQ(run.exit_code, 1);
  run = Run({"health", "--service=nobody"});
  EXPECT_EQ(run.err,
            "semrank health: error: the server knows no service 'nobody'\n");
  EXPECT_EQ(run.exit_code, 1);
}

TEST_F(CliTest, AServersLimitIsShownWithItsValue) {
  server_.OnRank([](const v1::RankRequest&, v1::RankResponse*) {
    return ServerError(grpc::StatusCode::INVALID_ARGUMENT, "TOO_MANY_TEXTS",
                       "titles: 2 in one request, over the limit of 1");
  });
  const auto run = Run({"rank", "--query=q", "a", "b"});
  EXPECT_EQ(run.err,
            "semrank rank: error: " + server_.address() +
                ": titles: 2 in one request, over the limit of 1; send fewer "
                "in one call, or raise the limit of the server\n");
  EXPECT_EQ(run.exit_code, 1);
}

TEST_F(CliTest, AnUnreachableServerIsOneLineThatNamesItAndWhatToDo) {
  const std::string address = server_.address();
  server_.Stop();
  for (const std::string command : {"health", "model"}) {
    const auto run = Run({command});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, StartsWith("semrank " + command +
                                    ": error: cannot reach " + address));
    EXPECT_THAT(run.err, EndsWith("; is semrank-server running there? "
                                  "--address=HOST:PORT names another\n"));
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1);
  }
}

TEST_F(CliTest, AMissingFileIsAFailureThatNamesIt) {
  const auto run = Run({"rank", "--query=q", "--titles=/no/such/file"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("/no/such/file"));
}

TEST_F(CliTest, FlagsMayComeBeforeTheCommandAndFromTheEnvironment) {
  const auto run =
      RunProgram({kProgram, "--output", "json", "health"},
                 {.environment = {"SEMRANK_ADDRESS=" + server_.address()}});
  EXPECT_EQ(run.out, "{\"service\":\"\",\"status\":\"SERVING\"}\n");
}

struct WrongUseCase {
  std::string name;
  std::vector<std::string> arguments;
  std::string want;
};

class WrongUseTest : public ::testing::TestWithParam<WrongUseCase> {};

TEST_P(WrongUseTest, ExitsTwoAndSaysWhy) {
  std::vector<std::string> command = GetParam().arguments;
  command.insert(command.begin(), kProgram);
  const auto run = RunProgram(command);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WrongUseTest,
    ::testing::Values(
        WrongUseCase{"NoCommand", {}, "semrank: error: no command"},
        WrongUseCase{"UnknownCommand", {"rnak"}, "did you mean rank?"},
        WrongUseCase{"CommandNotFirst", {"x", "rank"}, "no command 'x'"},
        WrongUseCase{"NoQuery", {"rank", "a"}, "--query=: what to rank"},
        WrongUseCase{"BadQuery",
                     {"rank", "--query=\xff", "a"},
                     "--query=\uFFFD: not valid UTF-8"},
        WrongUseCase{"NoTitles", {"rank", "--query=q"}, "no titles: give"},
        WrongUseCase{"TwiceTitles",
                     {"rank", "--query=q", "--titles=-", "a"},
                     "--titles and arguments: give"},
        WrongUseCase{"BadTopK",
                     {"rank", "--query=q", "--top_k=-1", "a"},
                     "--top_k=-1: want a whole number"},
        WrongUseCase{"NanMinScore",
                     {"rank", "--query=q", "--min_score=nan", "a"},
                     "--min_score=nan: want a number"},
        WrongUseCase{"BadTitle",
                     {"rank", "--query=q", "a\xff"},
                     "argument 1: not valid UTF-8"},
        WrongUseCase{"NoTitleToExplain",
                     {"explain", "--query=q"},
                     "title: give exactly one"},
        WrongUseCase{"TwoTitlesToExplain",
                     {"explain", "--query=q", "--title=a", "b"},
                     "title: give exactly one"},
        WrongUseCase{"NoSide", {"embed", "a"}, "--side=: want query or"},
        WrongUseCase{"NoTexts", {"embed", "--side=query"}, "no texts: give"},
        WrongUseCase{"BadOutput",
                     {"model", "--output=xml"},
                     "--output=xml: want auto, table, tsv or json"},
        WrongUseCase{"OutputFileOfAnotherCommand",
                     {"model", "--output=m.json"},
                     "--output=m.json: want auto, table, tsv or json"},
        WrongUseCase{"OutputFileWithoutTexts",
                     {"embed", "--side=query", "--output=v.npy", "a"},
                     "--output=v.npy: a file of vectors needs --texts"},
        WrongUseCase{"ShardWithoutOutputFile",
                     {"embed", "--side=query", "--shard=1/2", "a"},
                     "--shard=1/2: goes to a file"},
        WrongUseCase{
            "ModelListAndReload", {"model", "--list", "--reload"}, "not both"},
        WrongUseCase{"ModelArgument", {"model", "x"}, "unexpected argument"},
        WrongUseCase{"HealthArgument", {"health", "x"}, "unexpected argument"},
        WrongUseCase{"FlagOfAnotherCommand",
                     {"health", "--query=q"},
                     "semrank health: unknown flag --query"},
        WrongUseCase{"BadAddress",
                     {"health", "--address=localhost"},
                     "--address=localhost: want HOST:PORT"},
        WrongUseCase{"BadDeadline",
                     {"health", "--deadline=0s"},
                     "--deadline=0: must be positive"},
        WrongUseCase{"NoAttempt",
                     {"health", "--max_attempts=0"},
                     "--max_attempts=0: must be at least 1"}),
    [](const auto& test) { return test.param.name; });

TEST(HelpTest, TeachesTheCommandsAndTheirFlags) {
  const auto all = RunProgram({kProgram, "--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.out, AllOf(HasSubstr("Commands:"), HasSubstr("health"),
                             HasSubstr("--address=")));
  const auto rank = RunProgram({kProgram, "rank", "--help"});
  EXPECT_EQ(rank.exit_code, 0);
  EXPECT_THAT(rank.out,
              AllOf(HasSubstr("Examples:"), HasSubstr("--titles="),
                    HasSubstr("--address="), Not(HasSubstr("--side"))));
  EXPECT_THAT(RunProgram({kProgram, "--version"}).out, StartsWith("semrank "));
}

TEST(FullDiskTest, ResultsThatCannotBeWrittenAreAFailure) {
  FakeServer server;
  const auto run =
      RunProgram({"/bin/sh", "-c",
                  std::string(kProgram) + " --address=" + server.address() +
                      " health >/dev/full"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("standard output"));
}

}  // namespace
}  // namespace semrank
