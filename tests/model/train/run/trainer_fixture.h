// Whole training runs on a corpus that takes milliseconds.
#ifndef SEMRANK_TESTS_MODEL_TRAIN_RUN_TRAINER_FIXTURE_H_
#define SEMRANK_TESTS_MODEL_TRAIN_RUN_TRAINER_FIXTURE_H_

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "model/base/random.h"
#include "model/train/run/train.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {

// A corpus whose queries share no word with their titles, so that only what
// was learned from the pairs finds them.
class TrainerTest : public ::testing::Test {
 protected:
  TrainerTest() {
    std::string pairs, queries, docs, qrels;
    for (int i = 0; i < 24; ++i) {
      const std::string query = Word(i) + " " + Word(i + 100);
      const std::string title = Word(i + 200) + " " + Word(i + 300);
      pairs += query + "\t" + title + "\t2\n" + Word(i) + "\t" + title + "\n";
      queries += "q" + std::to_string(i) + "\t" + query + "\n";
      docs += "d" + std::to_string(i) + "\t" + title + "\n";
      qrels += "q" + std::to_string(i) + " 0 d" + std::to_string(i) + " 1\n";
    }
    options_.data.train_files = {dir_.Write("pairs.tsv", pairs)};
    options_.data.model_dir = dir_.File("models/tiny");
    options_.data.valid_queries = dir_.Write("queries.tsv", queries);
    options_.data.valid_docs = dir_.Write("docs.tsv", docs);
    options_.data.valid_qrels = dir_.Write("qrels.txt", qrels);
    options_.tower.hidden_dims = {24};
    options_.tower.embedding_dim = 16;
    options_.optimizer.learning_rate = 0.01;
    options_.batch_size = 16;
    options_.epochs = 20;
    options_.patience = 0;
  }

  // A word of random letters for each number.
  static std::string Word(int number) {
    std::string word;
    Random random(number, RandomPurpose::kPairOrder);
    for (int i = 0; i < 7; ++i) {
      word += static_cast<char>('a' + random.Below(26));
    }
    return word;
  }

  std::string Weights(const TrainingSummary& summary) {
    auto content = ReadFile(summary.version_dir + "/weights.safetensors",
                            std::size_t{1} << 30);
    EXPECT_THAT(content, IsOk());
    return content.ok() ? *content : "";
  }

  std::vector<nlohmann::json> Log() {
    std::ifstream file(options_.data.model_dir + "/training.jsonl");
    std::vector<nlohmann::json> objects;
    for (std::string line; std::getline(file, line);) {
      objects.push_back(nlohmann::json::parse(line));
    }
    return objects;
  }

  TempDir dir_;
  TrainOptions options_ = PlainOptions();
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_TRAIN_RUN_TRAINER_FIXTURE_H_
