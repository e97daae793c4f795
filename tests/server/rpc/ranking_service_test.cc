#include "semrank/v1/ranking_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RankingServiceTest : public RpcServerFixture {
 protected:
  static v1::RankRequest Request(const std::string& query,
                                 const std::vector<std::string>& titles) {
    v1::RankRequest request;
    request.set_query(query);
    for (const std::string& title : titles) request.add_titles(title);
    return request;
  }
  grpc::Status Rank(const v1::RankRequest& request) {
    context_ = std::make_unique<grpc::ClientContext>();
    response_.Clear();
    return stub_->Rank(context_.get(), request, &response_);
  }
  grpc::Status RankRaw(const std::string& bytes) {
    return CallRaw("RankingService/Rank", bytes);
  }

  std::unique_ptr<v1::RankingService::Stub> stub_ =
      v1::RankingService::NewStub(channel_);
  std::unique_ptr<grpc::ClientContext> context_;
  v1::RankResponse response_;
};

TEST_F(RankingServiceTest, RanksTitlesAndSaysByWhichModel) {
  ASSERT_THAT(Rank(Request("q", {"one", "two", "three"})), Succeeds());
  EXPECT_EQ(response_.indices_size(), 3);
  EXPECT_TRUE(std::ranges::is_sorted(response_.scores(), std::greater<>()));
  EXPECT_EQ(response_.model().name(), "tiny");
  EXPECT_EQ(response_.model().version(), 1);
  EXPECT_EQ(response_.score_kind(), v1::SCORE_KIND_COSINE);
  EXPECT_EQ(response_.titles_size(), 0);
  EXPECT_EQ(response_.query_known_features().num_words(), 1u);
  EXPECT_EQ(response_.query_known_features().num_known_ngrams(), 1u);
}

TEST_F(RankingServiceTest, SecondIdenticalRankEmbedsNoTitle) {
  const v1::RankRequest request = Request("q", {"one", "two"});
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_EQ(response_.cache_misses(), 2u);
  EXPECT_THAT(response_.embedded_titles(), ElementsAre(0, 1));
  const v1::RankResponse first = response_;
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_EQ(response_.cache_hits(), 2u);
  EXPECT_EQ(response_.cache_misses(), 0u);
  EXPECT_TRUE(response_.embedded_titles().empty());
  EXPECT_TRUE(std::ranges::equal(response_.scores(), first.scores()));
  EXPECT_EQ(Metric("semrank_texts_embedded_total{side=\"document\"}"), 2);
  EXPECT_EQ(Metric("semrank_cache_requests_total{result=\"hit\"}"), 2);
}

TEST_F(RankingServiceTest, EmbeddedTitlesAreAmongThoseReturned) {
  ASSERT_THAT(Rank(Request("q", {"two"})), Succeeds());
  v1::RankRequest request = Request("q", {"one", "two", "three", "four"});
  request.set_top_k(2);
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_EQ(response_.cache_misses(), 3u);
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t index : response_.indices()) {
    if (index != 1) expected.push_back(index);
  }
  std::ranges::sort(expected);
  EXPECT_THAT(response_.embedded_titles(),
              ::testing::ElementsAreArray(expected));
}

TEST_F(RankingServiceTest, TimingsCoverTheStagesAndAddUpToNoMoreThanTheTotal) {
  ASSERT_THAT(Rank(Request("q", {"one", "two"})), Succeeds());
  const v1::Timings& t = response_.timings();
  EXPECT_GT(t.parse_nanos(), 0);
  EXPECT_GT(t.cache_nanos(), 0);
  EXPECT_GT(t.embed_nanos(), 0);
  EXPECT_GT(t.score_nanos(), 0);
  EXPECT_GE(t.total_nanos(), t.queue_nanos() + t.parse_nanos() +
                                 t.cache_nanos() + t.embed_nanos() +
                                 t.score_nanos());
}

TEST_F(RankingServiceTest, TopKMinScoreAndTitles) {
  v1::RankRequest request = Request("q", {"one", "two", "three", "four"});
  request.set_with_titles(true);
  ASSERT_THAT(Rank(request), Succeeds());
  const v1::RankResponse all = response_;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(all.titles(i), request.titles(all.indices(i)));
  }
  request.set_top_k(3);
  request.set_min_score(all.scores(1));
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_THAT(response_.indices(), ElementsAre(all.indices(0), all.indices(1)));
  EXPECT_THAT(response_.titles(), ElementsAre(all.titles(0), all.titles(1)));
}

