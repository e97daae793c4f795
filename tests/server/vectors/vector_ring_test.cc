#include "server/vectors/vector_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// One line of header and one of vector.
constexpr int kDim = 16;
constexpr std::size_t kEntryBytes = 128;

VectorKey Key(std::uint64_t text, std::uint32_t model = 0) {
  return {model, Side::kDocument, Fingerprint{text, text * 0x9e3779b97f4a7c15}};
}

std::vector<float> Vector(float value, int dim = kDim) {
  return std::vector<float>(dim, value);
}

std::unique_ptr<VectorRing> MakeRing(std::size_t capacity_bytes) {
  return VectorRing::Create(capacity_bytes).value();
}

TEST(VectorRingTest, FindsWhatWasInserted) {
  const auto ring = MakeRing(10 * kEntryBytes);
  ring->Insert(Key(1), Vector(0.5));
  const float* const found = ring->Find(Key(1));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found[kDim - 1], 0.5f);
  EXPECT_EQ(ring->Find(Key(2)), nullptr);
}

TEST(VectorRingTest, ModelAndSideArePartOfTheKey) {
  const auto ring = MakeRing(10 * kEntryBytes);
  ring->Insert(Key(1), Vector(0.5));
  VectorKey query_side = Key(1);
  query_side.side = Side::kQuery;
  EXPECT_EQ(ring->Find(Key(1, 7)), nullptr);
  EXPECT_EQ(ring->Find(query_side), nullptr);
}

TEST(VectorRingTest, SecondInsertKeepsTheFirstVector) {
  const auto ring = MakeRing(10 * kEntryBytes);
  ring->Insert(Key(1), Vector(0.5));
  ring->Insert(Key(1), Vector(0.25));
  EXPECT_EQ(ring->Find(Key(1))[0], 0.5f);
  EXPECT_EQ(ring->num_entries(), 1u);
}

TEST(VectorRingTest, OldestLeavesFirst) {
  const auto ring = MakeRing(3 * kEntryBytes);
  for (int i = 0; i < 4; ++i) ring->Insert(Key(i), Vector(i));
  EXPECT_EQ(ring->Find(Key(0)), nullptr);
  for (int i = 1; i < 4; ++i) EXPECT_NE(ring->Find(Key(i)), nullptr) << i;
  EXPECT_EQ(ring->num_evictions(), 1u);
}

TEST(VectorRingTest, FoundEntryGetsASecondChance) {
  const auto ring = MakeRing(3 * kEntryBytes);
  for (int i = 0; i < 3; ++i) ring->Insert(Key(i), Vector(i));
  ring->Find(Key(0));
  ring->Insert(Key(3), Vector(3));
  EXPECT_EQ(ring->Find(Key(1)), nullptr);
  ASSERT_NE(ring->Find(Key(0)), nullptr);
  EXPECT_EQ(ring->Find(Key(0))[kDim - 1], 0.0f);
}

TEST(VectorRingTest, TooLargeVectorIsNotKept) {
  const auto ring = MakeRing(2 * kEntryBytes);
  ring->Insert(Key(1), Vector(1));
  ring->Insert(Key(2), Vector(2, 1000));
  EXPECT_EQ(ring->Find(Key(2)), nullptr);
  EXPECT_NE(ring->Find(Key(1)), nullptr);
}

TEST(VectorRingTest, DropModelsExceptForgetsTheOthers) {
  const auto ring = MakeRing(10 * kEntryBytes);
  ring->Insert(Key(1, 0), Vector(1));
  ring->Insert(Key(1, 1), Vector(2));
  ring->DropModelsExcept(std::vector<std::uint32_t>{1});
  EXPECT_EQ(ring->Find(Key(1, 0)), nullptr);
  EXPECT_NE(ring->Find(Key(1, 1)), nullptr);
  EXPECT_EQ(ring->live_bytes(), kEntryBytes);
}

TEST(VectorRingTest, DroppedMemoryIsUsedAgain) {
  const auto ring = MakeRing(4 * kEntryBytes);
  for (int i = 0; i < 4; ++i) ring->Insert(Key(i, 0), Vector(i));
  ring->DropModelsExcept({});
  for (int i = 0; i < 4; ++i) ring->Insert(Key(i, 1), Vector(i));
  EXPECT_EQ(ring->num_entries(), 4u);
  EXPECT_EQ(ring->num_evictions(), 0u);
}

// Against a map of all that was ever inserted, with vectors of several lengths
// and a ring that wraps around thousands of times.
TEST(VectorRingTest, RandomUseNeverMixesVectorsUpAndStaysWithinItsBytes) {
  std::mt19937 random(7);
  for (const std::size_t capacity_bytes : {200u, 1000u, 4096u, 50000u}) {
    const auto ring = MakeRing(capacity_bytes);
    std::map<std::uint64_t, std::vector<float>> inserted;
    std::uint64_t position = 0;
    for (int step = 0; step < 20000; ++step) {
      const std::uint64_t text = random() % 300;
      const int dim = 1 + static_cast<int>(text % 100);
      if (random() % 2 == 0) {
        inserted.try_emplace(text, Vector(static_cast<float>(step), dim));
        if (ring->Find(Key(text)) == nullptr) {
          inserted[text] = Vector(static_cast<float>(step), dim);
        }
        ring->Insert(Key(text), inserted[text]);
      } else if (const float* found = ring->Find(Key(text))) {
        ASSERT_EQ(std::vector<float>(found, found + dim), inserted[text]);
      }
      // A walk that everything else goes on beside.
      position =
          ring->Visit(position, 20,
                      [&](const VectorKey& key, std::span<const float> vector) {
                        EXPECT_EQ(std::vector(vector.begin(), vector.end()),
                                  inserted[key.text.hi]);
                      });
      ASSERT_LE(position, ring->end());
      if (position == ring->end()) position = 0;
      ASSERT_LE(ring->live_bytes(), ring->capacity_bytes());
      ASSERT_LE(ring->capacity_bytes(), capacity_bytes);
      if (step % 5000 == 4999) ring->DropModelsExcept({});
    }
  }
}

TEST(VectorRingTest, AVisitFromTheBeginningSeesEachRecordOnceOldestFirst) {
  const auto ring = MakeRing(4 * kEntryBytes);
  for (int i = 0; i < 6; ++i) ring->Insert(Key(i), Vector(i));
  std::vector<std::uint64_t> texts;
  std::uint64_t position = 0;
  while (position < ring->end()) {
    position = ring->Visit(
        position, 1, [&](const VectorKey& key, std::span<const float> vector) {
          texts.push_back(key.text.hi);
          EXPECT_EQ(vector.size(), kDim);
        });
  }
  EXPECT_THAT(texts, testing::ElementsAre(2, 3, 4, 5));
}

TEST(VectorRingTest, ImpossibleCapacityIsRefused) {
  EXPECT_THAT(VectorRing::Create(std::size_t{1} << 62),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace semrank
