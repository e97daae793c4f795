// The catalog and the store that keeps its documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "absl/strings/str_split.h"
#include "server/base/errors.h"
#include "server/stores/rocksdb_document_store.h"
#include "tests/server/catalog/catalog_on_store.h"
#include "tests/support/fake_document_store.h"
#include "tests/support/memory_source.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

TEST(CatalogStoreTest, ARestartFindsWhatWasPutAndNotWhatWasDeleted) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    ASSERT_THAT(catalog.Put(1, "one"), IsOk());
    ASSERT_THAT(catalog.Put(2, "two"), IsOk());
    ASSERT_THAT(catalog.Put(1, "one again"), IsOk());
    ASSERT_THAT(catalog.Delete(std::uint64_t{2}), IsOk());
    ASSERT_THAT(catalog.Put({{"name", "three", ""}}), IsOk());
  }
  Catalog catalog(&store);
  const auto counts = catalog.Load();
  ASSERT_THAT(counts.status(), IsOk());
  EXPECT_EQ(counts->num_documents, 2);
  EXPECT_EQ(counts->num_embedded, 0);
  EXPECT_EQ(catalog.TitleOf(std::uint64_t{1}), "one again");
  EXPECT_EQ(catalog.TitleOf(std::uint64_t{2}), "-");
  EXPECT_TRUE(catalog.HasVectorOf("name", 1));
}

TEST(CatalogStoreTest, TagsSurviveARestart) {
  FakeDocumentStore store;
  ASSERT_THAT(Catalog(&store).Put({{"a", "title", "", {"y", "x", "y"}}}),
              IsOk());
  Catalog restarted(&store);
  ASSERT_THAT(restarted.Load(), IsOk());
  EXPECT_THAT(restarted.TagsOf("a"), ElementsAre("x", "y"));
}

TEST(CatalogStoreTest, WhatTheStoreDoesNotTakeIsNotPut) {
  FakeDocumentStore store;
  Catalog catalog(&store);
  ASSERT_THAT(catalog.Put(1, "one"), IsOk());
  store.FailWith(absl::ResourceExhaustedError("fake store: disk full"));
  const absl::Status status = catalog.Put(2, "two");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ErrorReason(status), "STORE_UNAVAILABLE");
  EXPECT_EQ(catalog.TitleOf(std::uint64_t{2}), "-");
  EXPECT_FALSE(catalog.Delete(std::uint64_t{1}).ok());
  EXPECT_EQ(catalog.TitleOf(std::uint64_t{1}), "one");
}

TEST(CatalogStoreTest, AStartWithAnotherModelEmbedsAndTheNextNeedNot) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    for (std::uint64_t i = 0; i < 3'000; ++i) {
      ASSERT_THAT(catalog.Put(i, "title " + std::to_string(i)), IsOk());
    }
  }
  for (const std::int64_t num_embedded : {3'000, 0}) {
    Catalog catalog(&store, 2);
    const auto counts = catalog.Load();
    ASSERT_THAT(counts.status(), IsOk());
    EXPECT_EQ(counts->num_documents, 3'000);
    EXPECT_EQ(counts->num_embedded, num_embedded);
    EXPECT_TRUE(catalog.HasVectorOf(std::uint64_t{2'999}, 2));
  }
}

TEST(CatalogStoreTest, ALoadThatIsToStopEndsBeforeItsNextBatch) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    for (std::uint64_t i = 0; i < 3'000; ++i) {
      ASSERT_THAT(catalog.Put(i, "title"), IsOk());
    }
  }
  Catalog catalog(&store, 2);
  int num_asked = 0;
  EXPECT_THAT(catalog.Load([&] { return ++num_asked == 2; }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(num_asked, 2);
}

TEST(CatalogStoreTest, AModelThatComesWhileServingIsKeptToo) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    for (std::uint64_t i = 0; i < 600; ++i) {
      ASSERT_THAT(catalog.Put(i, "title " + std::to_string(i)), IsOk());
    }
    ASSERT_THAT(catalog.Follow(ServedTinyModel(2)), IsOk());
    EXPECT_TRUE(catalog.HasVectorOf(std::uint64_t{599}, 2));
  }
  Catalog catalog(&store, 2);
  EXPECT_EQ(catalog.Load().value().num_embedded, 0);
}

TEST(CatalogStoreTest, PutsBesideAModelThatComesHaveItsVectors) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    for (std::uint64_t id = 0; id < 1'000; ++id) {
      ASSERT_THAT(catalog.Put(id, "title " + std::to_string(id)), IsOk());
    }
    std::thread puts([&] {
      for (std::uint64_t id = 500; id < 1'500; ++id) {
        ASSERT_THAT(catalog.Put(id, "new title " + std::to_string(id)), IsOk());
      }
    });
    ASSERT_THAT(catalog.Follow(ServedTinyModel(2)), IsOk());
    puts.join();
    for (std::uint64_t id = 0; id < 1'500; id += 75) {
      EXPECT_TRUE(catalog.HasVectorOf(id, 2)) << id;
    }
  }
  Catalog catalog(&store, 2);
  EXPECT_EQ(catalog.Load().value().num_embedded, 0);
  EXPECT_EQ(catalog.TitleOf(std::uint64_t{700}), "new title 700");
}

