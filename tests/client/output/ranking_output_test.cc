#include "client/output/ranking_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/output/embedding_output.h"
#include "google/rpc/error_details.pb.h"
#include "tests/client/lib/fake_server.h"

namespace semrank {
namespace {

void AddProblem(int index, v1::RankResponse& response) {
  v1::Problem& problem = *response.add_problems();
  problem.set_index(index);
  problem.mutable_status()->set_code(3);
  problem.mutable_status()->set_message("9000 bytes\x1b, limit 8192");
  google::rpc::ErrorInfo info;
  info.set_reason("TEXT_TOO_LONG");
  problem.mutable_status()->add_details()->PackFrom(info);
}

// Titles b, a and one that cannot be ranked.
class RankingOutputTest : public ::testing::Test {
 protected:
  RankingOutputTest() {
    response_.add_indices(1);
    response_.add_indices(0);
    response_.add_scores(0.87654321f);
    response_.add_scores(-0.5f);
    response_.set_score_kind(v1::SCORE_KIND_COSINE);
    response_.mutable_model()->set_name("shop");
    response_.mutable_model()->set_version(3);
    response_.set_cache_hits(1);
    response_.set_cache_misses(1);
    response_.mutable_timings()->set_total_nanos(1'250'000);
    AddProblem(2, response_);
  }

