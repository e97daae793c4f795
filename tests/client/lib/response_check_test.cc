#include "client/lib/response_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/lib/semrank_client.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MATCHER_P(IsWrong, what, "") {
  return ::testing::ExplainMatchResult(
      StatusIs(
          absl::StatusCode::kInternal,
          HasSubstr("invalid response from the server: " + std::string(what))),
      arg, result_listener);
}

class CheckRankResponseTest : public ::testing::Test {
 protected:
  CheckRankResponseTest() {
    request_.add_titles("a");
    request_.add_titles("b");
    response_.add_indices(1);
    response_.add_scores(0.5f);
  }
  absl::Status Check() { return CheckRankResponse(request_, response_); }

  v1::RankRequest request_;
  v1::RankResponse response_;
};

TEST_F(CheckRankResponseTest, ValidResponsesPass) {
  EXPECT_THAT(Check(), IsOk());
  response_.add_problems()->set_index(0);
  EXPECT_THAT(Check(), IsOk());
}

TEST_F(CheckRankResponseTest, EveryIndexNeedsAScore) {
  response_.add_scores(0.25f);
  EXPECT_THAT(Check(), IsWrong("the number of scores is 2"));
}

TEST_F(CheckRankResponseTest, IndicesMustBeCandidates) {
  response_.set_indices(0, 2);
  EXPECT_THAT(Check(), IsWrong("a candidate number is 2, of candidates 2"));
}

TEST_F(CheckRankResponseTest, ProblemsMustReferToCandidates) {
  response_.add_problems()->set_index(0xFFFFFFFF);
  EXPECT_THAT(Check(), IsWrong("the number of a candidate with a problem"));
}

TEST_F(CheckRankResponseTest, EmbeddedTitlesMustBeCandidates) {
  response_.add_embedded_titles(1);
  EXPECT_THAT(Check(), IsOk());
  response_.add_embedded_titles(2);
  EXPECT_THAT(Check(), IsWrong("the number of an embedded title is 2"));
}

TEST_F(CheckRankResponseTest, TitlesMustComeIfRequested) {
  request_.set_with_titles(true);
  EXPECT_THAT(Check(), IsWrong("the number of titles is 0, wanted 1"));
  response_.add_titles("b");
  EXPECT_THAT(Check(), IsOk());
}

TEST_F(CheckRankResponseTest, NameMatchesMustComeIfRequested) {
  request_.set_name_match(true);
  EXPECT_THAT(Check(), IsWrong("the number of name matches is 0, wanted 1"));
  response_.add_name_matches(v1::NAME_MATCH_UNSPECIFIED);
  EXPECT_THAT(Check(), IsOk());
}

TEST_F(CheckRankResponseTest, EachPartHasAScoreForEveryIndexOrNone) {
  response_.add_semantic_scores(0.5f);
  EXPECT_THAT(Check(), IsOk());
  response_.add_lexical_scores(0.5f);
  response_.add_lexical_scores(0.5f);
  EXPECT_THAT(Check(), IsWrong("the number of lexical scores is 2"));
}

TEST_F(CheckRankResponseTest, AllKindsOfCandidatesCount) {
  request_.add_ids(7);
  request_.add_document_ids("x");
  request_.set_vectors(std::string(8, '\0'));
  response_.set_indices(0, 5);
  EXPECT_THAT(Check(), IsOk());
  response_.set_indices(0, 6);
  EXPECT_THAT(Check(), IsWrong("a candidate number is 6"));
}

class CheckEmbedTextsResponseTest : public ::testing::Test {
 protected:
  CheckEmbedTextsResponseTest() {
    request_.add_texts("a");
    request_.add_texts("b");
    response_.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
    response_.set_embedding_dim(2);
    response_.set_vectors(std::string(16, '\0'));
  }
  absl::Status Check() { return CheckEmbedTextsResponse(request_, response_); }

  v1::EmbedTextsRequest request_;
  v1::EmbedTextsResponse response_;
};

TEST_F(CheckEmbedTextsResponseTest, OneVectorPerTextPasses) {
  EXPECT_THAT(Check(), IsOk());
}

TEST_F(CheckEmbedTextsResponseTest, OtherSizesAreInternal) {
  for (const int num_bytes : {0, 8, 15, 17, 24}) {
    response_.set_vectors(std::string(num_bytes, '\0'));
    EXPECT_THAT(Check(), IsWrong(std::to_string(num_bytes) + " bytes"));
  }
}

TEST_F(CheckEmbedTextsResponseTest, HugeDimensionDoesNotOverflow) {
  response_.set_embedding_dim(0xFFFFFFFF);
  EXPECT_THAT(Check(), IsWrong("16 bytes of vectors for 2 rows"));
  response_.set_embedding_dim(0);
  EXPECT_THAT(Check(), IsWrong("16 bytes of vectors for 2 rows"));
}

TEST_F(CheckEmbedTextsResponseTest, EncodingMustBeTheRequestedOne) {
  request_.set_encoding(v1::VECTOR_ENCODING_INT8);
  EXPECT_THAT(Check(), IsWrong("the encoding is 1, wanted 3"));
  response_.set_encoding(v1::VECTOR_ENCODING_INT8);
  response_.set_vectors(std::string(4, '\0'));
  EXPECT_THAT(Check(), IsWrong("the number of scales is 0, wanted 2"));
}

TEST(CheckGetDocumentsResponseTest, EveryDocumentHasItsVectorIfRequested) {
  v1::GetDocumentsRequest request;
  request.add_ids(7);
  request.add_document_ids("gimp");
  v1::GetDocumentsResponse response;
  response.add_documents();
  const auto check = [&] {
    return CheckGetDocumentsResponse(request, response);
  };
  EXPECT_THAT(check(), IsWrong("it does not account for the keys sent"));
  response.add_problems();
  EXPECT_THAT(check(), IsOk());
  request.set_with_vectors(true);
  response.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  response.set_embedding_dim(2);
  EXPECT_THAT(check(), IsWrong("0 bytes"));
  response.set_vectors(std::string(8, '\0'));
  EXPECT_THAT(check(), IsOk());
}

TEST(FloatVectorTest, ReadsLittleEndianRows) {
  v1::EmbedTextsResponse response;
  response.set_embedding_dim(2);
  response.set_vectors(
      std::string("\0\0\x80\x3f\0\0\0\xc0"     // 1, -2
                  "\0\0\x00\x3f\0\0\x80\x7f",  // 0.5, inf
                  16));
  EXPECT_THAT(FloatVector(response, 0), ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(FloatVector(response, 1),
              ElementsAre(0.5f, std::numeric_limits<float>::infinity()));
}

}  // namespace
}  // namespace semrank
