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
  const std::int64_t num_candidates = NumCandidates(request, embedding_dim);
  std::int64_t begin = 0;
  while (begin < num_candidates) {
    chunks.push_back(
        MakeChunk(begin, num_candidates, limits,
                  [&](std::int64_t first, std::int64_t end) {
                    v1::RankRequest chunk = WithoutCandidates(request);
                    AddCandidates(request, embedding_dim, first, end, chunk);
                    return chunk;
                  }));
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
  const auto chunks = AllChunks(MixedRequest(), 2, ToMessageLimits({}));
  ASSERT_EQ(chunks.size(), 1);
  EXPECT_EQ(chunks[0].DebugString(), MixedRequest().DebugString());
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
  FinishRank(2, whole);
  EXPECT_THAT(whole.embedded_titles(), ElementsAre(2));
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

// Versions that chunks of one item each are sent to. From `leaves_at` chunks
// on, the version that answered is gone and the next one answers.
struct Reloading {
  int leaves_at;
  int version = 3;
  std::vector<std::int64_t> asked = {};
  int num_starts = 0;

  absl::Status Ask(v1::ModelRef& answering) {
    asked.push_back(answering.version());
    if (static_cast<int>(asked.size()) == leaves_at) ++version;
    if (answering.version() != 0 && answering.version() != version) {
      return FromGrpcStatus(
          ServerError(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND", "gone"),
          "server");
    }
    answering.set_version(version);
    return absl::OkStatus();
  }
  absl::Status Send(std::int64_t wanted_version) {
    v1::ModelRef model;
    model.set_version(wanted_version);
    return SendToOneVersion(model, /*max_attempts=*/2,
                            [&](v1::ModelRef& answering) {
                              ++num_starts;
                              absl::Status status;
                              for (int i = 0; i < 3 && status.ok(); ++i) {
                                status = Ask(answering);
                              }
                              return status;
                            });
  }
};

TEST(SendToOneVersionTest, AllChunksGoToOneVersion) {
  Reloading server{.leaves_at = 0};
  EXPECT_THAT(server.Send(0), IsOk());
  EXPECT_THAT(server.asked, ElementsAre(0, 3, 3));
}

TEST(SendToOneVersionTest, UnloadedVersionRestartsTheCall) {
  Reloading server{.leaves_at = 3};
  EXPECT_THAT(server.Send(0), IsOk());
  EXPECT_THAT(server.asked, ElementsAre(0, 3, 3, 0, 4, 4));
  EXPECT_EQ(server.num_starts, 2);
}

TEST(SendToOneVersionTest, RequestedVersionIsNotReplaced) {
  Reloading server{.leaves_at = 2};
  EXPECT_THAT(server.Send(3), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(server.asked, ElementsAre(3, 3));
}

}  // namespace
}  // namespace semrank
