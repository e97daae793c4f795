// The log of changes in a real redis-server that is trimmed, emptied, killed
// and full.
#include "server/stores/redis_change_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "server/stores/redis_document_store.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_proxy.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr absl::Duration kLong = absl::Seconds(60);

std::unique_ptr<RedisDocumentStore> OpenRedis(int port) {
  return std::make_unique<RedisDocumentStore>(RedisDocumentStore::Options{
      .url = ParseRedisUrl("redis://127.0.0.1:" + std::to_string(port)).value(),
      .timeout = kLong});
}

class RedisChangeLogTest : public ::testing::Test {
 protected:
  explicit RedisChangeLogTest(std::vector<std::string> arguments = {})
      : redis_(std::move(arguments)),
        store_(OpenRedis(redis_.port())),
        log_(store_->OpenChangeLog()) {
    position_ = log_->MarkEnd().value();
  }

  absl::Status Put(DocumentKeyView key, std::string_view title = "title") {
    const StoredDocument document = {.key = key, .title = title};
    return store_->PutDocuments({&document, 1});
  }
  absl::Status Delete(DocumentKeyView key) {
    return store_->DeleteDocuments({&key, 1});
  }
  // The keys of a read, after which the next one begins.
  std::vector<DocumentKey> Next(
      absl::Duration max_wait = absl::ZeroDuration()) {
    auto changes = log_->ReadAfter(position_, max_wait);
    EXPECT_THAT(changes.status(), IsOk());
    position_ = changes->position;
    at_end_ = changes->at_end;
    return changes->keys;
  }
  absl::Status NextStatus() {
    return log_->ReadAfter(position_, absl::ZeroDuration()).status();
  }
  // Title by key; "-" = there is none.
  std::map<std::uint64_t, std::string> Titles(std::vector<DocumentKey> keys,
                                              absl::Status* status = nullptr) {
    std::map<std::uint64_t, std::string> titles;
    const absl::Status found = log_->FindDocuments(
        keys, [&](std::size_t i, const StoredDocument* document) {
          titles[std::get<0>(keys[i])] =
              document == nullptr ? "-" : std::string(document->title);
        });
    if (status != nullptr) *status = found;
    return titles;
  }
  void Redis(const RedisCommand& command) { RunRedis(redis_, command); }

  RedisProcess redis_;
  const std::unique_ptr<RedisDocumentStore> store_;
  const std::unique_ptr<ChangeLog> log_;
  std::string position_;
  bool at_end_ = false;
};

TEST_F(RedisChangeLogTest, TellsPutsAndDeletesInTheirOrder) {
  ASSERT_THAT(Put(1u), IsOk());
  ASSERT_THAT(Put("name"), IsOk());
  ASSERT_THAT(Delete(1u), IsOk());
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(1u), DocumentKey("name"),
                                  DocumentKey(1u)));
  EXPECT_THAT(Next(), IsEmpty());
  ASSERT_THAT(Put(2u), IsOk());
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(2u)));
}

TEST_F(RedisChangeLogTest, MuchIsReadInPartsAndNothingIsLeftOut) {
  std::vector<StoredDocument> documents;
  for (std::uint64_t i = 0; i < 10'000; ++i) documents.push_back({.key = i});
  ASSERT_THAT(store_->PutDocuments(documents), IsOk());
  std::uint64_t next = 0;
  do {
    for (const DocumentKey& key : Next()) EXPECT_EQ(std::get<0>(key), next++);
  } while (!at_end_);
  EXPECT_EQ(next, 10'000u);
}

TEST_F(RedisChangeLogTest, AReaderThatWaitsIsWokenByAChange) {
  std::future<std::vector<DocumentKey>> keys =
      std::async(std::launch::async, [this] { return Next(kLong); });
  ASSERT_THAT(Put(7u), IsOk());
  EXPECT_THAT(keys.get(), ElementsAre(DocumentKey(7u)));
}

TEST_F(RedisChangeLogTest, ATrimmedPositionIsOutOfRange) {
  ASSERT_THAT(Put(1u), IsOk());
  Redis({"XTRIM", kRedisChangesKey, "MAXLEN", "0"});
  EXPECT_THAT(NextStatus(), StatusIs(absl::StatusCode::kOutOfRange));
  position_ = log_->MarkEnd().value();
  ASSERT_THAT(Put(2u), IsOk());
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(2u)));
}