  TextList candidates_{{"a", "b", "long"}, {"", "id-b", "id-l"}};
  v1::RankResponse response_;
};

TEST_F(RankingOutputTest, TableForPeopleIsRounded) {
  EXPECT_EQ(RankingTable(candidates_, response_, {}).ToAlignedText(),
            "rank    score  id    title\n"
            "   1   0.8765  id-b  b\n"
            "   2  -0.5000        a\n");
}

TEST_F(RankingOutputTest, TableForProgramsHasAllDigits) {
  EXPECT_EQ(RankingTable(candidates_, response_, {.rounded = false})
                .ToTsv(Table::kNone),
            "1\t0.8765432\tid-b\tb\n2\t-0.5\t\ta\n");
}

TEST_F(RankingOutputTest, ScoreAndIdColumnsAreOptional) {
  candidates_.ids.clear();
  EXPECT_EQ(RankingTable(candidates_, response_, {.with_scores = false})
                .ToTsv(Table::kNone),
            "1\tb\n2\ta\n");
}

TEST_F(RankingOutputTest, JsonHasAllFields) {
  EXPECT_EQ(RankingJson("q", candidates_, response_).dump(),
            "{\"query\":\"q\",\"model\":{\"name\":\"shop\",\"version\":3},"
            "\"score_kind\":\"cosine\",\"results\":["
            "{\"rank\":1,\"score\":0.8765432,\"index\":1,\"id\":\"id-b\","
            "\"title\":\"b\"},"
            "{\"rank\":2,\"score\":-0.5,\"index\":0,\"title\":\"a\"}],"
            "\"problems\":[{\"index\":2,\"id\":\"id-l\","
            "\"code\":\"INVALID_ARGUMENT\",\"reason\":\"TEXT_TOO_LONG\","
            "\"message\":\"9000 bytes\\u001b, limit 8192\"}],"
            "\"skipped_lines\":0,\"cache_hits\":1,\"cache_misses\":1,"
            "\"timings_ms\":{\"queue\":0.0,\"parse\":0.0,\"cache\":0.0,"
            "\"embed\":0.0,\"score\":0.0,\"total\":1.25}}");
}

TEST_F(RankingOutputTest, PartsStandBesideTheScore) {
  response_.mutable_semantic_scores()->Add(0.5f);
  response_.mutable_semantic_scores()->Add(0.25f);
  response_.mutable_lexical_scores()->Add(0.75f);
  response_.mutable_lexical_scores()->Add(0);
  EXPECT_EQ(RankingTable(candidates_, response_, {}).ToAlignedText(),
            "rank    score  semantic  lexical  id    title\n"
            "   1   0.8765    0.5000   0.7500  id-b  b\n"
            "   2  -0.5000    0.2500   0.0000        a\n");
  EXPECT_THAT(RankingJson("q", candidates_, response_).dump(),
              ::testing::HasSubstr("\"score\":0.8765432,\"index\":1,"
                                   "\"semantic_score\":0.5,"
                                   "\"lexical_score\":0.75"));
}

TEST_F(RankingOutputTest, AnUnknownQueryIsNamed) {
  const auto printed = [&](v1::Parts parts) {
    ::testing::internal::CaptureStderr();
    PrintIfUnknown(response_, parts);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(printed(v1::PARTS_UNSPECIFIED), "");
  response_.set_scores(0, 0);
  response_.set_scores(1, -0.0f);
  EXPECT_THAT(printed(v1::PARTS_UNSPECIFIED),
              ::testing::HasSubstr("the model knows nothing in the query"));
  response_.mutable_query_known_features()->set_num_words(1);
  EXPECT_THAT(printed(v1::PARTS_UNSPECIFIED),
              ::testing::HasSubstr("knows no word of the query, so all"));
  response_.set_scores(0, 0.25f);
  EXPECT_THAT(printed(v1::PARTS_UNSPECIFIED),
              ::testing::HasSubstr("letters alone decide"));
  response_.set_scores(0, 0);
  // The letters of two known texts may have nothing in common.
  EXPECT_EQ(printed(v1::PARTS_LEXICAL), "");
  response_.clear_scores();
  EXPECT_EQ(printed(v1::PARTS_UNSPECIFIED), "");
}

TEST(SearchOutputTest, HitsOfAnUnknownQueryAreUnrelatedUnlessItNamesOne) {
  v1::SearchDocumentsResponse response;
  response.add_hits()->set_id(7);
  response.mutable_query_known_features()->set_num_words(1);
  EXPECT_TRUE(PrintIfUnknown(response, v1::PARTS_UNSPECIFIED));
  response.mutable_hits(0)->set_name_match(v1::NAME_MATCH_NAME);
  EXPECT_FALSE(PrintIfUnknown(response, v1::PARTS_UNSPECIFIED));
}

TEST_F(RankingOutputTest, JsonSaysWhatOfTheQueryIsKnown) {
  v1::KnownFeatures& known = *response_.mutable_query_known_features();
  known.set_num_words(2);
  known.set_num_known_words(1);
  known.set_num_ngrams(9);
  known.set_num_known_ngrams(4);
  EXPECT_EQ(
      RankingJson("q", candidates_, response_)["query_known_features"].dump(),
      "{\"num_words\":2,\"num_known_words\":1,\"num_ngrams\":9,"
      "\"num_known_ngrams\":4}");
}

TEST_F(RankingOutputTest, JsonSaysWhatTheQueryNames) {
  response_.add_name_matches(v1::NAME_MATCH_UNFINISHED_NAME);
  response_.add_name_matches(v1::NAME_MATCH_UNSPECIFIED);
  const auto results = RankingJson("q", candidates_, response_)["results"];
  EXPECT_EQ(results[0]["name_match"], "unfinished_name");
  EXPECT_FALSE(results[1].contains("name_match"));
}

TEST_F(RankingOutputTest, FirstProblemsAreReported) {
  ::testing::internal::CaptureStderr();
  PrintProblems(candidates_, response_);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "not ranked: title 3 (id-l): 9000 bytes\\u001b, limit 8192\n");
  for (int i = 0; i < 11; ++i) AddProblem(0, response_);
  ::testing::internal::CaptureStderr();
  PrintProblems(candidates_, response_);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_THAT(text, ::testing::EndsWith("not ranked: 2 more titles\n"));
}

TEST(EmbeddingOutputTest, TsvAndJsonLines) {
  const TextList texts{{"a", "b"}, {"", "2"}};
  v1::EmbedTextsRequest request;
  request.mutable_texts()->Assign(texts.texts.begin(), texts.texts.end());
  v1::EmbedTextsResponse response;
  ASSERT_TRUE(EmbedByPosition(request, &response).ok());
  EXPECT_EQ(EmbeddingTable(AllEmbedded(texts, response)).ToTsv(Table::kNone),
            "\ta\t0 0.1 -0.5\n2\tb\t1 0.1 -0.5\n");
  EXPECT_EQ(EmbeddingJsonLines(AllEmbedded(texts, response)),
            "{\"text\":\"a\",\"vector\":[0.0,0.100000001,-0.50000000]}\n"
            "{\"id\":\"2\",\"text\":\"b\",\"vector\":[1.0,0.100000001,-0."
            "50000000]}\n");
}

TEST_F(RankingOutputTest, OtherScoresThanCosinesAreNamed) {
  response_.set_score_kind(v1::SCORE_KIND_SSI_DOT);
  EXPECT_THAT(RankingTable(candidates_, response_, {}).ToAlignedText(),
              ::testing::HasSubstr("ssi_dot"));
}

}  // namespace
}  // namespace semrank
