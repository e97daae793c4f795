#include "server/api/json_messages.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/base/vector_encoding.h"
#include "server/requests/error_status.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// Protobuf's own printer, which takes a hundred times as long.
Json AsProtobuf(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  EXPECT_TRUE(
      google::protobuf::util::MessageToJsonString(message, &json, options)
          .ok());
  return Json::parse(json);
}

v1::RankResponse Ranking() {
  v1::RankResponse response;
  for (const float score : {0.5f, -1.0f, 1e-20f, 0.0f}) {
    response.add_indices(response.indices_size());
    response.add_scores(score);
  }
  response.add_titles("a \"quoted\" title\n\x01 café 中 😀 </script>");
  response.add_titles("");
  response.add_name_matches(v1::NAME_MATCH_NAME);
  response.mutable_model()->set_name("shop");
  response.mutable_model()->set_version(7);
  response.mutable_timings()->set_total_nanos(123'456'789'012);
  v1::Problem& problem = *response.add_problems();
  problem.set_index(3);
  *problem.mutable_status() = ToRpcStatus(FieldError("REASON", "f", "is bad"));
  return response;
}

TEST(ToJsonTest, AMessageIsWrittenAsProtobufMapsIt) {
  EXPECT_EQ(Json::parse(ToJson(Ranking())), AsProtobuf(Ranking()));
  EXPECT_EQ(ToJson(v1::RankResponse()), "{}");

  v1::GetModelResponse model;
  model.mutable_model()->set_name("shop");
  model.mutable_model()->mutable_load_time()->set_seconds(1'700'000'000);
  model.mutable_model()->mutable_config()->add_hidden_dims(300);
  model.mutable_model()
      ->mutable_config()
      ->mutable_training()
      ->set_learning_rate(0.1);
  model.mutable_model()->set_current(true);
  model.mutable_model()->add_aliases("sale");
  EXPECT_EQ(Json::parse(ToJson(model)), AsProtobuf(model));
}

TEST(ToJsonTest, VectorsAreBase64OrRowsOfNumbers) {
  v1::EmbedTextsResponse response;
  EncodeFloat32(std::vector<float>{0.25, -1, 3e20f, 0},
                *response.mutable_vectors());
  response.set_embedding_dim(2);
  response.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  EXPECT_EQ(Json::parse(ToJson(response)), AsProtobuf(response));
  const Json numbers = Json::parse(ToJson(response, VectorForm::kNumbers));
  EXPECT_EQ(numbers["encoding"], "float");
  EXPECT_EQ(numbers["vectors"], Json::parse("[[0.25,-1.0],[3e20,0.0]]"));
}

TEST(StatusToJsonTest, AnErrorThatQuotesHalfACharacterIsStillJson) {
  const std::string json =
      StatusToJson(FieldError("REASON", "f\xC3", "is \xE2\x82"));
  EXPECT_TRUE(Json::accept(json)) << json;
  EXPECT_THAT(json, HasSubstr(R"(is \\xe2\\x82)"));
}

TEST(StatusToJsonTest, StatusesThatDifferInAValueAloneHaveTheirOwnBodies) {
  const auto overloaded = [](const char* limit) {
    return MakeError(absl::StatusCode::kResourceExhausted, "OVERLOADED", "full",
                     {{"limit", limit}});
  };
  const std::string one = StatusToJson(overloaded("1"));
  const std::string two = StatusToJson(overloaded("2"));
  EXPECT_THAT(one, HasSubstr("\"limit\":\"1\""));
  EXPECT_THAT(two, HasSubstr("\"limit\":\"2\""));
  EXPECT_EQ(StatusToJson(overloaded("2")), two);
}

}  // namespace
}  // namespace semrank
