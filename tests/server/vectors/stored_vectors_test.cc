#include "server/vectors/stored_vectors.h"

#include <future>
#include <thread>

#include "tests/server/vectors/engine_fixture.h"
#include "tests/support/fake_document_store.h"
#include "tests/support/gated_model.h"
#include "tests/support/run_engines.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

constexpr CircuitBreaker::Options kNeverAgain = {
    .min_wait = std::chrono::hours(1), .max_wait = std::chrono::hours(1)};

class StoredVectorsTest : public EngineFixture {
 protected:
  StoredVectorsTest() { Restart(); }
  // A test that failed may have left the writer at the gate.
  ~StoredVectorsTest() override {
    gate_.Open();
    stored_.reset();
  }

  // What a new server with the same store has: empty memory.
  void Restart(StoredVectors::Options options = {}) {
    stored_.reset();
    options.time_limit = absl::Seconds(20);
    stored_ = std::make_unique<StoredVectors>(&store_, new_metrics(), options);
    UseCache(1 << 20);
  }
  Metrics* new_metrics() {
    return store_metrics_.emplace_back(std::make_unique<Metrics>()).get();
  }
  std::string StoreMetrics() const { return store_metrics_.back()->Render(); }

  Gate gate_;
  FakeDocumentStore store_;
  std::vector<std::unique_ptr<Metrics>> store_metrics_;
  const std::vector<std::string> titles_ = NumberedTitles(40);
};

TEST_F(StoredVectorsTest, ARestartedServerFindsWhatTheFirstOneKept) {
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.cache.misses, 40u);
  const std::vector<RankedDocument> first = result_.ranking;
  Restart();
  EXPECT_EQ(store_.num_vectors(), 40);
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.ranking, first);
  EXPECT_EQ(result_.cache.misses, 0u);
  EXPECT_EQ(result_.cache.hits, 40u);
  EXPECT_EQ(result_.cache.store_hits, 40u);
  EXPECT_THAT(StoreMetrics(),
              HasSubstr("semrank_store_requests_total{result=\"hit\"} 40\n"));
}

TEST_F(StoredVectorsTest, WhatTheStoreHadIsInMemoryAfterwards) {
  ASSERT_THAT(Rank("q", titles_), IsOk());
  Restart();
  ASSERT_THAT(Rank("q", titles_), IsOk());
  const int num_finds = store_.num_finds();
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.cache.store_hits, 0u);
  EXPECT_EQ(store_.num_finds(), num_finds);
}

TEST_F(StoredVectorsTest, SomeInMemorySomeInTheStoreSomeNowhereRankAsAlways) {
  const std::vector<std::string> half(titles_.begin(), titles_.begin() + 20);
  ASSERT_THAT(Rank("q", half), IsOk());
  Restart();
  ASSERT_THAT(Rank("q", {titles_[3], titles_[17]}), IsOk());
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.cache.hits, 20u);
  EXPECT_EQ(result_.cache.store_hits, 18u);
  EXPECT_EQ(result_.cache.misses, 20u);
  const std::vector<RankedDocument> mixed = result_.ranking;
  stored_.reset();
  UseCache(0);
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(mixed, result_.ranking);
}

TEST_F(StoredVectorsTest, AVectorOfAnotherModelIsNotFound) {
  ASSERT_THAT(Rank("q", titles_), IsOk());
  Restart();
  // The number is of the process, so it says nothing.
  served_ = {.model = MakeTinyModel({.seed = 2}), .number = 0};
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.cache.misses, 40u);
}

