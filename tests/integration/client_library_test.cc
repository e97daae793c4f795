// The client library against the real server, in one process.
#include <algorithm>
#include <map>
#include <thread>

#include "absl/strings/str_format.h"
#include "client/lib/client_status.h"
#include "client/lib/semrank_client.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

// This many texts need more than two messages of kLimits.max_texts_per_request.
constexpr int kNumTexts = 7'000;

class ClientLibraryTest : public RpcServerFixture {
 protected:
  static std::vector<std::string> Titles() {
    std::vector<std::string> titles;
    for (int i = 0; i < kNumTexts; ++i) {
      titles.push_back(absl::StrFormat("title %d of %d", i % 5'000, i / 1'000));
    }
    return titles;
  }
  static v1::EmbedTextsRequest EmbedRequest(std::vector<std::string> texts) {
    v1::EmbedTextsRequest request;
    request.set_side(v1::SIDE_DOCUMENT);
    request.mutable_texts()->Assign(texts.begin(), texts.end());
    return request;
  }

  std::unique_ptr<SemrankClient> client_ =
      SemrankClient::Create({.address = server_->address()}).value();
};

// Many texts go over one stream, and few are a call.
TEST_F(ClientLibraryTest, StreamedTextsHaveTheVectorsOfSingleTexts) {
  const std::vector<std::string> titles = Titles();
  ASSERT_OK_AND_ASSIGN(const v1::EmbedTextsResponse whole,
                       client_->EmbedTexts(EmbedRequest(titles)));
  ASSERT_EQ(whole.vectors().size(),
            kNumTexts * sizeof(float) * whole.embedding_dim());
  const std::size_t row_bytes = sizeof(float) * whole.embedding_dim();
  for (const int i : {0, 2'999, 3'000, 6'000, 6'999}) {
    ASSERT_OK_AND_ASSIGN(const v1::EmbedTextsResponse alone,
                         client_->EmbedTexts(EmbedRequest({titles[i]})));
    EXPECT_EQ(whole.vectors().substr(i * row_bytes, row_bytes), alone.vectors())
        << i;
  }
  EXPECT_EQ(
      Handled("EmbeddingService", "EmbedTextsStream", "OK", "bidi_stream"), 1);
  EXPECT_EQ(Handled("EmbeddingService", "EmbedTexts", "OK"), 5);
}

