// What every command of `semrank` keeps to: exit codes, wrong use, errors,
// help.
#include "tests/client/commands/cli_test.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "model/base/file_io.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CliTest, HealthSetsTheExitCode) {
  auto run = Run({"health"});
  EXPECT_EQ(run.out, "SERVING\n");
  EXPECT_EQ(run.exit_code, 0);
  server_.SetServing("", false);
  run = Run({"health", "--output=json"});
  EXPECT_EQ(run.out, "{\"service\":\"\",\"status\":\"NOT_SERVING\"}\n");
  EXPECT_EQ(run.exit_code, 1);
  run = Run({"health", "--service=unknown"});
  EXPECT_EQ(run.err,
            "semrank health: error: the server knows no service 'unknown'\n");
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

TEST_F(CliTest, AFileWithoutTitlesIsAFailureThatNamesIt) {
  const std::string empty = dir_.Write("empty.txt", "\n");
  for (const std::string command : {"rank", "load"}) {
    const auto run = Run({command, command == "rank" ? "--query=q" : "--rate=1",
                          "--titles=" + empty});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err,
                HasSubstr("--titles=" + empty + ": contains no titles"));
  }
  EXPECT_EQ(server_.num_calls(), 0);
}

TEST_F(CliTest, PutFailsIfAllLinesWereBad) {
  const std::string documents = dir_.Write("docs.tsv", "1\tcaf\xe9\n");
  auto run = Run({"put", "--documents=" + documents});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("docs.tsv: 1 of its 1 lines cannot be used"));
  run = Run({"put", "--documents=" + documents, "--max_bad_lines=1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, AllOf(HasSubstr("docs.tsv:1: not valid UTF-8"),
                             HasSubstr("docs.tsv: no document was put, 1 bad "
                                       "line was skipped")));
}

TEST_F(CliTest, PutFailsIfMostLinesWereBad) {
  const std::string documents =
      dir_.Write("docs.csv", "id,title\na,b\nc\nd\ne\n");
  const auto run = Run({"put", "--documents=" + documents});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out,
            "1 new, 0 replaced, 0 refused, of 1 document; 3 lines skipped\n");
  EXPECT_THAT(run.err, HasSubstr("docs.csv: 3 of its 5 lines cannot be used"));
}

TEST_F(CliTest, JsonCountsTheSkippedLinesOfAnyFile) {
  const std::string file = dir_.Write("lines.tsv", "1\tcaf\xe9\n2\ttv\n");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{
           {"rank", "--query=q", "--titles=" + file},
           {"load", "--inflight=1", "--duration=1ms", "--warmup=0s",
            "--titles=" + file},
           {"put", "--documents=" + file}}) {
    auto with_json = command;
    with_json.push_back("--output=json");
    const auto run = Run(with_json);
    EXPECT_THAT(run.out, HasSubstr("\"skipped_lines\":1")) << command[0];
    EXPECT_EQ(run.exit_code, 0) << command[0];
  }
}

TEST_F(CliTest, PutFailsIfThereAreNoDocuments) {
  for (const std::string content : {"", "\n"}) {
    const std::string file = dir_.Write("empty.tsv", content);
    const auto run = Run({"put", "--documents=" + file});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err,
                HasSubstr("--documents=" + file + ": contains no documents"));
    // The shard of another machine may have them.
    EXPECT_EQ(Run({"put", "--documents=" + file, "--shard=2/3"}).exit_code, 0);
  }
  const std::string one = dir_.Write("one.tsv", "1\ttv\n");
  EXPECT_EQ(Run({"put", "--documents=" + one, "--skip_lines=1"}).exit_code, 0);
}

