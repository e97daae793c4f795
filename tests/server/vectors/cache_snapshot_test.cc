#include "server/vectors/cache_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "model/base/file_io.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::size_t kLargeCache = std::size_t{32} << 20;
constexpr int kNumTexts = 200;
// Where the first byte of each part lies.
constexpr std::size_t kFormatAt = 8;
constexpr std::size_t kSecretAt = 16;
constexpr std::size_t kFirstModelAt = kSecretAt + Fingerprinter::kSecretBytes;

ServedModelPtr Model(std::uint32_t number, int dim, std::uint32_t seed) {
  return std::make_shared<ServedModel>(
      ServedModel{MakeTinyModel({.embedding_dim = dim, .seed = seed}), number});
}

std::unique_ptr<DocumentVectorCache> Cache(std::size_t capacity_bytes) {
  return DocumentVectorCache::Create(capacity_bytes).value();
}

std::vector<VectorKey> Keys(const ServedModelPtr& model) {
  std::vector<VectorKey> keys;
  for (std::uint64_t i = 0; i < kNumTexts; ++i) {
    keys.push_back({model->number,
                    Side::kDocument,
                    {i * 0xbf58476d1ce4e5b9, i * 0x9e3779b97f4a7c15}});
  }
  return keys;
}

// Number j of text i.
float Value(int i, int j) { return static_cast<float>(i) + 0.25f * j; }

void Fill(const ServedModelPtr& model, DocumentVectorCache& cache) {
  const int dim = model->model->embedding_dim();
  std::vector<float> rows;
  for (int i = 0; i < kNumTexts; ++i) {
    for (int j = 0; j < dim; ++j) rows.push_back(Value(i, j));
  }
  cache.Insert(Keys(model), dim, rows.data());
}

// How many of the texts are there, each with its own numbers.
int Count(const ServedModelPtr& model, DocumentVectorCache& cache) {
  const int dim = model->model->embedding_dim();
  std::vector<float> rows(kNumTexts * dim);
  std::vector<std::uint8_t> found(kNumTexts);
  const int count = cache.Find(Keys(model), dim, rows.data(), found);
  for (int i = 0; i < kNumTexts; ++i) {
    for (int j = 0; j < dim && found[i] != 0; ++j) {
      EXPECT_EQ(rows[i * dim + j], Value(i, j)) << i << ", " << j;
    }
  }
  return count;
}

class CacheSnapshotTest : public ::testing::Test {
 protected:
  CacheSnapshotTest() {
    Fill(small_, *cache_);
    Fill(large_, *cache_);
  }
  absl::StatusOr<std::int64_t> Write(const std::string& path) {
    return WriteCacheSnapshot(path, secret_, std::vector{small_, large_},
                              *cache_, [] { return false; });
  }
  std::string WrittenBytes() {
    EXPECT_THAT(Write(path_), IsOk());
    return ReadFile(path_, std::size_t{1} << 20).value();
  }
  // Files in the folder.
  int NumFiles() const {
    int count = 0;
    for ([[maybe_unused]] const auto& file :
         std::filesystem::directory_iterator(dir_.path())) {
      ++count;
    }
    return count;
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("cache");
  const Fingerprinter::Secret secret_ = Fingerprinter::RandomSecret();
  const ServedModelPtr small_ = Model(3, 8, 1);
  const ServedModelPtr large_ = Model(7, 21, 2);
  const std::unique_ptr<DocumentVectorCache> cache_ = Cache(kLargeCache);
};

TEST_F(CacheSnapshotTest, EveryVectorComesBackUnderNewNumbersOfTheModels) {
  ASSERT_OK_AND_ASSIGN(const std::int64_t written, Write(path_));
  EXPECT_EQ(written, 2 * kNumTexts);
  ASSERT_OK_AND_ASSIGN(const CacheSnapshot snapshot,
                       CacheSnapshot::Open(path_));
  EXPECT_EQ(snapshot.num_vectors(), 2 * kNumTexts);
  EXPECT_EQ(snapshot.secret(), secret_);
  const ServedModelPtr small = Model(0, 8, 1);
  const ServedModelPtr large = Model(3, 21, 2);
  const auto cache = Cache(kLargeCache);
  ASSERT_OK_AND_ASSIGN(const std::int64_t restored,
                       snapshot.Restore(std::vector{large, small}, *cache));
  EXPECT_EQ(restored, 2 * kNumTexts);
  EXPECT_EQ(Count(small, *cache), kNumTexts);
  EXPECT_EQ(Count(large, *cache), kNumTexts);
}

TEST_F(CacheSnapshotTest, VectorsOfOtherModelsAreLeftOut) {
  ASSERT_THAT(Write(path_), IsOk());
  const auto cache = Cache(kLargeCache);
  const ServedModelPtr other = Model(3, 8, 5);
  ASSERT_OK_AND_ASSIGN(const CacheSnapshot snapshot,
                       CacheSnapshot::Open(path_));
  ASSERT_OK_AND_ASSIGN(const std::int64_t restored,
                       snapshot.Restore(std::vector{other, large_}, *cache));
  EXPECT_EQ(restored, kNumTexts);
  EXPECT_EQ(Count(other, *cache), 0);
}

TEST_F(CacheSnapshotTest, VectorsOfModelsThatLeftAreNotWritten) {
  ASSERT_OK_AND_ASSIGN(const std::int64_t written,
                       WriteCacheSnapshot(path_, secret_, std::vector{small_},
                                          *cache_, [] { return false; }));
  EXPECT_EQ(written, kNumTexts);
}

TEST_F(CacheSnapshotTest, ASmallerCacheTakesWhatItHoldsTheNewestOfAShard) {
  ASSERT_THAT(Write(path_), IsOk());
  ASSERT_OK_AND_ASSIGN(const CacheSnapshot snapshot,
                       CacheSnapshot::Open(path_));
  const auto cache = Cache(std::size_t{8} << 10);
  ASSERT_OK_AND_ASSIGN(const std::int64_t restored,
                       snapshot.Restore(std::vector{small_, large_}, *cache));
  EXPECT_GT(restored, 30);
  EXPECT_EQ(restored, Count(small_, *cache) + Count(large_, *cache));
  const auto none = Cache(0);
  EXPECT_EQ(snapshot.Restore(std::vector{small_}, *none).value(), 0);
}

TEST_F(CacheSnapshotTest, AnyFlippedByteIsRefusedAndNothingOfItUsed) {
  const std::string bytes = WrittenBytes();
  for (std::size_t at = 0; at < bytes.size(); at += at < 512 ? 3 : 131) {
    std::string damaged = bytes;
    damaged[at] ^= 0x40;
    const std::string path = dir_.Write("damaged", damaged);
    EXPECT_THAT(
        CacheSnapshot::Open(path),
        AnyOf(StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(path))))
        << at;
  }
}

