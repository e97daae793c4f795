#include "server/vectors/embedding_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/base/errors.h"
#include "tests/server/vectors/engine_fixture.h"
#include "tests/support/run_engines.h"

namespace semrank {
namespace {

using ::testing::SizeIs;

const std::string kTooLong(61, 'x');

class EmbeddingEngineTest : public EngineFixture {};

TEST_F(EmbeddingEngineTest, QueriesAndDocumentsHaveTheirOwnTowers) {
  EXPECT_NE(VectorOf(Side::kQuery, "text"), VectorOf(Side::kDocument, "text"));
}

TEST_F(EmbeddingEngineTest, DocumentVectorsAreTheSameBitsInAnyBatch) {
  const std::vector<std::string> texts = NumberedTitles(700);
  ASSERT_THAT(Embed(Side::kDocument, texts), IsOk());
  const std::vector<float> together = embedded_.vectors;
  EXPECT_EQ(embedded_.cache.misses, 700u);
  ASSERT_THAT(Embed(Side::kDocument, texts), IsOk());
  EXPECT_EQ(embedded_.cache.hits, 700u);
  EXPECT_EQ(embedded_.vectors, together);
  UseCache(0);
  for (int i = 0; i < 700; i += 99) {
    const std::vector<float> alone = VectorOf(Side::kDocument, texts[i]);
    EXPECT_TRUE(
        std::ranges::equal(alone, std::span(together).subspan(i * kDim, kDim)))
        << i;
  }
}

TEST_F(EmbeddingEngineTest, QueriesAreNeverCached) {
  ASSERT_THAT(Embed(Side::kQuery, {"q"}), IsOk());
  ASSERT_THAT(Embed(Side::kQuery, {"q"}), IsOk());
  EXPECT_EQ(embedded_.cache.misses, 1u);
  EXPECT_EQ(cache_->GetStats().num_entries, 0u);
}

TEST_F(EmbeddingEngineTest, EmbedIsAllOrNone) {
  for (const auto& [text, reason] :
       {std::pair{kTooLong, "TEXT_TOO_LONG"}, {"\x80", "INVALID_UTF8"}}) {
    const absl::Status status = Embed(Side::kDocument, {"fine", text});
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(ErrorReason(status), reason);
    EXPECT_EQ(ErrorValues(status)["field"], "texts[1]");
  }
  EXPECT_EQ(ErrorReason(Embed(Side::kQuery, {})), "NO_TEXTS");
  EXPECT_EQ(ErrorReason(Embed(Side::kQuery, NumberedTitles(2001))),
            "TOO_MANY_TEXTS");
}

TEST_F(EmbeddingEngineTest, ALargeBatchIsGivenUpBetweenTwoSlices) {
  EXPECT_THAT(
      Embed(Side::kDocument, NumberedTitles(2000), FakeCaller::GoneAfter(3)),
      StatusIs(absl::StatusCode::kCancelled));
  const std::size_t num_embedded = cache_->GetStats().num_entries;
  EXPECT_GT(num_embedded, 0u);
  EXPECT_LT(num_embedded, 2000u);
}

TEST_F(EmbeddingEngineTest, BadTextsCanBeSkippedWithoutMovingTheOthers) {
  const std::vector<std::string_view> texts = {"one", kTooLong, "two", "\xff"};
  ASSERT_THAT(
      EmbedAll(
          *embedding_, served_,
          {.side = Side::kDocument, .texts = texts, .skip_bad_texts = true},
          FakeCaller(), embedded_),
      IsOk());
  ASSERT_THAT(embedded_.problems, SizeIs(2));
  EXPECT_EQ(embedded_.problems[0].index, 1u);
  EXPECT_EQ(ErrorReason(embedded_.problems[0].status), "TEXT_TOO_LONG");
  EXPECT_EQ(ErrorReason(embedded_.problems[1].status), "INVALID_UTF8");
  const std::vector<float> all = embedded_.vectors;
  ASSERT_EQ(all.size(), 4u * kDim);
  EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(2 * kDim, kDim),
                                 VectorOf(Side::kDocument, "two")));
  EXPECT_TRUE(std::ranges::equal(std::span(all).subspan(kDim, kDim),
                                 std::vector<float>(kDim, 0)));
}

TEST(SliceEndTest, StopsAtTheTextsTheBytesAndTheEnd) {
  const auto of_bytes = [](std::size_t num_bytes) {
    return [num_bytes](std::size_t) { return num_bytes; };
  };
  EXPECT_EQ(SliceEnd(0, 5'000, of_bytes(1)), std::size_t{kSliceTexts});
  EXPECT_EQ(SliceEnd(10, 5'000, of_bytes(kSliceBytes / 2)), 12u);
  EXPECT_EQ(SliceEnd(7, 8, of_bytes(10 * kSliceBytes)), 8u);
  EXPECT_EQ(SliceEnd(8, 8, of_bytes(1)), 8u);
}

}  // namespace
}  // namespace semrank