TEST_F(RedisChangeLogTest, AnEmptiedRedisIsOutOfRange) {
  redis_.Kill();
  redis_.StartAgain();
  EXPECT_THAT(NextStatus(), StatusIs(absl::StatusCode::kOutOfRange));
  // Also with entries of its own.
  ASSERT_THAT(Put(1u), IsOk());
  EXPECT_THAT(NextStatus(), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(RedisChangeLogTest, AReaderThatWaitsNoticesThatRedisWasEmptied) {
  std::future<absl::Status> status = std::async(std::launch::async, [this] {
    return log_->ReadAfter(position_, absl::Milliseconds(50)).status();
  });
  Redis({"FLUSHALL"});
  EXPECT_THAT(status.get(), StatusIs(absl::StatusCode::kOutOfRange));
}

class DurableRedisChangeLogTest : public RedisChangeLogTest {
 protected:
  DurableRedisChangeLogTest()
      : RedisChangeLogTest({"--appendonly", "yes", "--appendfsync", "always"}) {
  }
};

TEST_F(DurableRedisChangeLogTest, ThePositionOutlivesAKillOfRedis) {
  ASSERT_THAT(Put(1u), IsOk());
  redis_.Kill();
  EXPECT_THAT(NextStatus(), StatusIs(absl::StatusCode::kUnavailable));
  redis_.StartAgain();
  ASSERT_THAT(Put(2u), IsOk());
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(1u), DocumentKey(2u)));
}

// The cursor of the next page belongs to the process that has ended.
TEST_F(DurableRedisChangeLogTest, ALoadDoesNotContinueAfterARestart) {
  std::vector<StoredDocument> documents;
  for (std::uint64_t i = 0; i < 5'000; ++i) documents.push_back({.key = i});
  ASSERT_THAT(store_->PutDocuments(documents), IsOk());
  int num_visited = 0;
  const auto visit = [&](const StoredDocument&) {
    if (++num_visited == 2'000) {
      redis_.Kill();
      redis_.StartAgain();
    }
    return absl::OkStatus();
  };
  EXPECT_THAT(store_->LoadDocuments(visit),
              StatusIs(absl::StatusCode::kUnavailable));
  num_visited = 5'000;
  EXPECT_THAT(store_->LoadDocuments(visit), IsOk());
  EXPECT_GE(num_visited, 10'000);
}

TEST_F(RedisChangeLogTest, FindsDocumentsAsTheyAreNow) {
  ASSERT_THAT(Put(1u, "one"), IsOk());
  ASSERT_THAT(Put(2u, "two"), IsOk());
  ASSERT_THAT(Put(1u, "one again"), IsOk());
  EXPECT_THAT(Titles({1u, 2u, 3u}),
              UnorderedElementsAre(Pair(1u, "one again"), Pair(2u, "two"),
                                   Pair(3u, "-")));
}

TEST_F(RedisChangeLogTest, ADamagedDocumentIsNamedAndTheOthersAreFound) {
  ASSERT_THAT(Put(1u, "one"), IsOk());
  Redis({"HSET", kRedisDocumentsKey, std::string_view("n\2\0\0\0\0\0\0\0", 9),
         "damaged"});
  absl::Status status;
  EXPECT_THAT(Titles({2u, 1u}, &status), ElementsAre(Pair(1u, "one")));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               ::testing::HasSubstr("document 2 is damaged")));
}

TEST_F(RedisChangeLogTest, EntriesOfOthersAreNoKeys) {
  Redis({"XADD", kRedisChangesKey, "*", "put", "", "put", "x", "note",
         "s is a key"});
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(" is a key")));
}

