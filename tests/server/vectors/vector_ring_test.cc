#include "server/vectors/vector_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// One line of header and one of vector.
constexpr int kRingDim = 16;
constexpr std::size_t kEntryBytes = 128;

VectorKey RingKey(std::uint64_t text, std::uint32_t model = 0) {
  return {model, Side::kDocument, Fingerprint{text, text * 0x9e3779b97f4a7c15}};
}

std::vector<float> Vector(float value, int dim = kRingDim) {
  return std::vector<float>(dim, value);
}

// As many entries as the text has left over from 40.
std::vector<LexicalEntry> Entries(std::uint64_t text) {
  std::vector<LexicalEntry> entries(text % 40);
  for (LexicalEntry& entry : entries) {
    entry = {static_cast<std::uint16_t>(&entry - entries.data()),
             static_cast<std::uint16_t>(text)};
  }
  return entries;
}

void Insert(VectorRing& ring, const VectorKey& key,
            const std::vector<float>& vector,
            const std::vector<LexicalEntry>& entries = {}) {
  ring.Insert(key, {static_cast<int>(vector.size())}, vector.data(), entries);
}

std::vector<float> VectorOf(const VectorRing::Record& record) {
  std::vector<float> vector(record.format.dim);
  DecodeRow(record.row(), record.format, vector.data());
  return vector;
}

std::unique_ptr<VectorRing> MakeRing(std::size_t capacity_bytes) {
  return VectorRing::Create(capacity_bytes).value();
}

TEST(VectorRingTest, FindsWhatWasInserted) {
  const auto ring = MakeRing(10 * kEntryBytes);
  Insert(*ring, RingKey(1), Vector(0.5));
  const VectorRing::Record* const found = ring->Find(RingKey(1));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(VectorOf(*found)[kRingDim - 1], 0.5f);
  EXPECT_EQ(ring->Find(RingKey(2)), nullptr);
}

TEST(VectorRingTest, ModelAndSideArePartOfTheKey) {
  const auto ring = MakeRing(10 * kEntryBytes);
  Insert(*ring, RingKey(1), Vector(0.5));
  VectorKey query_side = RingKey(1);
  query_side.side = Side::kQuery;
  EXPECT_EQ(ring->Find(RingKey(1, 7)), nullptr);
  EXPECT_EQ(ring->Find(query_side), nullptr);
}

TEST(VectorRingTest, SecondInsertKeepsTheFirstVector) {
  const auto ring = MakeRing(10 * kEntryBytes);
  Insert(*ring, RingKey(1), Vector(0.5));
  Insert(*ring, RingKey(1), Vector(0.25));
  EXPECT_EQ(VectorOf(*ring->Find(RingKey(1)))[0], 0.5f);
  EXPECT_EQ(ring->num_entries(), 1u);
}

TEST(VectorRingTest, Bf16RowTakesHalfOfTheBytes) {
  const auto ring = MakeRing(10 * kEntryBytes);
  const RowFormat format = {64, VectorPrecision::kBf16};
  const std::vector<LexicalEntry> entries = {{7, 100}};
  ring->Insert(RingKey(1), format, Vector(-0.75, 64).data(), entries);
  EXPECT_EQ(VectorOf(*ring->Find(RingKey(1))), Vector(-0.75, 64));
  EXPECT_TRUE(std::ranges::equal(ring->Find(RingKey(1))->lexical(), entries));
  // A header, a row of 128 bytes, and the entries.
  EXPECT_EQ(ring->live_bytes(), 256u);
}

TEST(VectorRingTest, Int8RowTakesAQuarterOfTheBytesAndItsScale) {
  const auto ring = MakeRing(10 * kEntryBytes);
  const RowFormat format = {256, VectorPrecision::kInt8};
  ring->Insert(RingKey(1), format, Vector(-0.75, 256).data(), {});
  EXPECT_EQ(VectorOf(*ring->Find(RingKey(1))), Vector(-0.75, 256));
  // A header and a row of 260 bytes.
  EXPECT_EQ(ring->live_bytes(), 64u + 320u);
}

