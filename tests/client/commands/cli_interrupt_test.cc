// Ctrl-C: a command stops cleanly, says how to continue, and leaves no part of
// a file behind.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <utility>

#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CliInterruptTest : public CliTest {
 protected:
  // As Run; Signal then sends the program a signal.
  ProgramResult RunToSignal(std::vector<std::string> arguments) {
    return Run(std::move(arguments),
               {.on_start = [this](pid_t pid) { pid_.set_value(pid); }});
  }
  void Signal() { kill(pid_.get_future().get(), SIGINT); }

  std::string WriteDocuments() {
    std::string documents;
    for (int i = 0; i < 1'500; ++i) documents += std::to_string(i) + "\ttv\n";
    return dir_.Write("docs.tsv", documents);
  }

 private:
  std::promise<pid_t> pid_;
};

TEST_F(CliInterruptTest, PutSaysHowToContinue) {
  server_.HangPuts([this] { Signal(); });
  const auto run = RunToSignal({"put", "--documents=" + WriteDocuments()});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "1,000 new, 0 replaced, 0 refused, of 1,000 documents\n");
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("semrank put: error: interrupted\n"),
                    HasSubstr("all documents up to line 1,000 are put: "
                              "continue with --skip_lines=1000\n")));
}

TEST_F(CliInterruptTest, PutWithAStateContinuesWhereItStopped) {
  server_.HangPuts([this] { Signal(); });
  const std::vector<std::string> put = {"put",
                                        "--documents=" + WriteDocuments(),
                                        "--state=" + dir_.File("state")};
  EXPECT_THAT(RunToSignal(put).err, HasSubstr("the same command continues"));
  server_.HangPuts(nullptr);
  const auto run = Run(put);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "1,500 new, 0 replaced, 0 refused, of 1,500 documents\n");
}

TEST_F(CliInterruptTest, SearchLeavesNoPartOfARun) {
  std::string queries;
  for (int i = 0; i < 1'000; ++i) queries += std::to_string(i) + "\ttv\n";
  const std::string file = dir_.Write("queries.tsv", queries);
  bool signalled = false;
  server_.OnSearch([&](const auto&, auto*) {
    if (!std::exchange(signalled, true)) Signal();
    return grpc::Status::OK;
  });
  const auto run = RunToSignal(
      {"search", "--queries=" + file, "--run_out=" + dir_.File("live.run")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("semrank search: error: interrupted\n"));
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    EXPECT_EQ(entry.path(), file);
  }
}

TEST_F(CliInterruptTest, AnImportLeavesNoFolder) {
  const std::string fifo = dir_.File("queries.jsonl");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // Opening blocks until the program reads the pipe.
  std::ofstream writer;
  const auto run =
      Run({"events", "import", "--ubi_queries=" + fifo, "--ubi_events=" + fifo,
           "--output=" + dir_.File("events")},
          {.on_start = [&](pid_t pid) {
            writer.open(fifo);
            kill(pid, SIGINT);
          }});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("events")));
}

}  // namespace
}  // namespace semrank