TEST(CatalogStoreTest, ARollbackEmbedsOnlyWhatWasPutSince) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    for (std::uint64_t id = 0; id < 600; ++id) {
      ASSERT_THAT(catalog.Put(id, "title " + std::to_string(id)), IsOk());
    }
    ASSERT_THAT(catalog.Follow(ServedTinyModel(2)), IsOk());
    ASSERT_THAT(catalog.Put(7, "another title"), IsOk());
    ASSERT_THAT(catalog.Put(600, "a new one"), IsOk());
    ASSERT_THAT(catalog.Delete(std::uint64_t{8}), IsOk());
    const int num_embedded = catalog.num_embedded();
    const CatalogModelUpdate& update = catalog.parts().update;
    std::uint64_t num_to_embed = 0;
    const ServedModelPtr first = ServedTinyModel(1);
    ASSERT_THAT(catalog.parts().update.Follow([&] {
      num_to_embed = std::max(num_to_embed, update.GetStatus().num_documents);
      return first;
    }),
                IsOk());
    EXPECT_EQ(num_to_embed, 2u);
    EXPECT_EQ(catalog.num_embedded() - num_embedded, 2);
    for (const std::uint64_t id : {0, 7, 9, 599, 600}) {
      EXPECT_TRUE(catalog.HasVectorOf(id, 1)) << id;
    }
  }
  Catalog catalog(&store);
  EXPECT_EQ(catalog.Load().value().num_embedded, 0);
  EXPECT_EQ(catalog.num_documents(), 600u);
}