TEST(VectorRingTest, OldestLeavesFirst) {
  const auto ring = MakeRing(3 * kEntryBytes);
  for (int i = 0; i < 4; ++i) Insert(*ring, RingKey(i), Vector(i));
  EXPECT_EQ(ring->Find(RingKey(0)), nullptr);
  for (int i = 1; i < 4; ++i) EXPECT_NE(ring->Find(RingKey(i)), nullptr) << i;
  EXPECT_EQ(ring->num_evictions(), 1u);
}

TEST(VectorRingTest, FoundEntryGetsASecondChance) {
  const auto ring = MakeRing(3 * kEntryBytes);
  for (int i = 0; i < 3; ++i) Insert(*ring, RingKey(i), Vector(i));
  ring->Find(RingKey(0));
  Insert(*ring, RingKey(3), Vector(3));
  EXPECT_EQ(ring->Find(RingKey(1)), nullptr);
  ASSERT_NE(ring->Find(RingKey(0)), nullptr);
  EXPECT_EQ(VectorOf(*ring->Find(RingKey(0)))[kRingDim - 1], 0.0f);
}

TEST(VectorRingTest, TooLargeVectorIsNotKept) {
  const auto ring = MakeRing(2 * kEntryBytes);
  Insert(*ring, RingKey(1), Vector(1));
  Insert(*ring, RingKey(2), Vector(2, 1000));
  EXPECT_EQ(ring->Find(RingKey(2)), nullptr);
  EXPECT_NE(ring->Find(RingKey(1)), nullptr);
}

TEST(VectorRingTest, DropModelsExceptForgetsTheOthers) {
  const auto ring = MakeRing(10 * kEntryBytes);
  Insert(*ring, RingKey(1, 0), Vector(1));
  Insert(*ring, RingKey(1, 1), Vector(2));
  ring->DropModelsExcept(std::vector<std::uint32_t>{1});
  EXPECT_EQ(ring->Find(RingKey(1, 0)), nullptr);
  EXPECT_NE(ring->Find(RingKey(1, 1)), nullptr);
  EXPECT_EQ(ring->live_bytes(), kEntryBytes);
}

TEST(VectorRingTest, DroppedMemoryIsUsedAgain) {
  const auto ring = MakeRing(4 * kEntryBytes);
  for (int i = 0; i < 4; ++i) Insert(*ring, RingKey(i, 0), Vector(i));
  ring->DropModelsExcept({});
  for (int i = 0; i < 4; ++i) Insert(*ring, RingKey(i, 1), Vector(i));
  EXPECT_EQ(ring->num_entries(), 4u);
  EXPECT_EQ(ring->num_evictions(), 0u);
}

// Against a map of all that was ever inserted, with records of several lengths
// and a ring that wraps around thousands of times.
TEST(VectorRingTest, RandomUseNeverMixesVectorsUpAndStaysWithinItsBytes) {
  std::mt19937 random(7);
  for (const std::size_t capacity_bytes : {200u, 1000u, 4096u, 50000u}) {
    const auto ring = MakeRing(capacity_bytes);
    std::map<std::uint64_t, std::vector<float>> inserted;
    for (int step = 0; step < 20000; ++step) {
      const std::uint64_t text = random() % 300;
      const int dim = 1 + static_cast<int>(text % 100);
      if (random() % 2 == 0) {
        inserted.try_emplace(text, Vector(static_cast<float>(step), dim));
        if (ring->Find(RingKey(text)) == nullptr) {
          inserted[text] = Vector(static_cast<float>(step), dim);
        }
        Insert(*ring, RingKey(text), inserted[text], Entries(text));
      } else if (const auto* found = ring->Find(RingKey(text))) {
        ASSERT_EQ(VectorOf(*found), inserted[text]);
        ASSERT_TRUE(std::ranges::equal(found->lexical(), Entries(text)));
      }
      ASSERT_LE(ring->live_bytes(), ring->capacity_bytes());
      ASSERT_LE(ring->capacity_bytes(), capacity_bytes);
      if (step % 5000 == 4999) ring->DropModelsExcept({});
    }
  }
}

TEST(VectorRingTest, ImpossibleCapacityIsRefused) {
  EXPECT_THAT(VectorRing::Create(std::size_t{1} << 62),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace semrank
