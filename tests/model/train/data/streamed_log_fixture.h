// A click log of 3,000 pairs and a memory limit that it does not fit in.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_DATA_STREAMED_LOG_FIXTURE_H_
#define SEMRANK_TESTS_MODEL_TRAIN_DATA_STREAMED_LOG_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "model/train/data/load_training_data.h"
#include "model/train/options/resolve_options.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {

// Pair i is "q<i / 3> TAB t<i>", clicked i % 3 + 1 times; one line in ten is
// bad or has no click.
class StreamedLogTest : public ::testing::Test {
 protected:
  static constexpr int kPairs = 3000;

  StreamedLogTest() {
    std::string lines;
    for (int i = 0; i < kPairs; ++i) {
      lines += "q" + std::to_string(i / 3) + "\tt" + std::to_string(i) + "\t" +
               std::to_string(i % 3 + 1) + "\n";
      if (i % 10 == 0) lines += "q\tnever\t0\n";
      if (i % 500 == 0) lines += "bad line\n";
    }
    options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
    options_.data.model_dir = "unused";
    options_.data.memory_limit = 600'000;
    options_.tower.hidden_dims = {4};
    options_.tower.embedding_dim = 2;
    options_.features.kind = v1::FEATURE_KIND_LETTERS;
    options_.features.ngram_length = 1;
    options_.batch_size = 16;
    options_.data.valid_fraction = 0;
    options_.threads = 1;
  }

  absl::StatusOr<TrainingData> Load() {
    if (!resolved_) {
      EXPECT_THAT(ResolveOptions(options_), IsOk());
    }
    resolved_ = true;
    BadLines bad_lines(100);
    return LoadTrainingData(options_, bad_lines);
  }

  TempDir dir_;
  TrainOptions options_ = PlainOptions();
  bool resolved_ = false;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_DATA_STREAMED_LOG_FIXTURE_H_
