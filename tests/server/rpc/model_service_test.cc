#include "semrank/v1/model_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"

namespace semrank {
namespace {

class ModelServiceTest : public RpcServerFixture {
 protected:
  std::unique_ptr<v1::ModelService::Stub> stub_ =
      v1::ModelService::NewStub(channel_);
  grpc::ClientContext context_;
};

TEST_F(ModelServiceTest, GetModelDescribesTheCurrentModel) {
  v1::GetModelResponse response;
  ASSERT_THAT(stub_->GetModel(&context_, {}, &response), Succeeds());
  const v1::Model& model = response.model();
  EXPECT_EQ(model.name(), "tiny");
  EXPECT_EQ(model.version(), 1);
  EXPECT_EQ(model.state(), v1::MODEL_STATE_SERVING);
  EXPECT_EQ(model.config().tower(), v1::TOWER_KIND_DSSM);
  EXPECT_EQ(model.embedding_dim(), 16u);
  EXPECT_GT(model.load_time().seconds(), 1'600'000'000);
  EXPECT_TRUE(model.current());
  EXPECT_TRUE(model.is_default());
  EXPECT_FALSE(model.pinned());
  EXPECT_EQ(model.score_kind(), v1::SCORE_KIND_COSINE);
}

TEST_F(ModelServiceTest, GetModelOfAnotherNameIsNotFound) {
  v1::GetModelRequest request;
  request.mutable_model()->set_name("other");
  v1::GetModelResponse response;
  EXPECT_THAT(stub_->GetModel(&context_, request, &response),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
}

TEST_F(ModelServiceTest, BadBytesAreInvalidArgument) {
  constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;
  EXPECT_THAT(CallRaw("ModelService/GetModel", "\xff"),
              FailsWith(kInvalid, "MALFORMED_MESSAGE"));
  EXPECT_THAT(CallRaw("ModelService/GetModel", "\x0a\x03\x0a\x01\xff"),
              FailsWith(kInvalid, "INVALID_UTF8"));
}

TEST_F(ModelServiceTest, GetLimitsPublishesWhatTheFlagsSay) {
  v1::GetLimitsResponse response;
  ASSERT_THAT(stub_->GetLimits(&context_, {}, &response), Succeeds());
  const v1::Limits& limits = response.limits();
  EXPECT_EQ(limits.max_texts_per_request(), 3000u);
  EXPECT_EQ(limits.max_text_bytes(), 100u);
  EXPECT_EQ(limits.max_inflight_texts(), 5000u);
  EXPECT_GE(limits.max_request_bytes(), 3000u * 100);
  EXPECT_GE(limits.max_response_bytes(), 3000u * 16 * 4);
  EXPECT_EQ(limits.max_requests_per_stream(), 4u);
  EXPECT_EQ(limits.max_streams_per_connection(), 1'000u);
  EXPECT_EQ(limits.max_metadata_bytes(), 8'192u);
}

TEST_F(ModelServiceTest, WhatComesLaterSaysNotImplemented) {
  constexpr auto kUnimplemented = grpc::StatusCode::UNIMPLEMENTED;
  for (const char* method :
       {"ModelService/ListModels", "ModelService/ReloadModel",
        "CatalogService/PutDocuments", "CatalogService/GetDocuments",
        "CatalogService/DeleteDocuments", "CatalogService/SearchDocuments",
        "CatalogService/PutDocumentsStream"}) {
    EXPECT_THAT(CallRaw(method, ""),
                FailsWith(kUnimplemented, "NOT_IMPLEMENTED"))
        << method;
  }
  EXPECT_EQ(Handled("CatalogService", "GetDocuments", "Unimplemented"), 1);
}

}  // namespace
}  // namespace semrank