TEST_F(RedisChangeLogTest, AFullRedisRefusesPutsAndTakesDeletes) {
  ASSERT_THAT(Put(1u), IsOk());
  Redis({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_THAT(Put(2u), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(1u)));
  EXPECT_THAT(Delete(1u), IsOk());
  EXPECT_THAT(NextStatus(), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(Titles({1u, 2u}), ElementsAre(Pair(1u, "-"), Pair(2u, "-")));
}

TEST_F(RedisChangeLogTest, AServerStartsWithAFullRedis) {
  const auto load = [](RedisDocumentStore& store) {
    return store.LoadDocuments(
        [](const StoredDocument&) { return absl::OkStatus(); });
  };
  ASSERT_THAT(load(*store_), IsOk());  // writes the secret
  ASSERT_THAT(Put(1u), IsOk());
  Redis({"CONFIG", "SET", "maxmemory", "1"});
  const auto next = OpenRedis(redis_.port());
  EXPECT_THAT(load(*next), IsOk());
  ASSERT_OK_AND_ASSIGN(position_, next->OpenChangeLog()->MarkEnd());
  Redis({"CONFIG", "SET", "maxmemory", "0"});
  ASSERT_THAT(Put(2u), IsOk());
  EXPECT_THAT(Next(), ElementsAre(DocumentKey(2u)));
}

TEST_F(RedisChangeLogTest, GarbageAndEndlessArraysAreErrors) {
  TcpProxy proxy(redis_.port());
  const auto store = OpenRedis(proxy.port());
  const auto log = store->OpenChangeLog();
  const auto read = [&] {
    return log->ReadAfter(position_, absl::ZeroDuration()).status();
  };
  EXPECT_THAT(read(), IsOk());
  for (const auto answers :
       {TcpProxy::Answers::kGarbage, TcpProxy::Answers::kArrays}) {
    proxy.Spoil(answers);
    EXPECT_THAT(read(), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(log->MarkEnd(), StatusIs(absl::StatusCode::kUnavailable));
  }
  proxy.Spoil(TcpProxy::Answers::kPass);
  EXPECT_THAT(read(), IsOk());
}

// After a failover the name leads to another server, and the old one is a
// replica. Only the thread of the log resolves names.
TEST_F(RedisChangeLogTest, AReadMovesStoreAndLogToTheNewMaster) {
  const RedisProcess new_master(
      {"--bind", "127.0.0.2", "--port", std::to_string(redis_.port())});
  std::string address = "127.0.0.1";
  RedisDocumentStore store({.url = ParseRedisUrl(redis_.url()).value(),
                            .timeout = kLong,
                            .resolve = [&](const auto&) { return address; }});
  const auto log = store.OpenChangeLog();
  const StoredDocument document = {.key = 1u};
  ASSERT_THAT(store.PutDocuments({&document, 1}), IsOk());
  Redis({"REPLICAOF", "127.0.0.1", "1"});
  address = "127.0.0.2";
  EXPECT_THAT(store.PutDocuments({&document, 1}),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(log->ReadAfter(position_, absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(store.PutDocuments({&document, 1}), IsOk());
}

// What another server has put since is newer, whatever the vector.
TEST_F(RedisChangeLogTest, VectorsAreReplacedOnlyUnderTheSameContent) {
  const std::vector<float> row = {1, 2};
  StoredDocument document = {.key = 1u,
                             .title = "title",
                             .payload = "payload",
                             .model = "new",
                             .vector = row,
                             .packed_tags = "tags"};
  const auto model_of_1 = [&] {
    std::string model = "-";
    EXPECT_THAT(store_->LoadDocuments([&](const StoredDocument& loaded) {
      model = loaded.model;
      EXPECT_EQ(loaded.packed_tags, "tags");
      return absl::OkStatus();
    }),
                IsOk());
    return model;
  };
  ASSERT_THAT(store_->ReplaceVectors({&document, 1}), IsOk());
  EXPECT_EQ(model_of_1(), "-");
  StoredDocument old = document;
  old.model = "old";
  old.vector = {};
  ASSERT_THAT(store_->PutDocuments({&old, 1}), IsOk());
  ASSERT_THAT(store_->ReplaceVectors({&document, 1}), IsOk());
  EXPECT_EQ(model_of_1(), "new");
  for (const auto part : {&StoredDocument::title, &StoredDocument::payload,
                          &StoredDocument::packed_tags}) {
    StoredDocument other = old;
    other.*part = "other";
    if (part == &StoredDocument::packed_tags) other.*part = "tag";
    ASSERT_THAT(store_->PutDocuments({&old, 1}), IsOk());
    ASSERT_THAT(store_->ReplaceVectors({&other, 1}), IsOk());
    EXPECT_EQ(model_of_1(), "old");
  }
  EXPECT_EQ(Next().size(), 4u);  // the puts alone
}

}  // namespace
}  // namespace semrank
