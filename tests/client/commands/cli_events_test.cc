// `semrank events`.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_format.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"
#include "model/events/keyed_hash.h"
#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class CliEventsTest : public CliTest {
 protected:
  // Two lists, one with a click, and an orphan.
  std::string WriteEvents() {
    std::string lines;
    for (const char* id : {"1", "2"}) {
      AppendLine(Impression{.id = id,
                            .time_ms = 1'795'670'482'000,
                            .query = "red shoe",
                            .user = "u",
                            .ranker = "shop/3",
                            .results = {{.document = "7", .title = "shoes"},
                                        {.document = "8", .title = "boots"}}},
                 lines);
    }
    for (const char* id : {"2", "3"}) {
      AppendLine(Event{.impression = id,
                       .kind = "click",
                       .position = 2,
                       .time_ms = 1'795'670'483'000},
                 lines);
    }
    return WriteLines(lines);
  }
  std::string WriteLines(std::string_view lines) {
    std::string frame;
    AppendEventFrame(lines, frame);
    dir_.Write(EventFileName(0, 1), frame);
    return dir_.path();
  }
  ProgramResult Events(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "events");
    return Run(std::move(arguments));
  }
  static std::string ReadFile(const std::string& path) {
    std::stringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }
};

TEST_F(CliEventsTest, JoinWritesRowsAndSaysWhatWasDropped) {
  const std::string folder = WriteEvents();
  const std::string rows = dir_.File("rows");
  const ProgramResult result = Events({"join", folder, "--output=" + rows});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadFile(rows),
            "red shoe\tshoes\t0\t2\t1\nred shoe\tboots\t1\t2\t2\n");
  EXPECT_THAT(result.out, AllOf(HasSubstr("lists\t2\n"),
                                HasSubstr("dropped orphan clicks\t1\n"),
                                HasSubstr("rows\t2\n")));
  EXPECT_THAT(result.err, HasSubstr("changed position"));
}

TEST_F(CliEventsTest, JoinReplacesNoFileOfTheEvents) {
  const std::string folder = WriteEvents();
  const std::string titles = dir_.Write("docs.tsv", "7\tshoes\n");
  dir_.Write(std::string(KeyedHash::kKeyFile), "secret");
  const std::string events = dir_.File(EventFileName(0, 1));
  const std::string before = ReadFile(events);
  for (const std::string& output :
       {events, dir_.File(std::string(KeyedHash::kKeyFile)), titles}) {
    const ProgramResult result =
        Events({"join", folder, "--titles=" + titles, "--output=" + output});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--output would overwrite " + output));
  }
  EXPECT_EQ(Events({"join", events, "--output=" + events}).exit_code, 2);
  EXPECT_EQ(ReadFile(events), before);
}

TEST_F(CliEventsTest, StatsAreTablesOrJson) {
  const std::string folder = WriteEvents();
  EXPECT_THAT(Events({"stats", folder}).out,
              AllOf(HasSubstr("click\t2\n"),
                    HasSubstr("shop/3\t2\t1\t0.5000\t0.0000\t0.5000\t0.5000\n"),
                    HasSubstr("2\t2\t1\t0.5000\n")));
  const Json json = Json::parse(Events({"stats", folder, "--format=json"}).out);
  EXPECT_EQ(json["lists"], 2);
  EXPECT_EQ(json["dropped_orphan_clicks"], 1);
  EXPECT_EQ(json["first"], "2026-11-26T05:21:22+00:00");
  EXPECT_EQ(json["models"][0]["clicked"], 0.5);
  EXPECT_EQ(json["positions"][1]["clicks"], 1);
  EXPECT_EQ(Json::parse(
                Events({"stats", folder, "--until=2026-11-26", "--output=json"})
                    .out)["lists"],
            0);
}

TEST_F(CliEventsTest, CompareKnowsNoHorizonBeforeASessionHasAWinner) {
  std::string lines;
  AppendLine(Impression{.id = "1",
                        .ranker_a = "new/2",
                        .ranker_b = "old/1",
                        .results = {{.title = "x", .team = 'a'}}},
             lines);
  const std::string folder = WriteLines(lines);
  const Json json =
      Json::parse(Events({"compare", folder, "--format=json"}).out);
  EXPECT_TRUE(json["pairs"][0]["horizon"].is_null());
  EXPECT_THAT(Events({"compare", folder}).out, HasSubstr("\t1.0000\t\n"));
}

