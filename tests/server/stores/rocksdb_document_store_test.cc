#include "server/stores/rocksdb_document_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "tests/support/full_disk.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kDim = 4;
constexpr VectorSpace kSpace = {"model a", Side::kDocument, kDim};

std::vector<float> RowOf(float first) {
  return {first, first + .25f, -first, 0};
}

class RocksDbDocumentStoreTest : public ::testing::Test {
 protected:
  RocksDbDocumentStoreTest() { Reopen(); }

  auto Open() { return RocksDbDocumentStore::Open({.path = path_}); }
  void Reopen() {
    store_.reset();
    auto store = Open();
    ASSERT_THAT(store, IsOk());
    store_ = *std::move(store);
  }
  void Write(const VectorSpace& space, std::string_view text, float first) {
    EXPECT_THAT(store_->WriteVectors(space, {&text, 1}, RowOf(first).data()),
                IsOk());
  }
  std::optional<std::vector<float>> Find(const VectorSpace& space,
                                         std::string_view text) {
    std::vector<float> row(space.dim);
    std::uint8_t found = 0;
    const auto result = store_->FindVectors(space, {&text, 1}, absl::Seconds(9),
                                            row.data(), {&found, 1});
    EXPECT_THAT(result, IsOk());
    if (found == 0) return std::nullopt;
    return row;
  }
  void Put(DocumentKeyView key, std::string_view title) {
    const std::vector<float> vector = RowOf(1);
    const StoredDocument document = {key, title, "payload", "m", vector};
    EXPECT_THAT(store_->PutDocuments({&document, 1}), IsOk());
  }
  // Titles by key, numbers as "#7".
  std::map<std::string, std::string> Titles() {
    std::map<std::string, std::string> titles;
    EXPECT_THAT(store_->LoadDocuments([&](const StoredDocument& document) {
      const auto* number = std::get_if<std::uint64_t>(&document.key);
      const std::string key(number == nullptr
                                ? std::get<std::string_view>(document.key)
                                : "#" + std::to_string(*number));
      titles[key] = document.title;
      EXPECT_EQ(document.payload, "payload");
      EXPECT_EQ(document.model, "m");
      EXPECT_TRUE(std::ranges::equal(document.vector, RowOf(1)));
      return absl::OkStatus();
    }),
                IsOk());
    return titles;
  }
  // The first file of the database whose name ends so.
  std::string FileWithEnd(std::string_view end) {
    for (const auto& entry :
         std::filesystem::directory_iterator(path_ + "/rocksdb")) {
      if (entry.path().string().ends_with(end) && entry.file_size() > 0) {
        return entry.path();
      }
    }
    ADD_FAILURE() << "no file *" << end;
    return "";
  }
  static void FlipByte(const std::string& file, std::int64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char byte = static_cast<char>(stream.get() ^ 0x40);
    stream.seekp(at);
    stream.put(byte);
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("store");
  std::unique_ptr<RocksDbDocumentStore> store_;
};

TEST_F(RocksDbDocumentStoreTest, VectorsAndDocumentsAreThereAfterARestart) {
  Write(kSpace, "blue shoes", 1);
  Put(std::uint64_t{7}, "seven");
  Put("7", "named seven");
  Reopen();
  EXPECT_EQ(Find(kSpace, "blue shoes"), RowOf(1));
  EXPECT_EQ(Titles(), (std::map<std::string, std::string>{
                          {"#7", "seven"}, {"7", "named seven"}}));
}

TEST_F(RocksDbDocumentStoreTest, AVectorIsOfItsModelSideTextAndSizeAlone) {
  Write(kSpace, "text", 1);
  EXPECT_EQ(Find({"model b", Side::kDocument, kDim}, "text"), std::nullopt);
  EXPECT_EQ(Find({"model a", Side::kQuery, kDim}, "text"), std::nullopt);
  EXPECT_EQ(Find(kSpace, "other text"), std::nullopt);
  EXPECT_EQ(Find({"model a", Side::kDocument, kDim + 1}, "text"), std::nullopt);
}

TEST_F(RocksDbDocumentStoreTest, ABatchFindsWhatIsThereAndLeavesTheOtherRows) {
  Write(kSpace, "one", 1);
  Write(kSpace, "three", 3);
  const std::vector<std::string_view> texts = {"one", "two", "three"};
  std::vector<float> rows(3 * kDim, 99);
  std::vector<std::uint8_t> found(3, 7);
  const auto result =
      store_->FindVectors(kSpace, texts, absl::Seconds(9), rows.data(), found);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->num_found, 2);
  EXPECT_THAT(found, ElementsAre(1, 0, 1));
  EXPECT_EQ(rows[kDim], 99);
  EXPECT_EQ(rows[2 * kDim], 3);
}

TEST_F(RocksDbDocumentStoreTest, DeletedAndReplacedDocumentsStaySo) {
  Put("a", "first");
  Put("a", "second");
  Put("b", "third");
  const DocumentKeyView keys[] = {"b", std::uint64_t{5}};
  EXPECT_THAT(store_->DeleteDocuments(keys), IsOk());
  Reopen();
  EXPECT_EQ(Titles(), (std::map<std::string, std::string>{{"a", "second"}}));
}