// Candidates are titles and vectors of the same texts, so every score occurs at
// least twice.
TEST_F(ClientLibraryTest, ChunkedCandidatesAreOneRanking) {
  const std::vector<std::string> titles = Titles();
  v1::RankRequest request;
  request.set_query("title of a title");
  request.mutable_titles()->Assign(titles.begin(), titles.end());
  request.set_vectors(
      client_->EmbedTexts(EmbedRequest(titles)).value().vectors());
  request.set_top_k(5'000);
  ASSERT_OK_AND_ASSIGN(const v1::RankResponse ranking, client_->Rank(request));
  ASSERT_EQ(ranking.indices_size(), 5'000);
  std::map<std::string, float> score_of;
  for (int i = 0; i < ranking.indices_size(); ++i) {
    const std::uint32_t index = ranking.indices(i);
    const auto [known, is_new] =
        score_of.emplace(titles[index % kNumTexts], ranking.scores(i));
    EXPECT_EQ(known->second, ranking.scores(i)) << index;
    if (i == 0) continue;
    EXPECT_TRUE(ranking.scores(i) < ranking.scores(i - 1) ||
                (ranking.scores(i) == ranking.scores(i - 1) &&
                 index > ranking.indices(i - 1)))
        << i;
  }
  request.set_top_k(0);
  ASSERT_OK_AND_ASSIGN(const v1::RankResponse all, client_->Rank(request));
  ASSERT_EQ(all.indices_size(), 2 * kNumTexts);
  EXPECT_TRUE(std::equal(ranking.indices().begin(), ranking.indices().end(),
                         all.indices().begin()));
}

TEST_F(ClientLibraryTest, ErrorInALaterChunkSaysWhereItStarts) {
  std::vector<std::string> titles = Titles();
  titles[3'017] = std::string(kLimits.max_text_bytes + 1, 'x');
  const auto response = client_->EmbedTexts(EmbedRequest(titles));
  EXPECT_THAT(response, StatusIs(absl::StatusCode::kInvalidArgument,
                                 AllOf(HasSubstr("texts[17]"),
                                       HasSubstr("counted from number 3000"))));
  EXPECT_TRUE(HasReason(response.status(), "TEXT_TOO_LONG"));
}

TEST_F(ClientLibraryTest, OverloadedServerIsRetried) {
  std::thread others([this, permit = admission_.Admit(4'999)]() mutable {
    ASSERT_TRUE(permit.ok());
    while (Rejected("OVERLOADED") < 1) std::this_thread::yield();
    permit = Admission::Permit();
  });
  EXPECT_THAT(client_->EmbedTexts(EmbedRequest({"a", "b"})), IsOk());
  others.join();
}

TEST_F(ClientLibraryTest, EachQueryOfARankStreamIsAnsweredAsByRank) {
  const std::vector<std::string> titles = Titles();
  std::vector<v1::RankRequest> requests(200);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].set_query(titles[i]);
    // Large requests run on a worker and are answered later.
    const std::size_t num_titles = i % 10 == 0 ? 1'200 : 5;
    requests[i].mutable_titles()->Assign(titles.begin() + i,
                                         titles.begin() + i + num_titles);
  }
  requests[17].clear_query();
  std::vector<absl::StatusOr<v1::RankResponse>> answers(requests.size());
  ASSERT_THAT(client_->RankStream(requests,
                                  [&](std::size_t number,
                                      absl::StatusOr<v1::RankResponse> answer) {
                                    answers[number] = std::move(answer);
                                    return absl::OkStatus();
                                  }),
              IsOk());
  EXPECT_EQ(Handled("RankingService", "RankStream", "OK", "bidi_stream"), 1);
  EXPECT_TRUE(HasReason(answers[17].status(), "EMPTY_QUERY"));
  for (const std::size_t i : {0, 1, 16, 18, 190, 199}) {
    ASSERT_OK_AND_ASSIGN(const v1::RankResponse alone,
                         client_->Rank(requests[i]));
    ASSERT_THAT(answers[i], IsOk());
    EXPECT_TRUE(std::ranges::equal(answers[i]->indices(), alone.indices()));
    EXPECT_TRUE(std::ranges::equal(answers[i]->scores(), alone.scores()));
  }
}

TEST_F(ClientLibraryTest, RequestOfRankStreamIsRetriedIfOverloaded) {
  std::thread others([this, permit = admission_.Admit(4'999)]() mutable {
    ASSERT_TRUE(permit.ok());
    while (Rejected("OVERLOADED") < 1) std::this_thread::yield();
    permit = Admission::Permit();
  });
  v1::RankRequest request;
  request.set_query("q");
  request.add_titles("t");
  int num_ranked = 0;
  EXPECT_THAT(client_->RankStream({&request, 1},
                                  [&](std::size_t, const auto& response) {
                                    num_ranked += response.ok() ? 1 : 0;
                                    return absl::OkStatus();
                                  }),
              IsOk());
  EXPECT_EQ(num_ranked, 1);
  others.join();
}

TEST_F(ClientLibraryTest, RequestWithoutCandidatesFailsOnTheServer) {
  v1::RankRequest request;
  request.set_query(std::string(2 << 20, 'q'));
  EXPECT_FALSE(client_->Rank(request).ok());
  request.set_query("q");
  EXPECT_TRUE(HasReason(client_->Rank(request).status(), "NO_CANDIDATES"));
}

}  // namespace
}  // namespace semrank