TEST_F(CliEventsTest, CompareCountsSessionsAndWarnsOfPeeking) {
  std::string lines;
  for (int i = 0; i < 30; ++i) {
    const std::string id = absl::StrFormat("%d", i);
    AppendLine(Impression{.id = id,
                          .ranker_a = "new/2",
                          .ranker_b = "old/1",
                          .results = {{.title = "x", .team = 'a'},
                                      {.title = "y", .team = 'b'}}},
               lines);
    AppendLine(Event{.impression = id,
                     .kind = "click",
                     .position = i % 10 == 0 ? 2U : 1U},
               lines);
  }
  const std::string folder = WriteLines(lines);
  EXPECT_THAT(Events({"compare", folder}).err, HasSubstr("look once"));
  const Json json =
      Json::parse(Events({"compare", folder, "--format=json"}).out);
  const Json& pair = json["pairs"][0];
  EXPECT_EQ(pair["model"], "new/2");
  EXPECT_EQ(pair["wins"], 27);
  EXPECT_EQ(pair["losses"], 3);
  EXPECT_EQ(pair["share"], 0.9);
  EXPECT_LT(pair["p"], 0.001);
  EXPECT_EQ(pair["horizon"], 783);
  EXPECT_EQ(Events({"compare", WriteEvents()}).exit_code, 1);
}

TEST_F(CliEventsTest, HelpOfAnActionHasItsFlagsAlone) {
  const std::string join = Events({"join", "--help"}).out;
  EXPECT_THAT(join, AllOf(HasSubstr("semrank events join DIR..."),
                          HasSubstr("--window="), HasSubstr("--output="),
                          HasSubstr("--max_bad_lines=")));
  EXPECT_THAT(join, Not(AnyOf(HasSubstr("--user="), HasSubstr("--address="),
                              HasSubstr("--stream="))));
  const std::string removal = Events({"--help", "delete"}).out;
  EXPECT_THAT(removal, HasSubstr("--user="));
  EXPECT_THAT(removal, Not(HasSubstr("--window=")));
  EXPECT_THAT(Events({"--help"}).out,
              AllOf(HasSubstr("--user="), HasSubstr("--window=")));
}

TEST_F(CliEventsTest, ImportNamesWhatItsStreamLacks) {
  const std::string folder = "--output=" + dir_.File("out");
  EXPECT_THAT(Events({"import", "--stream=redis://u:secret@h/", folder}).err,
              AllOf(HasSubstr("--stream=redis://***@h/: must end with the name "
                              "of a stream"),
                    Not(HasSubstr("secret"))));
  EXPECT_THAT(Events({"import", "--stream=folder", folder}).err,
              HasSubstr("--stream=folder: must be redis://"));
  EXPECT_THAT(Events({"import", "--stream=redis://h/s"}).err,
              HasSubstr("--output=DIR is required"));
  const ProgramResult away =
      Events({"import", "--stream=redis://127.0.0.1:1/s", folder});
  EXPECT_EQ(away.exit_code, 1);
  EXPECT_THAT(away.err,
              HasSubstr("redis://127.0.0.1:1/0/s: Connection refused"));
}

TEST_F(CliEventsTest, AnImportThatFailsLeavesNoFolder) {
  const std::string folder = dir_.File("new/out");
  const std::vector<std::string> import = {"import", "--output=" + folder};
  const auto from = [&](std::vector<std::string> sources) {
    sources.insert(sources.begin(), import.begin(), import.end());
    EXPECT_EQ(Events(std::move(sources)).exit_code, 1);
  };
  from({"--stream=redis://127.0.0.1:1/s"});
  EXPECT_FALSE(std::filesystem::exists(dir_.File("new")));
  from({"--ubi_queries=/no/file", "--ubi_events=/no/file"});
  EXPECT_FALSE(std::filesystem::exists(dir_.File("new")));
  // The folder of an earlier import stays as it is.
  std::filesystem::create_directories(folder);
  from({"--stream=redis://127.0.0.1:1/s"});
  EXPECT_TRUE(std::filesystem::exists(folder + "/lock"));
}

