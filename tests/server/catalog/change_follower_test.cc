// Catalogs of several servers on one real redis-server.
#include "server/catalog/sync/change_follower.h"

#include <map>
#include <random>
#include <string>
#include <thread>

#include "server/stores/redis_change_log.h"
#include "server/stores/redis_document_store.h"
#include "tests/server/catalog/catalog_on_store.h"
#include "tests/support/redis_command.h"
#include "tests/support/redis_process.h"
#include "tests/support/sanitized.h"

namespace semrank {
namespace {

constexpr int kNumWrites = kSanitized ? 200 : 1'000;

using Documents = std::map<std::string, std::string>;  // title by key

std::string KeyText(const DocumentKeyView& key) {
  return key.index() == 0 ? std::to_string(std::get<0>(key))
                          : std::string(std::get<1>(key));
}

// The catalog of a server, which follows the changes of others.
class Replica {
 public:
  explicit Replica(const RedisProcess& redis, std::uint32_t model = 1,
                   std::size_t max_documents = 100'000)
      : store_({.url = ParseRedisUrl(redis.url()).value(),
                .timeout = absl::Seconds(60)}),
        catalog_(&store_, model, max_documents),
        changes_(store_.OpenChangeLog(), &catalog_.parts().reconciler) {
    EXPECT_THAT(changes_.MarkStart(), IsOk());
    EXPECT_THAT(catalog_.Load().status(), IsOk());
  }

  Catalog* operator->() { return &catalog_; }
  ChangeFollower& changes() { return changes_; }
  // Follows until there are no more changes.
  absl::Status Follow() {
    absl::Time up_to_date_at;
    do {
      up_to_date_at = changes_.GetState().up_to_date_at;
      SEMRANK_RETURN_IF_ERROR(changes_.FollowOnce(absl::ZeroDuration()));
    } while (changes_.GetState().up_to_date_at == up_to_date_at);
    return absl::OkStatus();
  }
  Documents All() {
    const auto snapshot = catalog_.parts().documents.TakeSnapshot();
    Documents documents;
    for (std::uint32_t slot = 0; slot < snapshot.num_slots(); ++slot) {
      if (!snapshot.IsVisible(slot)) continue;
      documents[KeyText(snapshot.record(slot).key())] =
          snapshot.record(slot).title();
    }
    return documents;
  }
  Documents Stored() {
    Documents documents;
    EXPECT_THAT(store_.LoadDocuments([&](const StoredDocument& document) {
      documents[KeyText(document.key)] = document.title;
      return absl::OkStatus();
    }),
                IsOk());
    return documents;
  }

 private:
  RedisDocumentStore store_;
  Catalog catalog_;
  ChangeFollower changes_;
};

class ChangeFollowerTest : public ::testing::Test {
 protected:
  void Redis(const RedisCommand& command) { RunRedis(redis_, command); }

