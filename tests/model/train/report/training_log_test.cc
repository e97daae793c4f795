#include "model/train/report/training_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

EpochRecord Record() {
  EpochRecord record;
  record.epoch = 3;
  record.num_pairs = 1000;
  record.seconds = 0.5;
  record.learning_rate = 0.125;
  record.peak_memory_bytes = 1 << 25;
  record.train_loss = 1.25;
  return record;
}

MetricValues Metrics() {
  MetricValues metrics{};
  metrics[kNdcgAt10] = 0.5;
  return metrics;
}

std::vector<nlohmann::json> ReadLog(const TempDir& dir) {
  std::ifstream file(dir.File("model/training.jsonl"));
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(file, line);) {
    objects.push_back(nlohmann::json::parse(line));
  }
  return objects;
}

TEST(FormatEpochJsonTest, HasTheFieldsThatToolsRead) {
  EpochRecord record = Record();
  record.gradient_norm = 0.25;
  record.validation = {.loss = 2.5, .metrics = Metrics()};
  record.best = true;
  const auto json = nlohmann::json::parse(
      FormatEpochJson(record, absl::FromUnixSeconds(1700000000), 3));
  EXPECT_EQ(json["run"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(json["epoch"], 3);
  EXPECT_EQ(json["pairs"], 1000);
  EXPECT_EQ(json["seconds"], 0.5);
  EXPECT_EQ(json["pairs_per_second"], 2000);
  EXPECT_EQ(json["learning_rate"], 0.125);
  EXPECT_EQ(json["peak_memory_bytes"], 1 << 25);
  EXPECT_EQ(json["train_loss"], 1.25);
  EXPECT_EQ(json["gradient_norm"], 0.25);
  EXPECT_EQ(json["valid_loss"], 2.5);
  EXPECT_EQ(json["ndcg@10"], 0.5);
  EXPECT_EQ(json["best"], true);
  EXPECT_EQ(json["skipped_lines"], 3);
}

TEST(FormatEpochJsonTest, LeavesOutWhatWasNotMeasured) {
  const auto json = nlohmann::json::parse(
      FormatEpochJson(Record(), absl::FromUnixSeconds(0), 3));
  EXPECT_FALSE(json.contains("gradient_norm"));
  EXPECT_FALSE(json.contains("valid_loss"));
  EXPECT_FALSE(json.contains("ndcg@10"));
}

TEST(FormatEpochJsonTest, HasTheScoresOfBothHalvesForTuning) {
  EpochRecord record = Record();
  record.validation = {.loss = 2.5,
                       .metrics = std::nullopt,
                       .measure = EpochMeasure::kLoss,
                       .folds = FoldScores{{{-2.25, 10}, {-2.75, 10}}}};
  EXPECT_EQ(nlohmann::json::parse(
                FormatEpochJson(record, absl::FromUnixSeconds(0), 3))["halves"],
            (nlohmann::json{{"measure", "valid_loss"},
                            {"scores", {-2.25, -2.75}},
                            {"weights", {10, 10}}}));
}

TEST(FormatEpochTextTest, SaysWhatIsKnown) {
  EpochRecord record = Record();
  EXPECT_EQ(FormatEpochText(record), "epoch 3: loss 1.2500");
  record.validation = {.loss = 2.5, .metrics = Metrics()};
  record.best = true;
  EXPECT_THAT(FormatEpochText(record),
              HasSubstr("validation loss 2.5000, NDCG@1 0.0000"));
}

TEST(TrainingLogTest, CreatesTheFolderAndWritesALineAnEpoch) {
  TempDir dir;
  ASSERT_OK_AND_ASSIGN(const auto log, TrainingLog::Open(dir.File("model"), 0));
  ASSERT_THAT(log->Append(Record(), absl::UnixEpoch()), IsOk());
  // Readable before the log is closed.
  EXPECT_EQ(ReadLog(dir).size(), 1u);
  ASSERT_THAT(log->Append(Record(), absl::UnixEpoch()), IsOk());
  EXPECT_EQ(ReadLog(dir).size(), 2u);
}

TEST(TrainingLogTest, KeepsTheLinesOfEarlierRuns) {
  TempDir dir;
  for (int run = 0; run < 2; ++run) {
    ASSERT_OK_AND_ASSIGN(const auto log,
                         TrainingLog::Open(dir.File("model"), 0));
    ASSERT_THAT(log->Append(Record(), absl::UnixEpoch()), IsOk());
  }
  EXPECT_EQ(ReadLog(dir).size(), 2u);
}

TEST(TrainingLogTest, WhatCouldNotBeWrittenIsWrittenLater) {
  TempDir dir;
  ASSERT_OK_AND_ASSIGN(const auto log, TrainingLog::Open(dir.File("model"), 0));
  {
    const FullDisk full_disk(10);
    EXPECT_THAT(log->Append(Record(), absl::UnixEpoch()), Not(IsOk()));
  }
  ASSERT_THAT(log->Append(Record(), absl::UnixEpoch()), IsOk());
  std::ifstream file(dir.File("model/training.jsonl"));
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line.size(), 10u);
  for (int record = 0; record < 2; ++record) {
    std::getline(file, line);
    EXPECT_EQ(nlohmann::json::parse(line)["epoch"], 3);
  }
  EXPECT_FALSE(std::getline(file, line));
}

TEST(TrainingLogTest, FolderThatCannotBeMadeIsNamed) {
  TempDir dir;
  const std::string file = dir.Write("file", "x");
  const auto log = TrainingLog::Open(file + "/model", 0);
  EXPECT_FALSE(log.ok());
  EXPECT_THAT(std::string(log.status().message()), HasSubstr(file + "/model"));
  EXPECT_THAT(TrainingLog::Open(file, 0).status(), Not(IsOk()));
}

TEST(TrainingLogTest, ASymbolicLinkIsNotFollowed) {
  const TempDir dir;
  const std::string target = dir.Write("notes", "x");
  std::filesystem::create_symlink(target, dir.File("training.jsonl"));
  EXPECT_THAT(TrainingLog::Open(dir.path(), 0).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("a symbolic link")));
}

TEST(LossGrowthTest, IsTwoEpochsInARowAboveTheFirst) {
  const auto is_growing = [](const std::vector<double>& losses) {
    std::vector<EpochRecord> epochs;
    for (const double loss : losses) epochs.emplace_back().train_loss = loss;
    return DescribeLossGrowth(epochs, 0.5).has_value();
  };
  EXPECT_FALSE(is_growing({}));
  EXPECT_FALSE(is_growing({1, 2}));
  EXPECT_TRUE(is_growing({1, 2, 1.5}));
  EXPECT_FALSE(is_growing({1, 2, 1}));
  EXPECT_FALSE(is_growing({1, 2, 0.5, 2}));
  EXPECT_TRUE(is_growing({1, 0.5, 2, 2}));
  EXPECT_FALSE(is_growing({3, 1, 2}));
}

TEST(TrainingLogTest, LeavesNoProbeBehind) {
  TempDir dir;
  ASSERT_OK_AND_ASSIGN(const auto log, TrainingLog::Open(dir.path(), 0));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    EXPECT_EQ(entry.path().filename(), "training.jsonl");
    ++files;
  }
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace semrank
