#include "client/lib/request_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "tests/client/lib/fake_server.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;

constexpr MessageLimits kThreeTexts = {.max_texts = 3, .max_bytes = 1 << 20};

// Two titles, two ids, one name and three vectors of two numbers.
v1::RankRequest MixedRequest() {
  v1::RankRequest request;
  request.set_query("q");
  for (const char* title : {"a", "b"}) request.add_titles(title);
  for (const int id : {7, 8}) request.add_ids(id);
  request.add_document_ids("d");
  request.set_vectors("AAAABBBBCCCCDDDDEEEEFFFF");
  request.set_top_k(4);
  request.set_min_score(0.25f);
  request.set_with_titles(true);
  request.set_parts(v1::PARTS_SEMANTIC);
  request.set_with_parts(true);
  request.mutable_filter()->add_exclude_tags("dev");
  request.set_name_match(true);
  return request;
}

// All fields but the candidates and the model.
std::string CommonFields(v1::RankRequest request) {
  request.clear_titles();
  request.clear_ids();
  request.clear_document_ids();
  request.clear_vectors();
  request.clear_model();
  return request.DebugString();
}

std::vector<v1::RankRequest> AllChunks(const v1::RankRequest& request,
                                       std::uint32_t embedding_dim,
                                       const MessageLimits& limits) {
  std::vector<v1::RankRequest> chunks;
  std::int64_t begin = 0;
  while (begin < NumCandidates(request, embedding_dim)) {
    chunks.push_back(RankChunk(request, embedding_dim, begin, {}, limits));
    begin += NumCandidates(chunks.back(), embedding_dim);
  }
  return chunks;
}

TEST(RankChunkTest, CandidatesKeepTheirOrderAcrossKinds) {
  const auto chunks = AllChunks(MixedRequest(), 2, kThreeTexts);
  ASSERT_EQ(chunks.size(), 3);
  EXPECT_THAT(chunks[0].titles(), ElementsAre("a", "b"));
  EXPECT_THAT(chunks[0].ids(), ElementsAre(7));
  EXPECT_THAT(chunks[1].ids(), ElementsAre(8));
  EXPECT_THAT(chunks[1].document_ids(), ElementsAre("d"));
  EXPECT_EQ(chunks[1].vectors(), "AAAABBBB");
  EXPECT_EQ(chunks[2].vectors(), "CCCCDDDDEEEEFFFF");
  for (const v1::RankRequest& chunk : chunks) {
    EXPECT_EQ(CommonFields(chunk), CommonFields(MixedRequest()));
  }
}

TEST(RankChunkTest, RequestThatFitsStaysUnchanged) {
  const v1::RankRequest request = MixedRequest();
  const MessageLimits none = ToMessageLimits({});
  EXPECT_EQ(RankChunk(request, 2, 0, request.model(), none).DebugString(), [&] {
    v1::RankRequest with_model = request;
    with_model.mutable_model();
    return with_model.DebugString();
  }());
}