TEST_F(CacheSnapshotTest, AFileCutShortOrWithMoreBehindItIsRefused) {
  const std::string bytes = WrittenBytes();
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    EXPECT_FALSE(
        CacheSnapshot::Open(dir_.Write("cut", bytes.substr(0, size))).ok())
        << size;
  }
  EXPECT_THAT(CacheSnapshot::Open(dir_.Write("long", bytes + "x")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("goes on")));
}

TEST_F(CacheSnapshotTest, HugeCountsAreRefusedBeforeMemoryIsTaken) {
  for (const std::size_t at : {kFormatAt, kFormatAt + 4, kFirstModelAt}) {
    std::string bytes = WrittenBytes();
    bytes.replace(at, 4, "\xff\xff\xff\x7f");
    EXPECT_FALSE(CacheSnapshot::Open(dir_.Write("huge", bytes)).ok()) << at;
  }
}

TEST_F(CacheSnapshotTest, AFileThatChangesAfterItWasOpenedLeavesNothing) {
  std::string bytes = WrittenBytes();
  ASSERT_OK_AND_ASSIGN(const CacheSnapshot snapshot,
                       CacheSnapshot::Open(path_));
  bytes[bytes.size() / 2] ^= 1;
  dir_.Write("cache", bytes);
  const auto cache = Cache(kLargeCache);
  EXPECT_THAT(snapshot.Restore(std::vector{small_, large_}, *cache),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(cache->GetStats().num_entries, 0u);
}

TEST_F(CacheSnapshotTest, WhatIsNotASnapshotIsNeitherReadNorReplaced) {
  const std::string text = dir_.Write("notes.txt", "remember the milk");
  for (const std::string& path :
       {text, dir_.path(), std::string("/dev/full")}) {
    EXPECT_FALSE(CacheSnapshot::Open(path).ok()) << path;
    EXPECT_FALSE(Write(path).ok()) << path;
  }
  EXPECT_EQ(ReadFile(text, 100).value(), "remember the milk");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(CacheSnapshotTest, ADamagedSnapshotIsReplacedByTheNext) {
  const std::string bytes = WrittenBytes();
  dir_.Write("cache", bytes.substr(0, 1000));
  ASSERT_THAT(CacheSnapshot::Open(path_),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Write(path_), IsOk());
  EXPECT_THAT(CacheSnapshot::Open(path_), IsOk());
}

TEST_F(CacheSnapshotTest, OnlyTheOwnerMayReadIt) {
  ASSERT_THAT(Write(path_), IsOk());
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(CacheSnapshotTest, AFullDiskOrAStopLeavesTheOldFileAndNoOther) {
  const std::string bytes = WrittenBytes();
  EXPECT_THAT(WriteCacheSnapshot(path_, secret_, std::vector{small_}, *cache_,
                                 [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled));
  rlimit old_limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit limit = {4096, old_limit.rlim_max};
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status = Write(path_).status();
  setrlimit(RLIMIT_FSIZE, &old_limit);
  signal(SIGXFSZ, old_handler);
  EXPECT_THAT(status, testing::Not(IsOk()));
  EXPECT_EQ(ReadFile(path_, std::size_t{1} << 20).value(), bytes);
  EXPECT_EQ(NumFiles(), 1);
}

}  // namespace
}  // namespace semrank
