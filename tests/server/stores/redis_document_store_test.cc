// Against a real redis-server that is frozen, killed, emptied and disturbed.
#include "server/stores/redis_document_store.h"

#include <map>

#include "tests/server/vectors/engine_fixture.h"
#include "tests/support/redis_process.h"
#include "tests/support/tcp_proxy.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRedisDim = 4;
constexpr VectorSpace kRedisSpace = {"model a", Side::kDocument, kRedisDim};
const std::vector<float> kRow = {.5f, 1, -1, 0};

RedisUrl Url(const std::string& text) { return ParseRedisUrl(text).value(); }

absl::Status Write(RedisDocumentStore& store, std::string_view text) {
  return store.WriteVectors(kRedisSpace, {&text, 1}, kRow.data());
}

absl::StatusOr<bool> Find(RedisDocumentStore& store, std::string_view text,
                          absl::Duration time_limit = absl::Seconds(30)) {
  std::vector<float> row(kRedisDim);
  std::uint8_t found = 0;
  const auto result = store.FindVectors(kRedisSpace, {&text, 1}, time_limit,
                                        row.data(), {&found, 1});
  if (!result.ok()) return result.status();
  EXPECT_EQ(row, found != 0 ? kRow : std::vector<float>(kRedisDim));
  EXPECT_EQ(result->num_found, found);
  return found != 0;
}

class RedisDocumentStoreTest : public ::testing::Test {
 protected:
  RedisProcess redis_;
  RedisDocumentStore store_{
      {.url = Url(redis_.url()), .timeout = absl::Seconds(30)}};
};

TEST_F(RedisDocumentStoreTest, AnotherReplicaFindsTheVectors) {
  ASSERT_THAT(Write(store_, "text"), IsOk());
  RedisDocumentStore replica({.url = Url(redis_.url())});
  EXPECT_EQ(Find(replica, "text").value(), true);
  EXPECT_EQ(Find(replica, "other").value(), false);
  RedisDocumentStore other_db({.url = Url(redis_.url() + "/3")});
  EXPECT_EQ(Find(other_db, "text").value(), false);
}

TEST_F(RedisDocumentStoreTest, AKilledAndEmptyServerIsUsedAgainByBothReplicas) {
  RedisDocumentStore replica({.url = Url(redis_.url())});
  ASSERT_THAT(Write(store_, "text"), IsOk());
  EXPECT_EQ(Find(replica, "text").value(), true);
  redis_.Kill();
  EXPECT_THAT(Find(store_, "text"), StatusIs(absl::StatusCode::kUnavailable));
  redis_.StartAgain();
  EXPECT_EQ(Find(store_, "text").value(), false);
  ASSERT_THAT(Write(store_, "text"), IsOk());
  EXPECT_EQ(Find(replica, "text").value(), true);
}

TEST_F(RedisDocumentStoreTest, AfterItWasEmptiedANewReplicasSecretIsTakenOver) {
  ASSERT_THAT(Write(store_, "text"), IsOk());
  redis_.Kill();
  redis_.StartAgain();
  RedisDocumentStore first({.url = Url(redis_.url())});
  ASSERT_THAT(Write(first, "text"), IsOk());
  EXPECT_EQ(Find(store_, "text").value(), false);
  EXPECT_EQ(Find(store_, "text").value(), true);
}

