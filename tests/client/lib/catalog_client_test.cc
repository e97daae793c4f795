#include "client/lib/catalog_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/client/lib/fake_server.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kNumKeys = 1'500;  // more than a message has

// A catalog whose model becomes version 2 after the first call.
class CatalogClientTest : public ::testing::Test {
 protected:
  CatalogClientTest() {
    server_.OnGetDocuments([this](const v1::GetDocumentsRequest& request,
                                  v1::GetDocumentsResponse* response) {
      asked_.push_back(request.model().version());
      if (unload_ && asked_.back() == 1) {
        return ServerError(grpc::StatusCode::NOT_FOUND, "MODEL_NOT_FOUND", "");
      }
      const bool is_first = asked_.size() == 1;
      for (int i = 0; i < request.ids_size(); ++i) response->add_documents();
      if (!request.with_vectors()) return grpc::Status::OK;
      response->set_encoding(v1::VECTOR_ENCODING_FLOAT32);
      response->set_embedding_dim(1);
      response->set_vectors(std::string(4 * request.ids_size(), '\0'));
      response->mutable_model()->set_version(
          is_first || asked_.back() == 1 ? 1 : 2);
      return grpc::Status::OK;
    });
  }
  absl::StatusOr<v1::GetDocumentsResponse> Get(bool with_vectors,
                                               std::int64_t version = 0) {
    v1::GetDocumentsRequest request;
    request.mutable_model()->set_version(version);
    for (int i = 0; i < kNumKeys; ++i) request.add_ids(i);
    request.set_with_vectors(with_vectors);
    return client_->Get(request);
  }

  // The server's thread writes while the test's waits for the call.
  std::vector<std::int64_t> asked_;  // versions, 0 = the current one
  bool unload_ = false;
  FakeServer server_;
  const std::unique_ptr<CatalogClient> client_ =
      CatalogClient::Create({server_.address(), absl::Minutes(1)}).value();
};

TEST_F(CatalogClientTest, AllVectorsAreOfTheVersionThatAnsweredFirst) {
  ASSERT_OK_AND_ASSIGN(const v1::GetDocumentsResponse response, Get(true));
  EXPECT_THAT(asked_, ElementsAre(0, 1));
  EXPECT_EQ(response.model().version(), 1);
  EXPECT_EQ(response.documents_size(), kNumKeys);
  EXPECT_EQ(response.vectors().size(), 4u * kNumKeys);
}

TEST_F(CatalogClientTest, GetStartsOverIfThatVersionIsReplaced) {
  unload_ = true;
  ASSERT_OK_AND_ASSIGN(const v1::GetDocumentsResponse response, Get(true));
  EXPECT_THAT(asked_, ElementsAre(0, 1, 0, 2));
  EXPECT_EQ(response.model().version(), 2);
  EXPECT_EQ(response.documents_size(), kNumKeys);
}

// A response without vectors names no model, and must not replace this one.
TEST_F(CatalogClientTest, GetWithoutVectorsKeepsTheRequestedVersion) {
  ASSERT_OK_AND_ASSIGN(const v1::GetDocumentsResponse response, Get(false, 3));
  EXPECT_THAT(asked_, ElementsAre(3, 3));
  EXPECT_EQ(response.documents_size(), kNumKeys);
}

TEST_F(CatalogClientTest, AProblemNamesAKeyOfTheRequest) {
  server_.OnGetDocuments(
      [](const v1::GetDocumentsRequest&, v1::GetDocumentsResponse* response) {
        response->add_problems()->set_index(4'000'000'000);
        return grpc::Status::OK;
      });
  v1::GetDocumentsRequest request;
  request.add_document_ids("gimp");
  EXPECT_THAT(client_->Get(request),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("of keys 1")));
}

TEST_F(CatalogClientTest, PutSaysWhereAStreamEndedTooEarly) {
  server_.EndPuts(grpc::Status::OK);
  EXPECT_THAT(
      client_->Put(
          kNumKeys, [](std::int64_t, v1::Document&) {},
          [](const v1::PutDocumentsStreamResponse&) {
            return absl::OkStatus();
          }),
      StatusIs(absl::StatusCode::kInternal,
               HasSubstr("the stream ended after 1000 of 1500 documents")));
}

}  // namespace
}  // namespace semrank
