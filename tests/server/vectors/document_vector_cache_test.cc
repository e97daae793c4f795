#include "server/vectors/document_vector_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr int kDim = 8;

VectorKey Key(std::uint64_t text, std::uint32_t model = 0) {
  return {model, Side::kDocument,
          Fingerprint{text * 0xbf58476d1ce4e5b9, text * 0x9e3779b97f4a7c15}};
}

std::vector<VectorKey> Keys(int first, int last, std::uint32_t model = 0) {
  std::vector<VectorKey> keys;
  for (int i = first; i < last; ++i) keys.push_back(Key(i, model));
  return keys;
}

// Row i is the number of text first + i, kDim times.
std::vector<float> Rows(int first, int last) {
  std::vector<float> rows;
  for (int i = first; i < last; ++i) {
    rows.insert(rows.end(), kDim, static_cast<float>(i));
  }
  return rows;
}

class DocumentVectorCacheTest : public ::testing::Test {
 protected:
  void Make(std::size_t capacity_bytes) {
    cache_ = DocumentVectorCache::Create(capacity_bytes).value();
  }
  void Insert(int first, int last, std::uint32_t model = 0) {
    cache_->Insert(Keys(first, last, model), {kDim}, Rows(first, last).data());
  }
  int Find(int first, int last, std::uint32_t model = 0) {
    rows_.assign((last - first) * kDim, -1.0f);
    found_.assign(last - first, 2);
    return cache_->Find(Keys(first, last, model), {kDim}, {rows_.data()},
                        found_);
  }

  std::unique_ptr<DocumentVectorCache> cache_;
  std::vector<float> rows_;
  std::vector<std::uint8_t> found_;
};

TEST_F(DocumentVectorCacheTest, CopiesKnownRowsAndLeavesTheOthersAlone) {
  Make(32 << 20);
  Insert(0, 500);
  EXPECT_EQ(Find(250, 750), 250);
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(found_[i], i < 250 ? 1 : 0) << i;
    EXPECT_EQ(rows_[i * kDim], i < 250 ? 250.0f + i : -1.0f) << i;
  }
}

TEST_F(DocumentVectorCacheTest, ScoresKnownRowsWhereTheyLie) {
  Make(32 << 20);
  Insert(0, 500);
  const std::vector<float> query(kDim, 2.0f);
  std::vector<float> scores(500, -1.0f);
  found_.resize(500);
  const VectorRows wanted = {.query_row = query.data(),
                             .scores = scores.data()};
  EXPECT_EQ(cache_->Find(Keys(250, 750), {kDim}, wanted, found_), 250);
  for (int i = 0; i < 500; ++i) {
    const float expected = 2.0f * kDim * static_cast<float>(250 + i);
    EXPECT_EQ(scores[i], i < 250 ? expected : -1.0f) << i;
  }
}

TEST_F(DocumentVectorCacheTest, FindOneCopiesVectorAndEntriesOut) {
  Make(32 << 20);
  LexicalBatch entries = {.offsets = {0, 1}, .entries = {{7, 100}}};
  cache_->Insert(Keys(3, 4), {kDim}, Rows(3, 4).data(), &entries);
  std::vector<float> row(kDim);
  std::vector<LexicalEntry> found;
  EXPECT_FALSE(cache_->FindOne(Key(4), row, found));
  EXPECT_TRUE(cache_->FindOne(Key(3), row, found));
  EXPECT_EQ(row, Rows(3, 4));
  EXPECT_EQ(found, entries.entries);
  Make(0);
  EXPECT_FALSE(cache_->FindOne(Key(3), row, found));
}

TEST_F(DocumentVectorCacheTest, FindsLexicalCosinesIfTheyAreAskedFor) {
  Make(32 << 20);
  LexicalBatch entries;
  for (std::uint16_t i = 0; i < 100; ++i) {
    entries.entries.push_back({i, 100});
    entries.entries.push_back({1000, i});
    entries.offsets.push_back(
        static_cast<std::uint32_t>(entries.entries.size()));
  }
  cache_->Insert(Keys(0, 100), {kDim}, Rows(0, 100).data(), &entries);
  rows_.resize(100 * kDim);
  found_.resize(100);
  LexicalQuery query;
  query.Prepare(std::vector<LexicalEntry>{{70, 3}, {1000, 5}});
  std::vector<float> lexical(100, -1.0f);
  EXPECT_EQ(
      cache_->Find(
          Keys(50, 150), {kDim},
          {.dense = rows_.data(), .query = &query, .lexical = lexical.data()},
          found_),
      50);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(lexical[i], i < 50 ? query.Cosine(entries[50 + i]) : -1.0f) << i;
  }
  EXPECT_EQ(lexical[20], LexicalCosine(3 * 100 + 5 * 70));
}

TEST_F(DocumentVectorCacheTest, NoCapacityStoresNothing) {
  Make(0);
  Insert(0, 10);
  EXPECT_EQ(Find(0, 10), 0);
  EXPECT_EQ(found_, std::vector<std::uint8_t>(10, 0));
  EXPECT_EQ(cache_->GetStats().capacity_bytes, 0u);
}

TEST_F(DocumentVectorCacheTest, EvictionKeepsItWithinItsBytes) {
  Make(64 << 10);
  Insert(0, 10000);
  const DocumentVectorCache::Stats stats = cache_->GetStats();
  EXPECT_LE(stats.live_bytes, 64u << 10);
  EXPECT_GT(stats.num_entries, 400u);
  EXPECT_EQ(stats.num_entries + stats.num_evictions, 10000u);
}

TEST_F(DocumentVectorCacheTest, AnotherModelsVectorIsNeverHandedOut) {
  Make(32 << 20);
  Insert(0, 10, 1);
  EXPECT_EQ(Find(0, 10, 2), 0);
  cache_->DropModelsExcept(std::vector<std::uint32_t>{2});
  EXPECT_EQ(Find(0, 10, 1), 0);
  EXPECT_EQ(cache_->GetStats().num_entries, 0u);
}

// Each row contains the number of its text. ThreadSanitizer runs this too.
TEST_F(DocumentVectorCacheTest, ThreadsSeeWholeVectorsOnly) {
  Make(256 << 10);
  std::atomic<int> num_wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> rows(200 * kDim);
      std::vector<std::uint8_t> found(200);
      for (int round = 0; round < 100; ++round) {
        const int first = (round * 37 + t * 1000) % 3000;
        cache_->Insert(Keys(first, first + 200), {kDim},
                       Rows(first, first + 200).data());
        const int from = (first + 100) % 3000;
        cache_->Find(Keys(from, from + 200), {kDim}, {rows.data()}, found);
        const std::vector<float> want = Rows(from, from + 200);
        for (int i = 0; i < 200 * kDim; ++i) {
          if (found[i / kDim] != 0 && rows[i] != want[i]) ++num_wrong;
        }
        if (round % 20 == t) cache_->DropModelsExcept({});
        cache_->GetStats();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_wrong, 0);
}

}  // namespace
}  // namespace semrank