// The server may lose what was put when it ends.
TEST_F(CliTest, PutToAServerThatEndsSaysWhetherToContinue) {
  std::string documents;
  for (int i = 0; i < 1'500; ++i) documents += std::to_string(i) + "\ttv\n";
  const std::string file = dir_.Write("docs.tsv", documents);
  const std::string state = dir_.File("state");
  const auto put = [&](const grpc::Status& status, const std::string& flag) {
    server_.EndPuts(status);
    const auto run =
        Run({"put", "--documents=" + file, "--max_attempts=1", flag});
    EXPECT_EQ(run.exit_code, 1);
    return run.err;
  };
  const grpc::Status ended(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  EXPECT_THAT(put(ended, "--numeric_ids"),
              HasSubstr("all documents up to line 1,000 were put: if the "
                        "server keeps them (--store), continue with "
                        "--skip_lines=1000; otherwise begin again\n"));
  EXPECT_THAT(put(ended, "--state=" + state),
              HasSubstr("otherwise remove " + state + " and begin again\n"));
  EXPECT_THAT(put({grpc::StatusCode::INTERNAL, "bug"}, "--numeric_ids"),
              HasSubstr("are put: continue with --skip_lines=1000\n"));
}

// The server ends after line 1,000, and the bad line is after it.
TEST_F(CliTest, PutThatContinuesCountsABadLineOnce) {
  std::string documents;
  for (int i = 0; i < 1'500; ++i) {
    documents += i == 1'200 ? "caf\xe9\n" : std::to_string(i) + "\ttv\n";
  }
  const std::vector<std::string> put = {
      "put",
      "--documents=" + dir_.Write("docs.tsv", documents),
      "--state=" + dir_.File("state"),
      "--max_bad_lines=1",
      "--max_attempts=1",
      "--output=json"};
  server_.EndPuts({grpc::StatusCode::UNAVAILABLE, "Socket closed"});
  EXPECT_EQ(Run(put).exit_code, 1);
  server_.EndPuts(grpc::Status::OK);
  const auto run = Run(put);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"skipped_lines\":1}"));
}

TEST_F(CliTest, SearchRefusesIdsThatBreakARun) {
  const std::string queries =
      dir_.Write("queries.jsonl", R"({"document_id":"q\t1","title":"shoes"})");
  const auto run = Run(
      {"search", "--queries=" + queries, "--run_out=" + dir_.File("live.run")});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--queries="));
}

TEST_F(CliTest, AKeyInPlainTextIsAWarning) {
  const auto warns = [](const std::string& address) {
    // The missing file ends the command before it connects.
    const auto run = RunProgram(
        {kProgram, "--address=" + address, "rank", "--query=q",
         "--titles=/no/such/file"},
        {.environment = {"SEMRANK_API_KEY=0123456789abcdef0123456789abcdef"}});
    EXPECT_THAT(run.err, HasSubstr("/no/such/file"));
    return run.err.find("in plain text") != std::string::npos;
  };
  EXPECT_TRUE(warns("10.0.0.1:50051"));
  EXPECT_FALSE(warns("127.0.0.1:50051"));
  EXPECT_FALSE(warns("unix:/run/semrank.sock"));
}

TEST_F(CliTest, PutStopsAtAQuoteThatIsNotClosed) {
  std::string documents = "id,title\n";
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    documents += i == 5 ? "m5,\"19 inch monitor\n"
                        : "m" + number + ",monitor number " + number + "\n";
  }
  const std::string file = dir_.Write("shop.csv", documents);
  auto run = Run({"put", "--documents=" + file});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out,
            "5 new, 0 replaced, 0 refused, of 5 documents; 35 lines skipped\n");
  EXPECT_THAT(run.err, AllOf(HasSubstr("shop.csv:7: the quote that opens"),
                             HasSubstr("--skip_lines=6")));
  run = Run({"put", "--documents=" + file, "--output=json"});
  EXPECT_EQ(run.out,
            "{\"created\":5,\"replaced\":0,\"refused\":0,"
            "\"skipped_lines\":35}\n");
}

// Lines are not documents: a title has several, the header and empty lines have
// none.
TEST_F(CliTest, ProgressOfPutEndsAtTheWhole) {
  const std::string file =
      dir_.Write("docs.csv", "id,title\n\na,\"1\n2\n3\"\n\nb,4\n\n");
  const auto run = Run({"put", "--documents=" + file});
  EXPECT_THAT(run.err, AllOf(HasSubstr("put [==========] 100 %"),
                             HasSubstr("2 documents")));
}

TEST_F(CliTest, PutCountsSkippedLines) {
  const std::string file = dir_.Write("docs.tsv", "1\tcaf\xe9\n2\ttv\n");
  const auto run = Run({"put", "--documents=" + file});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out,
            "1 new, 0 replaced, 0 refused, of 1 document; 1 line skipped\n");
}