TEST(RankChunkTest, ChunksStayWithinTheLimits) {
  v1::RankRequest request;
  request.set_query(std::string(100, 'q'));
  for (int i = 0; i < 500; ++i) request.add_titles(std::string(i, 't'));
  const auto chunks =
      AllChunks(request, 0, {.max_texts = 1'000, .max_bytes = 8'192});
  EXPECT_GT(chunks.size(), 15);
  int num_titles = 0;
  for (const v1::RankRequest& chunk : chunks) {
    EXPECT_LE(chunk.ByteSizeLong(), 8'192);
    num_titles += chunk.titles_size();
  }
  EXPECT_EQ(num_titles, 500);
}

// The server says what is wrong with it; leaving it out would never end.
TEST(RankChunkTest, TextOverTheLimitsIsAChunk) {
  v1::RankRequest request;
  request.add_titles(std::string(10'000, 't'));
  EXPECT_EQ(AllChunks(request, 0, {.max_texts = 10, .max_bytes = 100}).size(),
            1);
}

TEST(EmbedChunkTest, HasTheTextsThatFit) {
  v1::EmbedTextsRequest request;
  request.set_side(v1::SIDE_QUERY);
  request.set_encoding(v1::VECTOR_ENCODING_INT8);
  for (const char* text : {"a", "b", "c", "d", "e"}) request.add_texts(text);
  v1::ModelRef model;
  model.set_version(7);
  const auto chunk = EmbedChunk(request, 1, model, kThreeTexts);
  EXPECT_THAT(chunk.texts(), ElementsAre("b", "c", "d"));
  EXPECT_EQ(chunk.side(), v1::SIDE_QUERY);
  EXPECT_EQ(chunk.encoding(), v1::VECTOR_ENCODING_INT8);
  EXPECT_EQ(chunk.model().version(), 7);
}

v1::RankResponse Ranking(const std::vector<std::pair<int, float>>& ranked) {
  v1::RankResponse response;
  for (const auto& [index, score] : ranked) {
    response.add_indices(index);
    response.add_scores(score);
    response.add_titles(absl::StrFormat("%d", index));
    response.add_semantic_scores(score / 2);
    response.add_lexical_scores(score / 4);
  }
  response.add_problems()->set_index(1);
  response.add_embedded_titles(2);
  response.set_cache_hits(2);
  response.mutable_timings()->set_embed_nanos(5);
  return response;
}

TEST(AddRankChunkTest, MergedChunksAreSortedAndCutToTopK) {
  v1::RankResponse whole;
  AddRankChunk(0, Ranking({{2, 0.5f}, {0, 0.25f}}), whole);
  AddRankChunk(3, Ranking({{0, 0.75f}, {2, 0.5f}}), whole);
  FinishRank(3, whole);
  EXPECT_THAT(whole.indices(), ElementsAre(3, 2, 5));
  EXPECT_THAT(whole.scores(), ElementsAre(0.75f, 0.5f, 0.5f));
  EXPECT_THAT(whole.titles(), ElementsAre("0", "2", "2"));
  EXPECT_THAT(whole.semantic_scores(), ElementsAre(0.375f, 0.25f, 0.25f));
  EXPECT_THAT(whole.lexical_scores(), ElementsAre(0.1875f, 0.125f, 0.125f));
  EXPECT_EQ(whole.problems(0).index(), 1);
  EXPECT_EQ(whole.problems(1).index(), 4);
  EXPECT_THAT(whole.embedded_titles(), ElementsAre(2, 5));
  EXPECT_EQ(whole.cache_hits(), 4);
  EXPECT_EQ(whole.timings().embed_nanos(), 10);
}

TEST(AddRankChunkTest, CandidatesThatTheQueryNamesStayFirst) {
  v1::RankResponse whole, chunk = Ranking({{0, 0.25f}, {1, 0.75f}});
  chunk.add_name_matches(v1::NAME_MATCH_NAME);
  chunk.add_name_matches(v1::NAME_MATCH_UNSPECIFIED);
  AddRankChunk(0, chunk, whole);
  AddRankChunk(2, chunk, whole);
  FinishRank(3, whole);
  EXPECT_THAT(whole.indices(), ElementsAre(0, 2, 1));
  EXPECT_THAT(whole.name_matches(),
              ElementsAre(v1::NAME_MATCH_NAME, v1::NAME_MATCH_NAME,
                          v1::NAME_MATCH_UNSPECIFIED));
}

TEST(AddEmbedChunkTest, VectorsAndScalesFollowEachOther) {
  v1::EmbedTextsResponse chunk, whole;
  chunk.set_vectors("ab");
  chunk.set_embedding_dim(1);
  chunk.add_scales(0.5f);
  chunk.add_scales(2);
  AddEmbedChunk(chunk, whole);
  AddEmbedChunk(chunk, whole);
  EXPECT_EQ(whole.vectors(), "abab");
  EXPECT_THAT(whole.scales(), ElementsAre(0.5f, 2, 0.5f, 2));
  EXPECT_EQ(whole.embedding_dim(), 1);
}

// Versions that chunks of one item each are sent to. From `leaves_at` chunks
// on, the version that answered is gone and the next one answers.
struct Reloading {
  int leaves_at;
  int version = 3;
  std::vector<std::int64_t> asked = {};
  int num_restarts = 0;

  absl::Status Send(std::int64_t wanted_version) {
    v1::ModelRef model;
    model.set_version(wanted_version);
    return SendChunks(
        3, model, /*max_attempts=*/2, [&] { ++num_restarts; },
        [&](std::int64_t,
            const v1::ModelRef& ref) -> absl::StatusOr<ChunkResult> {
          asked.push_back(ref.version());
          if (static_cast<int>(asked.size()) == leaves_at) ++version;
          if (ref.version() != 0 && ref.version() != version) {
            return FromGrpcStatus(ServerError(grpc::StatusCode::NOT_FOUND,
                                              "MODEL_NOT_FOUND", "gone"),
                                  "server");
          }
          v1::ModelRef answering;
          answering.set_version(version);
          return ChunkResult{1, answering};
        });
  }
};

TEST(SendChunksTest, AllChunksGoToOneVersion) {
  Reloading server{.leaves_at = 0};
  EXPECT_THAT(server.Send(0), IsOk());
  EXPECT_THAT(server.asked, ElementsAre(0, 3, 3));
}

TEST(SendChunksTest, UnloadedVersionRestartsTheCall) {
  Reloading server{.leaves_at = 3};
  EXPECT_THAT(server.Send(0), IsOk());
  EXPECT_THAT(server.asked, ElementsAre(0, 3, 3, 0, 4, 4));
  EXPECT_EQ(server.num_restarts, 2);
}

TEST(SendChunksTest, RequestedVersionIsNotReplaced) {
  Reloading server{.leaves_at = 2};
  EXPECT_THAT(server.Send(3), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(server.asked, ElementsAre(3, 3));
}

}  // namespace
}  // namespace semrank