TEST_F(StoredVectorsTest, AStoreThatFailsIsAskedOnceAndRankingGoesOn) {
  std::promise<absl::Status> changed;
  Restart(
      {.breaker = kNeverAgain, .on_change = [&](const absl::Status& status) {
         changed.set_value(status);
       }});
  store_.FailWith(absl::DeadlineExceededError("slow"));
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(Rank("q" + std::to_string(i), {titles_[i]}), IsOk());
    EXPECT_EQ(result_.cache.misses, 1u);
  }
  EXPECT_EQ(store_.num_finds(), 1);
  EXPECT_THAT(changed.get_future().get(),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  const StoredVectors::State state = stored_->GetState();
  EXPECT_TRUE(state.bypassed);
  EXPECT_EQ(state.last_error, absl::DeadlineExceededError("slow"));
  for (const char* line :
       {"semrank_store_calls_total{call=\"find\",result=\"timeout\"} 1\n",
        "semrank_store_requests_total{result=\"failed\"} 1\n",
        "semrank_store_requests_total{result=\"bypassed\"} 2\n",
        "semrank_store_dropped_vectors_total{reason=\"bypassed\"} 3\n"}) {
    EXPECT_THAT(StoreMetrics(), HasSubstr(line));
  }
}

TEST_F(StoredVectorsTest, AStoreThatAnswersAgainIsUsedAgain) {
  ASSERT_THAT(Rank("q", titles_), IsOk());
  std::promise<void> back;
  Restart({.breaker = {.min_wait = std::chrono::milliseconds(1)},
           .on_change = [&](const absl::Status& status) {
             if (status.ok()) back.set_value();
           }});
  store_.FailWith(absl::UnavailableError("down"));
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.cache.misses, 40u);
  store_.FailWith(absl::OkStatus());
  back.get_future().wait();
  UseCache(1 << 20);
  ASSERT_THAT(Rank("q", titles_), IsOk());
  EXPECT_EQ(result_.cache.store_hits, 40u);
}

TEST_F(StoredVectorsTest, RequestsDoNotWaitForWritesAndAFullQueueDrops) {
  store_.BeforeWrite([this] { gate_.Pass(); });
  Restart({.max_queue_bytes = 3 * kDim * sizeof(float)});
  gate_.Close();
  ASSERT_THAT(Rank("q", {"written first"}), IsOk());
  gate_.WaitForArrival();
  ASSERT_THAT(Rank("q", {"waits"}), IsOk());
  EXPECT_EQ(stored_->GetState().queued_vectors, 1);
  ASSERT_THAT(Rank("q", {"finds", "the queue", "full"}), IsOk());
  EXPECT_THAT(
      StoreMetrics(),
      HasSubstr(
          "semrank_store_dropped_vectors_total{reason=\"queue_full\"} 3\n"));
  gate_.Open();
  Restart();
  EXPECT_EQ(store_.num_vectors(), 2);
}

TEST_F(StoredVectorsTest, ACallerWithoutTimeGoesPastTheStore) {
  const FakeCaller hurried =
      FakeCaller::WithDeadline(absl::Now() + absl::Seconds(39));
  ASSERT_THAT(Rank("q", titles_, {}, hurried), IsOk());
  EXPECT_EQ(store_.num_finds(), 0);
  EXPECT_FALSE(stored_->GetState().bypassed);
  EXPECT_THAT(
      StoreMetrics(),
      HasSubstr("semrank_store_requests_total{result=\"no_time\"} 40\n"));
}

TEST_F(StoredVectorsTest, StopsWhileTheStoreFails) {
  store_.FailWith(absl::UnavailableError("down"));
  ASSERT_THAT(Rank("q", titles_), IsOk());
  Restart();
  EXPECT_EQ(store_.num_vectors(), 0);
}

// Run under ThreadSanitizer too.
TEST_F(StoredVectorsTest, ThreadsFindAndKeepWhileTheStoreComesAndGoes) {
  Restart({.breaker = {.min_wait = std::chrono::microseconds(10),
                       .max_wait = std::chrono::microseconds(100)}});
  UseCache(4 << 10);  // evicts all the time
  const std::vector<std::string_view> views(titles_.begin(), titles_.end());
  ASSERT_THAT(Rank("q", titles_), IsOk());
  const std::vector<RankedDocument> want = result_.ranking;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      RankResult result;
      for (int i = 0; i < 50; ++i) {
        EXPECT_THAT(RankAll(*ranking_, served_, {.query = "q", .titles = views},
                            FakeCaller(), result),
                    IsOk());
        EXPECT_EQ(result.ranking, want);
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    store_.FailWith(i % 2 == 0 ? absl::UnavailableError("down")
                               : absl::OkStatus());
    stored_->GetState();
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace semrank