TEST_F(CliEventsTest, ImportHasOneSource) {
  const auto error = [this](std::vector<std::string> arguments,
                            const ProgramOptions& options = {}) {
    arguments.insert(arguments.begin(), {"events", "import"});
    arguments.push_back("--output=" + dir_.File("out"));
    const ProgramResult result = Run(std::move(arguments), options);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  const auto has_both =
      AllOf(HasSubstr("--ubi_events"), HasSubstr("SEMRANK_STREAM"));
  EXPECT_THAT(error({"--stream=redis://127.0.0.1:1/s", "--ubi_queries=q"}),
              has_both);
  EXPECT_THAT(error({"--ubi_queries=q", "--ubi_events=e"},
                    {.environment = {"SEMRANK_STREAM=redis://127.0.0.1:1/s"}}),
              has_both);
  const auto needs_kafka = HasSubstr("--kafka_config=f: needs --stream=kafka:");
  EXPECT_THAT(error({"--stream=redis://127.0.0.1:1/s", "--kafka_config=f"}),
              needs_kafka);
  EXPECT_THAT(error({"--ubi_queries=q", "--ubi_events=e", "--kafka_config=f"}),
              needs_kafka);
  EXPECT_THAT(error({"--stream=kafak:h/t", "--kafka_config=f"}),
              HasSubstr("--stream=kafak:h/t: must be redis://"));
}

TEST_F(CliEventsTest, DeleteRemovesAUser) {
  std::string lines;
  ASSERT_TRUE(KeyedHash::OpenOrCreate(dir_.path()).ok());
  const auto hash = KeyedHash::Open(dir_.path());
  AppendLine(Impression{.id = "1", .user = (*hash)(HashedKind::kUser, "ann")},
             lines);
  const std::string folder = WriteLines(lines);
  EXPECT_EQ(Events({"delete", "--user=ann", folder}).out,
            "deleted impressions\t1\ndeleted events\t0\nrewritten files\t1\n");
}

TEST_F(CliEventsTest, DeleteNamesWhatItsStreamLacks) {
  const auto error = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"delete", "--user=ann"});
    const ProgramResult result = Events(std::move(arguments));
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error({}), HasSubstr("one folder"));
  EXPECT_THAT(error({"--stream=kafka:h/t"}),
              HasSubstr("--stream=kafka:h/t: no record of Kafka can be "
                        "deleted: all are removed"));
  const ProgramResult without_user = Events({"delete", "--stream=kafka:h/t"});
  EXPECT_EQ(without_user.exit_code, 2);
  EXPECT_THAT(without_user.err, HasSubstr("no record of Kafka"));
  EXPECT_THAT(error({"--stream=redis://h/s"}), HasSubstr("--events_key=FILE"));
  EXPECT_THAT(error({"--stream=redis://h/s", dir_.path()}),
              HasSubstr("a folder or --stream"));
}

TEST_F(CliEventsTest, ImportedUbiIsJoinedWithTitlesOfAFile) {
  const std::string queries = dir_.Write(
      "queries.ndjson",
      R"({"query_id": "q", "user_query": "tent", "timestamp": 1700000000000,)"
      R"( "query_response_hit_ids": ["7"]})"
      "\n");
  const std::string events = dir_.Write(
      "events.ndjson",
      R"({"query_id": "q", "action_name": "click_through", "timestamp":)"
      R"( 1700000001000, "event_attributes": {"position": {"ordinal": 1}}})"
      "\n");
  const std::string folder = dir_.File("out");
  EXPECT_EQ(Events({"import", "--ubi_queries=" + queries,
                    "--ubi_events=" + events, "--output=" + folder})
                .exit_code,
            0);
  const std::string titles = dir_.Write("titles.tsv", "7\tdome tent\n");
  const std::string rows = dir_.File("rows.tsv");
  EXPECT_EQ(Events({"join", folder, "--titles=" + titles, "--output=" + rows})
                .exit_code,
            0);
  EXPECT_EQ(ReadFile(rows), "tent\tdome tent\t1\t1\t1\n");
}

TEST_F(CliEventsTest, WrongUseIsExplained) {
  const auto error = [this](std::vector<std::string> arguments) {
    const ProgramResult result = Events(std::move(arguments));
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error({}), HasSubstr("there is stats, join"));
  EXPECT_THAT(error({"merge", "x"}), HasSubstr("semrank events merge"));
  EXPECT_THAT(error({"join"}), HasSubstr("no folder of events"));
  EXPECT_THAT(error({"join", "x"}), HasSubstr("--output=FILE is required"));
  EXPECT_THAT(error({"stats", "x", "--output=y"}), HasSubstr("--output=y"));
  EXPECT_THAT(error({"stats", "x", "--user=y"}), HasSubstr("for delete"));
  EXPECT_THAT(error({"stats", "x", "--since=May"}), HasSubstr("2026-11-01"));
  EXPECT_THAT(error({"delete", "x"}), HasSubstr("--user=ID is required"));
  EXPECT_THAT(error({"delete", "--user=u", "x", "y"}), HasSubstr("own key"));
  EXPECT_THAT(error({"import"}), HasSubstr("--ubi_queries"));
}

TEST_F(CliEventsTest, HelpTeachesEveryAction) {
  const ProgramResult help = Events({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"stats", "join", "compare", "delete", "import"}) {
    EXPECT_THAT(help.out, HasSubstr(absl::StrFormat("  %s ", word)));
  }
}

}  // namespace
}  // namespace semrank