TEST_F(RedisDocumentStoreTest, AFrozenServerCostsTheTimeLimitAndNoMore) {
  EXPECT_EQ(Find(store_, "text").value(), false);
  redis_.Freeze();
  EXPECT_THAT(Find(store_, "text", absl::Milliseconds(5)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  redis_.Thaw();
  EXPECT_EQ(Find(store_, "text").value(), false);
}

TEST_F(RedisDocumentStoreTest, AnswersThatDripDoNotStretchTheTimeLimit) {
  TcpProxy proxy(redis_.port());
  RedisDocumentStore store(
      {.url = Url("redis://127.0.0.1:" + std::to_string(proxy.port()))});
  EXPECT_EQ(Find(store, "text").value(), false);
  proxy.Spoil(TcpProxy::Answers::kDrip);
  // The answer has more than 200 bytes, so it takes over a second.
  EXPECT_THAT(Find(store, "text", absl::Milliseconds(100)),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(RedisDocumentStoreTest, GarbageIsAnErrorOrIsRefused) {
  TcpProxy proxy(redis_.port());
  RedisDocumentStore store(
      {.url = Url("redis://127.0.0.1:" + std::to_string(proxy.port()))});
  ASSERT_THAT(Write(store, "text"), IsOk());
  proxy.Spoil(TcpProxy::Answers::kGarbage);
  EXPECT_THAT(Find(store, "text"), StatusIs(absl::StatusCode::kUnavailable));
  proxy.Spoil(TcpProxy::Answers::kPass);
  EXPECT_EQ(Find(store, "text").value(), true);
}

TEST_F(RedisDocumentStoreTest, ArraysThatWereNotAskedForAreNotMade) {
  TcpProxy proxy(redis_.port());
  RedisDocumentStore store(
      {.url = Url("redis://127.0.0.1:" + std::to_string(proxy.port()))});
  ASSERT_THAT(Write(store, "text"), IsOk());
  proxy.Spoil(TcpProxy::Answers::kArrays);
  EXPECT_THAT(Find(store, "text"),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("larger than what was asked for")));
  proxy.Spoil(TcpProxy::Answers::kPass);
  EXPECT_EQ(Find(store, "text").value(), true);
}

TEST_F(RedisDocumentStoreTest, AnAnswerLargerThanItsLimitIsNotRead) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto connection =
      RedisConnection::Connect(Url(redis_.url()), "127.0.0.1", deadline);
  ASSERT_THAT(connection, IsOk());
  const std::string value(1'000'000, 'x');
  const RedisCommand set = {"SET", "key", value};
  ASSERT_THAT((*connection)->Call({&set, 1}, deadline), IsOk());
  const RedisCommand get = {"GET", "key"};
  EXPECT_THAT(
      (*connection)->Call({&get, 1}, deadline, {.max_bytes = 2'000'000}),
      IsOk());
  EXPECT_THAT((*connection)->Call({&get, 1}, deadline, {.max_bytes = 500'000}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE((*connection)->usable());
}

TEST_F(RedisDocumentStoreTest, CommandsWithATooLargeAnswerAreNotSentAgain) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  TcpProxy proxy(redis_.port());
  RedisPool pool(Url("redis://127.0.0.1:" + std::to_string(proxy.port())), 1);
  pool.LookUpAddress();
  const RedisCommand increment = {"INCR", "key"};
  // Leaves an idle connection, which is tried first.
  ASSERT_THAT(pool.Call({&increment, 1}, deadline, {}), IsOk());
  proxy.Spoil(TcpProxy::Answers::kArrays);
  EXPECT_THAT(pool.Call({&increment, 1}, deadline, {}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("larger than what was asked for")));
  proxy.Spoil(TcpProxy::Answers::kPass);
  ASSERT_OK_AND_ASSIGN(const auto replies,
                       pool.Call({&increment, 1}, deadline, {}));
  EXPECT_EQ(replies[0]->integer, 3);
}

TEST_F(RedisDocumentStoreTest, AnotherFormatIsRefusedAndLeftAsItIs) {
  auto connection = RedisConnection::Connect(
      Url(redis_.url()), "127.0.0.1",
      std::chrono::steady_clock::now() + std::chrono::seconds(30));
  ASSERT_THAT(connection, IsOk());
  const RedisCommand set = {"SET", "semrank:store", "semrank store 2\n"};
  ASSERT_THAT((*connection)
                  ->Call({&set, 1}, std::chrono::steady_clock::now() +
                                        std::chrono::seconds(30)),
              IsOk());
  EXPECT_THAT(Find(store_, "text"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RedisDocumentStoreTest, DocumentsAreLoadedByTheNextServer) {
  std::vector<StoredDocument> documents;
  std::vector<std::string> titles;
  for (int i = 0; i < 2'500; ++i) titles.push_back(std::to_string(i));
  for (std::uint64_t i = 0; i < 2'500; ++i) {
    documents.push_back({i, titles[i], "payload", "m", kRow});
  }
  ASSERT_THAT(store_.PutDocuments(documents), IsOk());
  const DocumentKeyView gone[] = {std::uint64_t{7}, "no such"};
  ASSERT_THAT(store_.DeleteDocuments(gone), IsOk());
  RedisDocumentStore next({.url = Url(redis_.url())});
  std::map<std::uint64_t, std::string> loaded;
  ASSERT_THAT(next.LoadDocuments([&](const StoredDocument& document) {
    loaded[std::get<std::uint64_t>(document.key)] = document.title;
    return absl::OkStatus();
  }),
              IsOk());
  EXPECT_EQ(loaded.size(), 2'499u);
  EXPECT_EQ(loaded[2'499], "2499");
}

TEST(RedisPasswordTest, IsAskedForAndNeverSaid) {
  const RedisProcess redis({"--requirepass", "hush"});
  const auto url = [&](const std::string& credentials) {
    return Url("redis://" + credentials +
               "@127.0.0.1:" + std::to_string(redis.port()) + "/2");
  };
  for (const char* credentials : {":hush", "default:hush"}) {
    RedisDocumentStore store({.url = url(credentials)});
    EXPECT_THAT(Write(store, "text"), IsOk());
  }
  for (const char* credentials : {":hash", "user:hush"}) {
    RedisDocumentStore store({.url = url(credentials)});
    const absl::Status status = Write(store, "text");
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("hush")));
    EXPECT_THAT(std::string(status.message()), HasSubstr(store.name()));
  }
}

// Ranking over a store that comes and goes.
class RedisRankingTest : public EngineFixture {
 protected:
  RedisRankingTest() {
    stored_ = std::make_unique<StoredVectors>(
        &store_, &metrics_,
        StoredVectors::Options{
            .time_limit = absl::Milliseconds(100),
            .breaker = {.min_wait = std::chrono::milliseconds(1),
                        .max_wait = std::chrono::milliseconds(20)},
            .on_change = [this](const absl::Status& status) {
              MutexLock lock(mutex_);
              ++(status.ok() ? num_back_ : num_gone_);
              changed_.NotifyAll();
            }});
  }
  ~RedisRankingTest() override {
    redis_.Thaw();
    stored_.reset();
  }
  // This store has an empty memory.
  std::uint32_t StoreHits(const std::string& title) {
    UseCache(1 << 20);
    EXPECT_THAT(Rank("q", {title}, {},
                     FakeCaller::WithDeadline(absl::Now() + absl::Seconds(30))),
                IsOk());
    EXPECT_EQ(result_.ranking.size(), 1u);
    return result_.cache.store_hits;
  }
  void WaitUntilUsedAgain() {
    MutexLock lock(mutex_);
    while (num_back_ < num_gone_) changed_.Wait(mutex_);
  }

  RedisProcess redis_;
  RedisDocumentStore store_{
      {.url = Url(redis_.url()), .timeout = absl::Milliseconds(500)}};
  Mutex mutex_;
  CondVar changed_;
  int num_gone_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_back_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(RedisRankingTest, GoesOnWhileRedisIsFrozenAndUsesItAfterwards) {
  redis_.Freeze();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(StoreHits("title"), 0u);
  EXPECT_TRUE(stored_->GetState().bypassed);
  EXPECT_THAT(
      metrics_.Render(),
      HasSubstr(
          "semrank_store_calls_total{call=\"find\",result=\"timeout\"} 1\n"));
  redis_.Thaw();
  WaitUntilUsedAgain();
  while (StoreHits("title") == 0) {
  }
}

TEST_F(RedisRankingTest, GoesOnWhileRedisIsDownAndUsesANewOne) {
  redis_.Kill();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(StoreHits("title"), 0u);
  EXPECT_THAT(
      metrics_.Render(),
      HasSubstr(
          "semrank_store_calls_total{call=\"find\",result=\"error\"} 1\n"));
  redis_.StartAgain();
  WaitUntilUsedAgain();
  while (StoreHits("title") == 0) {
  }
}

}  // namespace
}  // namespace semrank