TEST_F(RankingServiceTest, PartsComeOverTheWire) {
  folder_.Put(2, MakeTinyModel({.version = 2, .lexical_weight = 0.25}));
  ASSERT_TRUE(models_.Refresh().ok());
  v1::RankRequest request = Request("one two", {"one", "two one", "three"});
  request.set_with_parts(true);
  ASSERT_THAT(Rank(request), Succeeds());
  const v1::RankResponse both = response_;
  ASSERT_EQ(both.semantic_scores_size(), 3);
  ASSERT_EQ(both.lexical_scores_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(both.scores(i),
                0.75 * both.semantic_scores(i) + 0.25 * both.lexical_scores(i),
                1e-6);
  }
  request.set_parts(v1::PARTS_LEXICAL);
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_EQ(response_.indices(0), 1u);  // the same words
  EXPECT_TRUE(
      std::ranges::equal(response_.scores(), response_.lexical_scores()));
  request.set_parts(static_cast<v1::Parts>(9));
  EXPECT_THAT(Rank(request),
              FailsWith(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_FIELD"));
}

TEST_F(RankingServiceTest, OneBadCandidateIsAProblemAndTheRestIsRanked) {
  v1::RankRequest request = Request("q", {"one", std::string(101, 'x')});
  std::vector<float> vector(16, std::numeric_limits<float>::quiet_NaN());
  request.mutable_vectors()->assign(
      reinterpret_cast<const char*>(vector.data()), 16 * sizeof(float));
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_THAT(response_.indices(), ElementsAre(0));
  ASSERT_EQ(response_.problems_size(), 2);
  EXPECT_EQ(response_.problems(0).index(), 1u);
  EXPECT_EQ(response_.problems(1).index(), 2u);
  EXPECT_EQ(ErrorInfoOf(response_.problems(0).status()).reason(),
            "TEXT_TOO_LONG");
  EXPECT_EQ(ErrorInfoOf(response_.problems(1).status()).reason(), "BAD_VECTOR");
}

TEST_F(RankingServiceTest, CallersMistakesAreInvalidArgumentWithTheirReason) {
  EXPECT_THAT(Rank(Request("", {"t"})), FailsWith(kInvalid, "EMPTY_QUERY"));
  EXPECT_THAT(Rank(Request("q", {})), FailsWith(kInvalid, "NO_CANDIDATES"));
  EXPECT_THAT(Rank(Request(std::string(101, 'q'), {"t"})),
              FailsWith(kInvalid, "TEXT_TOO_LONG"));
  EXPECT_THAT(Rank(Request("q", std::vector<std::string>(3001, "t"))),
              FailsWith(kInvalid, "TOO_MANY_TEXTS"));
  EXPECT_THAT(RankRaw("\x0a\x05q"), FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  EXPECT_THAT(RankRaw("\x0a\x01q\x12\x02\xc3("),
              FailsWith(kInvalid, "INVALID_UTF8"));
  EXPECT_THAT(RankRaw("\x0a\x01\xff\x12\x01t"),
              FailsWith(kInvalid, "INVALID_UTF8"));
  EXPECT_EQ(Handled("RankingService", "Rank", "InvalidArgument"), 7);
}

TEST_F(RankingServiceTest, UnknownModelsAreNotFound) {
  v1::RankRequest request = Request("q", {"t"});
  request.mutable_model()->set_name("other");
  EXPECT_THAT(Rank(request),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
  request.mutable_model()->set_name("tiny");
  request.mutable_model()->set_version(1);
  EXPECT_THAT(Rank(request), Succeeds());
}

TEST_F(RankingServiceTest, CompressedRequestsAreRefusedBeforeTheyAreUnpacked) {
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  const v1::RankRequest request = Request("q", {std::string(200'000, 'x')});
  const grpc::Status status = stub_->Rank(&context, request, &response_);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("gzip"));
}

class ExplainTest : public RpcServerFixture {
 protected:
  grpc::Status Explain(const v1::ExplainRequest& request) {
    grpc::ClientContext context;
    response_.Clear();
    return stub_->Explain(&context, request, &response_);
  }
  static v1::ExplainRequest Request(const std::string& query,
                                    const std::string& title) {
    v1::ExplainRequest request;
    request.set_query(query);
    request.set_title(title);
    return request;
  }

  std::unique_ptr<v1::RankingService::Stub> stub_ =
      v1::RankingService::NewStub(channel_);
  v1::ExplainResponse response_;
};

TEST_F(ExplainTest, TakesTheScoreOfRankApart) {
  ASSERT_THAT(Explain(Request("Edit photos", "Photo editor")), Succeeds());
  grpc::ClientContext context;
  v1::RankRequest rank;
  rank.set_query("Edit photos");
  rank.add_titles("Photo editor");
  v1::RankResponse ranked;
  ASSERT_THAT(stub_->Rank(&context, rank, &ranked), Succeeds());
  EXPECT_EQ(response_.score(), ranked.scores(0));
  ASSERT_EQ(response_.query_words_size(), 2);
  ASSERT_EQ(response_.title_words_size(), 2);
  const v1::WordContribution& word = response_.query_words(1);
  EXPECT_EQ(word.word(), "photos");
  EXPECT_EQ(word.contribution(), response_.score() - word.score_without());
  EXPECT_GT(word.num_known_features(), 0u);
  EXPECT_EQ(response_.title(), "Photo editor");
  EXPECT_EQ(response_.model().version(), 1);
  EXPECT_EQ(response_.score_kind(), v1::SCORE_KIND_COSINE);
  EXPECT_GT(response_.timings().embed_nanos(), 0);
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(ExplainTest, PartsAddUpToTheScore) {
  folder_.Put(2, MakeTinyModel({.version = 2, .lexical_weight = 0.25}));
  ASSERT_TRUE(models_.Refresh().ok());
  ASSERT_THAT(Explain(Request("Edit photos", "Photo editing")), Succeeds());
  EXPECT_NEAR(response_.score(),
              response_.semantic_part() + response_.lexical_part(), 1e-5);
  for (const auto* words :
       {&response_.query_words(), &response_.title_words()}) {
    double sum = 0;
    for (const v1::WordContribution& word : *words) {
      sum += word.lexical_part();
      EXPECT_NEAR(word.contribution(),
                  word.semantic_contribution() + word.lexical_contribution(),
                  1e-5);
      EXPECT_GT(word.matches_size(), 0);
      EXPECT_FALSE(word.in_other_text());
    }
    EXPECT_NEAR(sum, response_.lexical_part(), 1e-5);
  }
}

TEST_F(ExplainTest, CallersMistakesHaveTheirReasons) {
  v1::ExplainRequest request = Request("q", "t");
  request.clear_title();
  EXPECT_THAT(Explain(request), FailsWith(kInvalid, "INVALID_FIELD"));
  request.set_id(7);
  EXPECT_THAT(Explain(request),
              FailsWith(grpc::StatusCode::NOT_FOUND, "DOCUMENT_NOT_FOUND"));
  EXPECT_THAT(Explain(Request("", "t")), FailsWith(kInvalid, "EMPTY_QUERY"));
  EXPECT_THAT(Explain(Request("q", std::string(101, 't'))),
              FailsWith(kInvalid, "TEXT_TOO_LONG"));
}

// U+FDFA is four words.
TEST_F(ExplainTest, WordsAreCountedAsNormalisedOnce) {
  ASSERT_THAT(Explain(Request("photo", "\uFDFA")), Succeeds());
  EXPECT_EQ(response_.title_words_size(), 4);
  EXPECT_EQ(admission_.high_water_mark(), 1 + 4 + 2);
}

TEST_F(RankingServiceTest, AnswersWhileDrainingAndIsUnavailableWhileStopping) {
  lifecycle_.Advance(Lifecycle::State::kDraining);
  EXPECT_THAT(Rank(Request("q", {"t"})), Succeeds());
  lifecycle_.Advance(Lifecycle::State::kStopping);
  EXPECT_THAT(Rank(Request("q", {"t"})),
              FailsWith(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
  EXPECT_EQ(Rejected("DRAINING"), 1);
}

TEST_F(RankingServiceTest, APastDeadlineIsDeadlineExceeded) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() -
                       std::chrono::seconds(1));
  EXPECT_EQ(stub_->Rank(&context, Request("q", {"t"}), &response_).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(Metric("semrank_texts_embedded_total{side=\"document\"}"), 0);
}

}  // namespace
}  // namespace semrank