// Under another name, too: what counts is the file.
TEST_F(CliTest, NoOutputIsTheInput) {
  const std::string input = dir_.Write("docs.tsv", "1\ttv\n");
  const std::string other = dir_.Write("other.tsv", "2\tradio\n");
  const std::string link = dir_.File("link.tsv");
  std::filesystem::create_hard_link(input, link);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"put", "--documents=" + input, "--state=" + link},
       "--state would overwrite " + link + ", the file of --documents"},
      {{"embed", "--side=query", "--texts=" + input, "--output=" + link},
       "--output would overwrite " + link + ", the file of --texts"},
      {{"search", "--queries=" + input, "--run_out=" + link},
       "--run_out would overwrite " + link + ", the file of --queries"},
      {{"embed", "--side=query", "--texts=" + other, "--output=" + link,
        "--format=npy"},
       "--output would overwrite " + link + ".ids.partial"}};
  std::filesystem::create_hard_link(other, link + ".ids.partial");
  for (const auto& [arguments, want] : cases) {
    const auto run = Run(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(want));
  }
  const auto from_standard_input = RunProgram(
      {"/bin/sh", "-c",
       std::string(kProgram) + " --address=" + server_.address() +
           " embed --side=query --texts=- --output=" + link + " <" + input});
  EXPECT_EQ(from_standard_input.exit_code, 2);
  EXPECT_EQ(ReadFile(input, 100).value(), "1\ttv\n");
}

TEST_F(CliTest, FlagsComeFromAConfigFile) {
  const std::string config =
      dir_.Write("semrank.toml", "output = json\n[rank]\ntop_k = 1\n");
  const auto run = Run({"rank", "--config=" + config, "--query=q", "a", "b"});
  EXPECT_THAT(run.out, StartsWith("{\"query\":\"q\""));
  EXPECT_EQ(server_.last_rank().top_k(), 1);
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
        WrongUseCase{"NoQuery", {"rank", "a"}, "--query=TEXT is required"},
        WrongUseCase{"BadQuery",
                     {"rank", "--query=\xff", "a"},
                     "--query=\uFFFD: not valid UTF-8"},
        WrongUseCase{"NoTitles", {"rank", "--query=q"}, "no titles: give"},
        WrongUseCase{"TwiceTitles",
                     {"rank", "--query=q", "--titles=-", "a"},
                     "--titles and arguments: give"},
        WrongUseCase{"BadTopK",
                     {"rank", "--query=q", "--top_k=-1", "a"},
                     "--top_k=-1: must be 0 to 4294967295"},
        WrongUseCase{"NanMinScore",
                     {"rank", "--query=q", "--min_score=nan", "a"},
                     "--min_score=nan: must be a finite number"},
        WrongUseCase{"BadTitle",
                     {"rank", "--query=q", "a\xff"},
                     "argument 1: not valid UTF-8"},
        WrongUseCase{"NoTitleToExplain",
                     {"explain", "--query=q"},
                     "title: give exactly one"},
        WrongUseCase{"TwoTitlesToExplain",
                     {"explain", "--query=q", "--title=a", "b"},
                     "title: give exactly one"},
        WrongUseCase{
            "NoSide", {"embed", "a"}, "--side=query or --side=document"},
        WrongUseCase{"NoTexts", {"embed", "--side=query"}, "no texts: give"},
        WrongUseCase{"BadOutput",
                     {"model", "--output=xml"},
                     "--output=xml: must be auto, table, tsv, raw or json"},
        WrongUseCase{"OutputFileOfAnotherCommand",
                     {"model", "--output=m.json"},
                     "--output=m.json: must be auto, table, tsv, raw or json"},
        WrongUseCase{"OutputFileWithoutTexts",
                     {"embed", "--side=query", "--output=v.npy", "a"},
                     "--output=v.npy: a file of vectors needs --texts"},
        WrongUseCase{"ShardWithoutOutputFile",
                     {"embed", "--side=query", "--shard=1/2", "a"},
                     "--format and --shard need --output=FILE"},
        WrongUseCase{"ModelListAndReload",
                     {"model", "--list", "--reload"},
                     "--list and --reload: want at most one"},
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
                     "--deadline=0s: must be above 0"},
        WrongUseCase{"NoAttempt",
                     {"health", "--max_attempts=0"},
                     "--max_attempts=0: must be at least 1"}),
    [](const auto& test) { return test.param.name; });

TEST(HelpTest, ListsTheCommandsAndTheirFlags) {
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