  RedisProcess redis_;
  Replica a_{redis_};
  Replica b_{redis_};
};

TEST_F(ChangeFollowerTest, WhatOneServerWritesTheOtherFindsWithoutEmbedding) {
  ASSERT_THAT(a_->Put({{1u, "one", "payload", {"tag"}}}), IsOk());
  ASSERT_THAT(a_->Put({{"name", "two"}}), IsOk());
  ASSERT_THAT(b_.Follow(), IsOk());
  EXPECT_EQ(b_.All(), (Documents{{"1", "one"}, {"name", "two"}}));
  EXPECT_THAT(b_->TagsOf(std::uint64_t{1}), ::testing::ElementsAre("tag"));
  EXPECT_EQ(b_->num_embedded(), 0);
  EXPECT_TRUE(b_->HasVectorOf("name", 1));
  ASSERT_THAT(a_->Delete("name"), IsOk());
  ASSERT_THAT(b_.Follow(), IsOk());
  EXPECT_EQ(b_.All(), (Documents{{"1", "one"}}));
  EXPECT_EQ(b_.changes().GetState().num_changed, 3);
  EXPECT_EQ(b_.changes().GetState().num_rereads, 0);
}

TEST_F(ChangeFollowerTest, AServersOwnWritesAreNotPutAgain) {
  ASSERT_THAT(a_->Put(1, "one"), IsOk());
  ASSERT_THAT(a_->Delete(std::uint64_t{1}), IsOk());
  ASSERT_THAT(a_->Put(2, "two"), IsOk());
  ASSERT_THAT(a_.Follow(), IsOk());
  EXPECT_EQ(a_.changes().GetState().num_changed, 0);
  EXPECT_EQ(a_.All(), (Documents{{"2", "two"}}));
}

TEST_F(ChangeFollowerTest, TheLastWriteInTheStoresOrderWinsEverywhere) {
  ASSERT_THAT(a_->Put(1, "of a"), IsOk());
  ASSERT_THAT(b_->Put(1, "of b"), IsOk());
  ASSERT_THAT(b_->Put(2, "of b"), IsOk());
  ASSERT_THAT(a_->Delete(std::uint64_t{2}), IsOk());
  for (Replica* replica : {&a_, &b_}) {
    ASSERT_THAT(replica->Follow(), IsOk());
    EXPECT_EQ(replica->All(), (Documents{{"1", "of b"}}));
  }
}

TEST_F(ChangeFollowerTest, AServerWithAnotherModelEmbedsForItself) {
  Replica other(redis_, 2);
  ASSERT_THAT(a_->Put(1, "one"), IsOk());
  ASSERT_THAT(other.Follow(), IsOk());
  EXPECT_TRUE(other->HasVectorOf(std::uint64_t{1}, 2));
}

TEST_F(ChangeFollowerTest, ATrimmedLogLeadsToAReread) {
  ASSERT_THAT(a_->Put(1, "one"), IsOk());
  ASSERT_THAT(a_->Put(2, "two"), IsOk());
  ASSERT_THAT(b_.Follow(), IsOk());
  ASSERT_THAT(a_->Delete(std::uint64_t{1}), IsOk());
  ASSERT_THAT(a_->Put(2, "two again"), IsOk());
  ASSERT_THAT(a_->Put(3, "three"), IsOk());
  Redis({"XTRIM", kRedisChangesKey, "MAXLEN", "0"});
  ASSERT_THAT(b_.Follow(), IsOk());
  EXPECT_EQ(b_.All(), (Documents{{"2", "two again"}, {"3", "three"}}));
  EXPECT_EQ(b_.changes().GetState().num_rereads, 1);
  EXPECT_EQ(b_->num_embedded(), 0);
  ASSERT_THAT(a_->Put(4, "four"), IsOk());
  ASSERT_THAT(b_.Follow(), IsOk());
  EXPECT_EQ(b_.All().size(), 3u);
  EXPECT_EQ(b_.changes().GetState().num_rereads, 1);
}

TEST_F(ChangeFollowerTest, WhatAnEmptiedStoreHasDecides) {
  ASSERT_THAT(a_->Put(1, "one"), IsOk());
  ASSERT_THAT(b_.Follow(), IsOk());
  redis_.Kill();
  EXPECT_THAT(b_.Follow(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(b_.All().size(), 1u);
  redis_.StartAgain();
  ASSERT_THAT(a_->Put(2, "two"), IsOk());
  for (Replica* replica : {&a_, &b_}) {
    ASSERT_THAT(replica->Follow(), IsOk());
    EXPECT_EQ(replica->All(), (Documents{{"2", "two"}}));
  }
}

TEST_F(ChangeFollowerTest, ADamagedDocumentIsLeftOutAndTheRestFollowed) {
  ASSERT_THAT(a_->Put({{"damaged", "one"}, {"good", "two"}}), IsOk());
  Redis({"HSET", kRedisDocumentsKey, "sdamaged", "x"});
  ASSERT_THAT(a_->Put({{"later", "three"}}), IsOk());
  ASSERT_THAT(b_.Follow(), IsOk());
  EXPECT_EQ(b_.All(), (Documents{{"good", "two"}, {"later", "three"}}));
}

TEST_F(ChangeFollowerTest, DeletesMakeRoomForPutsInAFullCatalog) {
  Replica small(redis_, 1, 2);
  ASSERT_THAT(a_->Put({{"1", ""}, {"2", ""}}), IsOk());
  ASSERT_THAT(small.Follow(), IsOk());
  ASSERT_THAT(a_->Put({{"3", ""}}), IsOk());
  ASSERT_THAT(a_->Delete("1"), IsOk());
  ASSERT_THAT(small.Follow(), IsOk());
  EXPECT_EQ(small.All(), (Documents{{"2", ""}, {"3", ""}}));
  ASSERT_THAT(a_->Put({{"4", ""}, {"5", ""}}), IsOk());
  EXPECT_THAT(small.Follow(), StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_THAT(a_->Delete("2"), IsOk());
  ASSERT_THAT(a_->Delete("3"), IsOk());
  ASSERT_THAT(small.Follow(), IsOk());
  EXPECT_EQ(small.All(), (Documents{{"4", ""}, {"5", ""}}));
}

TEST_F(ChangeFollowerTest, AThreadFollowsAcrossAKilledRedis) {
  b_.changes().Start();
  ASSERT_THAT(a_->Put(1, "one"), IsOk());
  while (b_.All().empty()) std::this_thread::yield();
  redis_.Kill();
  while (b_.changes().GetState().error.ok()) std::this_thread::yield();
  EXPECT_EQ(b_.All().size(), 1u);
  redis_.StartAgain();
  ASSERT_THAT(a_->Put(2, "two"), IsOk());
  while (b_.All() != Documents{{"2", "two"}}) std::this_thread::yield();
  b_.changes().Stop();
}

// Two servers write the same few documents, follow each other, and are given
// models, all at once. In the end both have what the store has.
TEST_F(ChangeFollowerTest, ServersThatWriteAtOnceConverge) {
  std::vector<std::thread> writers;
  for (Replica* replica : {&a_, &b_}) {
    replica->changes().Start();
    writers.emplace_back([replica, seed = writers.size()] {
      std::mt19937 random(static_cast<unsigned>(seed));
      for (int i = 0; i < kNumWrites; ++i) {
        const std::uint64_t key = random() % 30;
        const absl::Status written =
            random() % 3 == 0
                ? (*replica)->Delete(key)
                : (*replica)->Put(key, std::to_string(random() % 1'000));
        ASSERT_THAT(written, IsOk());
      }
    });
  }
  for (const std::uint32_t model : {2, 1}) {
    ASSERT_THAT(b_->Follow(ServedTinyModel(model)), IsOk());
  }
  Redis({"XTRIM", kRedisChangesKey, "MAXLEN", "0"});
  for (std::thread& writer : writers) writer.join();
  for (Replica* replica : {&a_, &b_}) {
    const Documents stored = replica->Stored();
    while (replica->All() != stored) std::this_thread::yield();
    replica->changes().Stop();
  }
  for (const auto& [key, title] : b_.All()) {
    EXPECT_TRUE(b_->HasVectorOf(std::uint64_t{std::stoull(key)}, 1)) << key;
  }
}

}  // namespace
}  // namespace semrank
