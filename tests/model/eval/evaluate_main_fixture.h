// semrank-eval, as people and scripts call it, with a small judged collection.
#ifndef SEMRANK_TESTS_MODEL_EVAL_EVALUATE_MAIN_FIXTURE_H_
#define SEMRANK_TESTS_MODEL_EVAL_EVALUATE_MAIN_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace semrank {

class EvaluateMainTest : public ::testing::Test {
 protected:
  EvaluateMainTest() {
    dir_.Write("docs.tsv",
               "d1\tApple pie\nd2\tApple tart with cream\nd3\tBanana bread\n");
    dir_.Write("queries.tsv", "q1\tapple cream\nq2\tbread\nq3\tunjudged\n");
    dir_.Write("qrels.txt",
               "q1 0 d1 1\nq1 0 d2 2\nq1 0 d3 0\nq2 0 d1 1\nq2 0 d3 0\n");
  }

  // semrank-eval with the collection and `flags`.
  ProgramResult Evaluate(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--docs=" + dir_.File("docs.tsv"),
                                 "--queries=" + dir_.File("queries.tsv"),
                                 "--qrels=" + dir_.File("qrels.txt")});
    return Run(std::move(flags));
  }
  ProgramResult Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), SEMRANK_BINARY_DIR "/semrank-eval");
    return RunProgram(std::move(flags));
  }
  void ExpectWrongUse(const std::vector<std::string>& flags,
                      std::string_view message) {
    const ProgramResult result = Evaluate(flags);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, ::testing::HasSubstr(std::string(message)));
    EXPECT_EQ(result.out, "");
  }

  TempDir dir_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_EVAL_EVALUATE_MAIN_FIXTURE_H_