TEST_F(RocksDbDocumentStoreTest, TheVisitorsErrorEndsTheLoad) {
  Put("a", "title");
  EXPECT_THAT(store_->LoadDocuments([](const StoredDocument&) {
    return absl::ResourceExhaustedError("full");
  }),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(RocksDbDocumentStoreTest, ASecondOpenIsRefusedByName) {
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rocksdb:" + path_ + ": another process"));
}

TEST_F(RocksDbDocumentStoreTest, AFolderOfSomebodyElseIsRefusedUntouched) {
  const TempDir other;
  other.Write("precious", "data");
  EXPECT_THAT(RocksDbDocumentStore::Open({.path = other.path()}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(other.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST_F(RocksDbDocumentStoreTest, AnotherFormatIsRefusedAndNamed) {
  store_.reset();
  std::ofstream(path_ + "/FORMAT") << "semrank store 2\n";
  const absl::Status status = Open().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(status.message()), HasSubstr("semrank store 2"));
}

TEST_F(RocksDbDocumentStoreTest, AFolderWithoutAParentIsNotFound) {
  EXPECT_THAT(RocksDbDocumentStore::Open({.path = dir_.File("no/such")}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RocksDbDocumentStoreTest, WhatAKilledFirstStartLeftIsNoObstacle) {
  store_.reset();
  std::filesystem::rename(path_ + "/rocksdb", path_ + "/unfinished-abc123");
  Reopen();
  Put("a", "title");
  EXPECT_EQ(Titles().size(), 1u);
}

TEST_F(RocksDbDocumentStoreTest, ALogDamagedBeforeItsEndIsRefused) {
  for (int i = 0; i < 100; ++i) Put(std::uint64_t(i), std::string(500, 'x'));
  const std::string log = FileWithEnd(".log");
  store_.reset();
  FlipByte(log, static_cast<std::int64_t>(std::filesystem::file_size(log)) / 2);
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RocksDbDocumentStoreTest, ALogCutInItsLastRecordKeepsTheOthers) {
  Put("a", "first");
  const std::string log = FileWithEnd(".log");
  Put("b", "second");
  store_.reset();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 3);
  Reopen();
  EXPECT_EQ(Titles(), (std::map<std::string, std::string>{{"a", "first"}}));
}

TEST_F(RocksDbDocumentStoreTest, WithoutItsListOfFilesItIsRefusedUntouched) {
  Put("a", "title");
  store_.reset();
  const std::string list = path_ + "/rocksdb/CURRENT";
  std::filesystem::rename(list, dir_.File("CURRENT"));
  EXPECT_FALSE(Open().ok());
  std::filesystem::rename(dir_.File("CURRENT"), list);
  Reopen();
  EXPECT_EQ(Titles().size(), 1u);
}

// Run under ThreadSanitizer too.
TEST_F(RocksDbDocumentStoreTest, ThreadsWriteAndFindBesideEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string text = std::to_string(t) + " " + std::to_string(i);
        Write(kSpace, text, float(i));
        EXPECT_EQ(Find(kSpace, text), RowOf(float(i)));
        Put(text, text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Titles().size(), 80u);
}

TEST_F(RocksDbDocumentStoreTest, AWriteThatFailsEndsNothingAndLosesNothing) {
  Put("before", "kept");
  const std::string large(200'000, 'x');
  const StoredDocument document = {"during", large};
  {
    const FullDisk full_disk(100'000);
    EXPECT_THAT(store_->PutDocuments({&document, 1}),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr(store_->name()),
                               HasSubstr("File too large"))));
    // What is read and written next opens the database again, and its log ends
    // before what failed.
    EXPECT_EQ(Titles(),
              (std::map<std::string, std::string>{{"before", "kept"}}));
    Put("small", "written beside the limit");
    EXPECT_THAT(store_->PutDocuments({&document, 1}),
                StatusIs(absl::StatusCode::kUnavailable));
  }
  Put("after", "kept too");
  const std::map<std::string, std::string> all = {
      {"before", "kept"},
      {"small", "written beside the limit"},
      {"after", "kept too"}};
  EXPECT_EQ(Titles(), all);
  Reopen();
  EXPECT_EQ(Titles(), all);
}

TEST_F(RocksDbDocumentStoreTest, ThreadsThatWriteWhileItFailsAreAllRefused) {
  std::vector<std::thread> threads;
  std::atomic<int> num_refused = 0;
  {
    const FullDisk full_disk(1);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int j = 0; j < 20; ++j) {
          const std::string key = absl::StrFormat("%d-%d", i, j);
          const StoredDocument document = {key, "lost"};
          if (!store_->PutDocuments({&document, 1}).ok()) ++num_refused;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(num_refused, 80);
  store_.reset();
}

TEST(CheckRoomTest, AnImpossibleWriteIsRefusedWithBothNumbers) {
  const TempDir dir;
  EXPECT_THAT(CheckRoom(dir.path(), 1), IsOk());
  EXPECT_THAT(CheckRoom(dir.path(), std::size_t{1} << 60),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("MiB are free, and writing needs")));
}

}  // namespace
}  // namespace semrank
