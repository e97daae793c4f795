#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/base/status_macros.h"
#include "semrank/v1/catalog_service.pb.h"
#include "server/base/errors.h"
#include "server/requests/methods.h"
#include "tests/server/requests/request_run_fixture.h"
#include "tests/support/memory_source.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

// Handlers of a catalog whose documents have payloads of 1 MiB, more than four
// of which no response may have.
class CatalogHandlersTest : public RequestRunTest {
 protected:
  static constexpr std::size_t kPayloadBytes = std::size_t{1} << 20;

  CatalogHandlersTest() {
    folder_.Put(1, MakeTinyModel({}));
    EXPECT_THAT(models_.Refresh(), IsOk());
    parts_.limits = kLimits;
    parts_.catalog = &catalog_;
    parts_.models = &models_;
  }

  // Documents 0 to count - 1.
  void Put(std::uint64_t count) {
    const ServedModelPtr served = models_.current();
    ASSERT_THAT(catalog_.documents.BeginModel(served), IsOk());
    const std::string payload(kPayloadBytes, 'p');
    std::vector<CatalogRecord::Pointer> records;
    for (std::uint64_t id = 0; id < count; ++id) {
      records.push_back(CatalogRecord::Make(id, "title", payload));
    }
    const std::vector<float> rows(count * served->model->embedding_dim());
    const DocumentCatalog::Rows of_model = {served, rows.data()};
    ASSERT_THAT(catalog_.documents.Put(records, {&of_model, 1}).status(),
                IsOk());
  }

  absl::Status Run(MakeHandler make_handler,
                   const google::protobuf::Message& request) {
    const std::string bytes = request.SerializeAsString();
    handler_ = make_handler(parts_);
    SEMRANK_RETURN_IF_ERROR(handler_->Read(bytes).status());
    const std::unique_ptr<TestRun> run = NewRun(1, 1, 'a');
    while (true) {
      SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                               handler_->RunSlice(*run));
      if (progress == Progress::kDone) return absl::OkStatus();
    }
  }
  // What the handler has by now, also after an error.
  std::size_t ResponseBytes() const {
    return handler_->response().ByteSizeLong();
  }

  static constexpr Limits kLimits = {.max_texts_per_request = 1'000,
                                     .max_text_bytes = 64,
                                     .max_payload_bytes = kPayloadBytes,
                                     .max_top_k = 8};
  MemoryFolder folder_;
  ModelStore models_{{{folder_.Source("tiny")}}, &metrics_};
  const TextEmbedder embedder_{nullptr, &metrics_};
  SyncedCatalog catalog_{
      100, {.limits = kLimits, .embedder = &embedder_, .metrics = &metrics_}};
  std::unique_ptr<RequestHandler> handler_;
};

TEST_F(CatalogHandlersTest, GetStopsAtTheLargestResponse) {
  Put(1);
  v1::GetDocumentsRequest get;
  for (int i = 0; i < 1'000; ++i) get.add_ids(0);
  ASSERT_THAT(Run(MakeGetDocumentsHandler, get), IsOk());
  get.set_with_payloads(true);
  const absl::Status status = Run(MakeGetDocumentsHandler, get);
  EXPECT_EQ(ErrorReason(status), "INVALID_FIELD");
  EXPECT_EQ(ErrorValues(status)["field"], "ids");
  EXPECT_LT(ResponseBytes(), 5 * kPayloadBytes);
}

TEST_F(CatalogHandlersTest, NoTopKReturnsAtMostTheLimit) {
  Put(9);
  v1::SearchDocumentsRequest search;
  search.set_query("title");
  ASSERT_THAT(Run(MakeSearchDocumentsHandler, search), IsOk());
  const auto& found =
      static_cast<const v1::SearchDocumentsResponse&>(handler_->response());
  EXPECT_EQ(found.hits_size(), 8);
  // As with a top_k of the limit, no page follows.
  search.set_offset(1);
  EXPECT_EQ(ErrorReason(Run(MakeSearchDocumentsHandler, search)),
            "INVALID_FIELD");
}

}  // namespace
}  // namespace semrank
