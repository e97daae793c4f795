// The JSON API of a server with a tiny model, in this process.
#ifndef SEMRANK_TESTS_SERVER_API_JSON_API_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_API_JSON_API_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "server/api/json_api.h"
#include "server/auth/access_control.h"
#include "server/base/request_log.h"
#include "server/catalog/sync/synced_catalog.h"
#include "server/http/http_server.h"
#include "tests/support/fake_caller.h"
#include "tests/support/http_client.h"
#include "tests/support/memory_source.h"
#include "tests/support/tiny_model.h"

namespace semrank {

using Json = nlohmann::json;

class JsonApiTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kMaxBodyBytes = 100'000;

  JsonApiTest() {
    folder_.Put(1, MakeTinyModel());
    EXPECT_TRUE(models_.Refresh().ok());
    lifecycle_.Advance(Lifecycle::State::kServing);
    Serve();
  }
  void Serve() {
    parts_.access = access_.get();
    server_ = HttpServer::Start("127.0.0.1:0", {},
                                JsonApi(parts_, {kMaxBodyBytes, allowed_}))
                  .value();
  }
  HttpAnswer Get(const std::string& path) {
    return HttpGet(server_->address(), path);
  }
  // The body of a 200.
  Json Ask(const std::string& path, const std::string& body) {
    const HttpAnswer answer = Post(path, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body, nullptr, false);
  }
  void FollowModels() {
    ASSERT_TRUE(
        catalog_.update.Follow([this] { return models_.current(); }).ok());
  }
  HttpAnswer Post(const std::string& path, const std::string& body,
                  const std::string& headers = "") {
    return CallHttp(server_->address(), "POST", path, {headers, body});
  }
  void FillCatalog() {
    FollowModels();
    std::vector<NewDocument> documents(300, {.title = "a title"});
    std::uint64_t id = 0;
    for (NewDocument& document : documents) document.key = id++;
    PutState state;
    PutResult result;
    ASSERT_TRUE(
        catalog_.writer.PutSlice(documents, FakeCaller(), state, result).ok());
  }
  // Its code and the reason of its one ErrorInfo.
  static std::string Error(const HttpAnswer& answer) {
    const Json error = Json::parse(answer.body, nullptr, false);
    if (error.is_discarded() || !error.contains("details")) return answer.body;
    return std::to_string(answer.status) + " " +
           error["details"][0].value("reason", "none");
  }

  // Of Rank over HTTP: the value of "grpc_server_" + `name`.
  std::string CountOf(const std::string& name) const {
    const std::string all = metrics_.Render();
    for (const absl::string_view line : absl::StrSplit(all, '\n')) {
      if (absl::StartsWith(line, "grpc_server_" + name) &&
          absl::StrContains(line, "\"Rank\"") &&
          absl::StrContains(line, "grpc_type=\"http\"")) {
        return std::string(line.substr(line.rfind(' ') + 1));
      }
    }
    return "no such metric";
  }

  Metrics metrics_;
  Lifecycle lifecycle_;
  Admission admission_{1'000};
  MemoryFolder folder_;
  ModelStore models_{{{folder_.Source("tiny")}}, &metrics_};
  std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(1 << 20).value();
  static constexpr Limits kLimits = {.max_texts_per_request = 900};
  const TextEmbedder embedder_{cache_.get(), &metrics_};
  SyncedCatalog catalog_{
      1'000, {.limits = kLimits, .embedder = &embedder_, .metrics = &metrics_}};
  const RankingEngine ranking_{kLimits, &embedder_, &metrics_,
                               &catalog_.documents};
  const EmbeddingEngine embedding_{kLimits, &embedder_, &metrics_};
  WorkerPool workers_{1};
  RequestLog log_{{}};
  std::unique_ptr<AccessControl> access_;
  absl::Status allowed_;
  ServerParts parts_ = {.ranking = &ranking_,
                        .embedding = &embedding_,
                        .catalog_writer = &catalog_.writer,
                        .catalog_searcher = &catalog_.searcher,
                        .models = &models_,
                        .lifecycle = &lifecycle_,
                        .admission = &admission_,
                        .workers = &workers_,
                        .loader = &workers_,
                        .metrics = &metrics_,
                        .request_log = &log_};
  std::unique_ptr<HttpServer> server_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_API_JSON_API_FIXTURE_H_
