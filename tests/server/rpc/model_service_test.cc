#include "semrank/v1/model_service.grpc.pb.h"
#include "tests/server/rpc/rpc_server_fixture.h"
#include "tests/support/tiny_model.h"

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

TEST_F(ModelServiceTest, ResolveModelNamesTheVersionThatAnswers) {
  folder_.Put(2, MakeTinyModel({.version = 2}));
  EXPECT_TRUE(models_.Refresh().ok());
  v1::ResolveModelRequest request;
  const auto resolve = [&](v1::ResolveModelResponse& response) {
    grpc::ClientContext context;
    return stub_->ResolveModel(&context, request, &response);
  };
  v1::ResolveModelResponse response;
  ASSERT_THAT(resolve(response), Succeeds());
  EXPECT_EQ(response.model().name(), "tiny");
  EXPECT_EQ(response.model().version(), 2);
  EXPECT_GT(response.load_time().seconds(), 1'600'000'000);
  *request.mutable_model() = response.model();
  EXPECT_THAT(resolve(response), Succeeds());
  request.mutable_model()->set_version(1);
  EXPECT_THAT(resolve(response),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
}

TEST_F(ModelServiceTest, BadBytesAreInvalidArgument) {
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
  EXPECT_EQ(limits.max_document_id_bytes(), 512u);
  EXPECT_EQ(limits.max_payload_bytes(), 4096u);
  EXPECT_EQ(limits.max_top_k(), 50u);
  EXPECT_EQ(limits.max_streams_per_connection(), 1'000u);
  EXPECT_EQ(limits.max_connections(), 8'192u);
  EXPECT_EQ(limits.max_metadata_bytes(), 8'192u);
  EXPECT_EQ(limits.max_http_body_bytes(), 8u << 20);
  EXPECT_EQ(limits.max_catalog_documents(), 100'000u);
  EXPECT_EQ(limits.max_share_per_caller(), 1);
  EXPECT_EQ(limits.max_queue_wait_ms(), 250u);
  EXPECT_EQ(limits.max_explain_words(), 1'000u);
  EXPECT_EQ(limits.max_unread_response_bytes(), 5'000u * 4'096);
  EXPECT_EQ(limits.send_timeout_ms(), 10'000u);
  EXPECT_EQ(limits.max_http_calls(), 48u);
  EXPECT_EQ(limits.max_http_connections(), 192u);
  EXPECT_EQ(limits.min_body_rate(), 500u);
}

TEST_F(ModelServiceTest, GetLimitsLeavesNoLimitOut) {
  v1::GetLimitsResponse response;
  ASSERT_THAT(stub_->GetLimits(&context_, {}, &response), Succeeds());
  const v1::Limits& limits = response.limits();
  const auto* const fields = v1::Limits::descriptor();
  for (int i = 0; i < fields->field_count(); ++i) {
    EXPECT_TRUE(limits.GetReflection()->HasField(limits, fields->field(i)))
        << fields->field(i)->name();
  }
}

TEST_F(ModelServiceTest, ListModelsTellsEveryVersionAndWhyOneFailed) {
  folder_.Put(2, MakeTinyModel({.version = 2}));
  folder_.Put(3, absl::DataLossError("weights.safetensors is short"));
  EXPECT_TRUE(models_.Refresh().ok());
  FollowModel();  // or the catalog keeps the old one
  v1::ListModelsResponse response;
  ASSERT_THAT(stub_->ListModels(&context_, {}, &response), Succeeds());
  ASSERT_EQ(response.models_size(), 3);
  const v1::Model& failed = response.models(0);
  EXPECT_EQ(failed.state(), v1::MODEL_STATE_FAILED);
  EXPECT_EQ(failed.failure().message(), "weights.safetensors is short");
  EXPECT_EQ(ErrorInfoOf(failed.failure()).reason(), "MODEL_DAMAGED");
  EXPECT_FALSE(failed.has_config());
  EXPECT_EQ(response.models(1).state(), v1::MODEL_STATE_SERVING);
  EXPECT_TRUE(response.models(1).current());
  EXPECT_EQ(response.models(2).state(), v1::MODEL_STATE_RETIRED);
  EXPECT_FALSE(response.models(2).is_default());
}

TEST_F(ModelServiceTest, ListModelsComesInPages) {
  for (int version = 2; version <= 5; ++version) {
    folder_.Put(version, MakeTinyModel({.version = version}));
  }
  std::vector<std::int64_t> versions;
  v1::ListModelsRequest request;
  request.set_page_size(2);
  int num_pages = 0;
  do {
    grpc::ClientContext context;
    v1::ListModelsResponse page;
    ASSERT_THAT(stub_->ListModels(&context, request, &page), Succeeds());
    EXPECT_LE(page.models_size(), 2);
    for (const v1::Model& model : page.models()) {
      versions.push_back(model.version());
    }
    request.set_page_token(page.next_page_token());
    ++num_pages;
  } while (!request.page_token().empty());
  EXPECT_EQ(num_pages, 3);
  EXPECT_THAT(versions, ::testing::ElementsAre(5, 4, 3, 2, 1));
}

TEST_F(ModelServiceTest, ListModelsRefusesWhatItDoesNotUnderstand) {
  const auto list = [&](const v1::ListModelsRequest& request) {
    grpc::ClientContext context;
    v1::ListModelsResponse response;
    return stub_->ListModels(&context, request, &response);
  };
  v1::ListModelsRequest request;
  request.set_name("other");
  EXPECT_THAT(list(request),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
  request.Clear();
  request.set_page_size(-1);
  EXPECT_THAT(list(request), FailsWith(kInvalid, "INVALID_FIELD"));
  request.Clear();
  request.set_page_token("x");
  EXPECT_THAT(list(request), FailsWith(kInvalid, "INVALID_FIELD"));
}

TEST_F(ModelServiceTest, ReloadModelSwitchesPinsAndFollowsAgain) {
  folder_.Put(2, MakeTinyModel({.version = 2}));
  const auto reload = [&](std::int64_t version) {
    grpc::ClientContext context;
    v1::ReloadModelRequest request;
    request.mutable_model()->set_version(version);
    v1::ReloadModelResponse response;
    EXPECT_THAT(stub_->ReloadModel(&context, request, &response), Succeeds());
    return response;
  };
  const v1::ReloadModelResponse newest = reload(0);
  EXPECT_EQ(newest.model().version(), 2);
  EXPECT_EQ(newest.previous().name(), "tiny");
  EXPECT_EQ(newest.previous().version(), 1);
  EXPECT_TRUE(newest.changed());
  EXPECT_FALSE(newest.model().pinned());
  const v1::ReloadModelResponse back = reload(1);
  EXPECT_EQ(back.model().version(), 1);
  EXPECT_TRUE(back.model().pinned());
  EXPECT_FALSE(reload(1).changed());
  EXPECT_EQ(reload(0).model().version(), 2);
}

TEST_F(ModelServiceTest, ReloadModelSaysWhyNot) {
  folder_.Put(2, absl::DataLossError("weights.safetensors is short"));
  const auto reload = [&](const std::string& name, std::int64_t version) {
    grpc::ClientContext context;
    v1::ReloadModelRequest request;
    request.mutable_model()->set_name(name);
    request.mutable_model()->set_version(version);
    v1::ReloadModelResponse response;
    return stub_->ReloadModel(&context, request, &response);
  };
  EXPECT_THAT(reload("", 2),
              FailsWith(grpc::StatusCode::DATA_LOSS, "MODEL_DAMAGED"));
  EXPECT_THAT(reload("", 9),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
  EXPECT_THAT(reload("other", 0),
              FailsWith(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND"));
  admin_rpcs_ = false;
  server_ = StartServer("127.0.0.1:0").value();
  stub_ = v1::ModelService::NewStub(NewChannel());
  EXPECT_THAT(reload("", 1), FailsWith(grpc::StatusCode::FAILED_PRECONDITION,
                                       "ADMIN_DISABLED"));
}

}  // namespace
}  // namespace semrank