TEST(CatalogStoreTest, APutNamesTheModelThatAnswersAtItsCommit) {
  Catalog catalog(nullptr);
  DocumentCatalog& documents = catalog.parts().documents;
  ASSERT_THAT(catalog.Put(7, "title"), IsOk());
  const ServedModelPtr next = ServedTinyModel(2);
  ASSERT_THAT(documents.BeginModel(next), IsOk());
  const std::vector<NewDocument> many(
      2'000, {.key = std::uint64_t{9}, .title = "another title"});
  PutState state;
  PutResult result;
  const auto put_slice = [&] {
    return catalog.parts().writer.PutSlice(many, FakeCaller(), state, result);
  };
  ASSERT_EQ(put_slice().value(), Progress::kMore);
  const CatalogSnapshot snapshot = documents.TakeSnapshot();
  const std::uint32_t slot = *snapshot.Find(std::uint64_t{7});
  documents.AddRows(snapshot, {&slot, 1}, std::vector<float>(16).data());
  documents.FinishModel();
  while (put_slice().value() == Progress::kMore) {
  }
  EXPECT_EQ(result.counts.model, next);
}

TEST(CatalogStoreTest, AModelThatFailsIsNotTriedAgainAtOnce) {
  Catalog catalog(nullptr);
  // No caller can put a title that is not UTF-8, which fails in every model.
  std::vector<CatalogRecord::Pointer> records;
  records.push_back(CatalogRecord::Make(std::uint64_t{7}, "\xff", ""));
  const std::vector<float> row(16);
  DocumentCatalog& documents = catalog.parts().documents;
  const DocumentCatalog::Rows rows = {documents.TakeSnapshot().model(),
                                      row.data()};
  ASSERT_THAT(documents.Put(records, {&rows, 1}).status(), IsOk());
  Metrics metrics;
  MemoryFolder folder;
  ModelStore models({{folder.Source("tiny")}}, &metrics);
  const auto num_errors_with = [&](std::int64_t version) {
    folder.Put(version, MakeTinyModel({.version = version}));
    EXPECT_THAT(models.Refresh(), IsOk());
    ::testing::internal::CaptureStdout();
    for (int i = 0; i < 3; ++i) catalog.parts().FollowModel(models);
    const std::vector<std::string> parts =
        absl::StrSplit(::testing::internal::GetCapturedStdout(), "cannot move");
    return parts.size() - 1;
  };
  EXPECT_EQ(num_errors_with(2), 1u);
  EXPECT_EQ(num_errors_with(3), 1u);
}

TEST(CatalogStoreTest, AModelComesAlsoWhenTheStoreTakesNothing) {
  FakeDocumentStore store;
  {
    Catalog catalog(&store);
    ASSERT_THAT(catalog.Put(1, "one"), IsOk());
    store.FailWith(absl::UnavailableError("fake store: gone"));
    ASSERT_THAT(catalog.Follow(ServedTinyModel(2)), IsOk());
    EXPECT_TRUE(catalog.HasVectorOf(std::uint64_t{1}, 2));
    store.FailWith(absl::OkStatus());
  }
  Catalog catalog(&store, 2);
  EXPECT_EQ(catalog.Load().value().num_embedded, 1);
  EXPECT_TRUE(catalog.HasVectorOf(std::uint64_t{1}, 2));
}

TEST(CatalogStoreTest, AFullStoreDoesNotEndTheLoadWithANewModel) {
  struct FullStore final : FakeDocumentStore {
    absl::Status ReplaceVectors(std::span<const StoredDocument>) override {
      return absl::ResourceExhaustedError("fake store: disk full");
    }
  } store;
  ASSERT_THAT(Catalog(&store).Put(1, "one"), IsOk());
  Catalog catalog(&store, 2);
  EXPECT_THAT(catalog.Load(), IsOk());
  EXPECT_TRUE(catalog.HasVectorOf(std::uint64_t{1}, 2));
}

TEST(CatalogStoreTest, ADamagedStoreEndsTheLoad) {
  FakeDocumentStore store;
  Catalog catalog(&store);
  store.FailWith(absl::DataLossError("fake store: document 7 is damaged"));
  EXPECT_THAT(catalog.Load().status(), StatusIs(absl::StatusCode::kDataLoss));
}

// The child of the test below: puts document after document into the store of
// the environment and says each number that was acknowledged.
TEST(CatalogKillTest, DISABLED_PutForever) {
  const char* const path = std::getenv("SEMRANK_KILL_STORE");
  ASSERT_NE(path, nullptr);
  auto store = RocksDbDocumentStore::Open({.path = path}).value();
  Catalog catalog(store.get());
  if (!catalog.Load().ok()) std::abort();
  for (std::uint64_t id = catalog.num_documents();; ++id) {
    if (!catalog.Put(id, "title " + std::to_string(id)).ok()) std::abort();
    if (write(STDERR_FILENO, &id, sizeof(id)) != sizeof(id)) std::abort();
  }
}

// Starts the child and kills it after `num_acknowledged` answers. Returns the
// last one that it gave.
std::uint64_t PutAndKill(const std::string& path, int num_acknowledged) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    setenv("SEMRANK_KILL_STORE", path.c_str(), 1);
    // Its standard output says nothing of interest.
    execl("/proc/self/exe", "child", "--gtest_also_run_disabled_tests",
          "--gtest_filter=CatalogKillTest.DISABLED_PutForever",
          "--gtest_brief=1", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::uint64_t last = 0, id = 0;
  for (int i = 0; read(ends[0], &id, sizeof(id)) == sizeof(id); ++i) {
    last = id;
    if (i == num_acknowledged) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  return last;
}

TEST(CatalogKillTest, AcknowledgedPutsSurviveKill9) {
  const TempDir dir;
  const std::string path = dir.File("store");
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    const std::uint64_t last =
        PutAndKill(path, static_cast<int>(random() % 40));
    auto store = RocksDbDocumentStore::Open({.path = path}).value();
    Catalog catalog(store.get());
    const auto counts = catalog.Load();
    ASSERT_THAT(counts.status(), IsOk());
    EXPECT_EQ(counts->num_embedded, 0);
    // Perhaps one more, which was not acknowledged any more.
    ASSERT_GE(catalog.num_documents(), last + 1) << round;
    ASSERT_LE(catalog.num_documents(), last + 2) << round;
    for (std::uint64_t id = 0; id <= last; ++id) {
      ASSERT_EQ(catalog.TitleOf(id), "title " + std::to_string(id)) << round;
    }
    EXPECT_TRUE(catalog.HasVectorOf(last, 1));
  }
}

}  // namespace
}  // namespace semrank
