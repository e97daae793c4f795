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
#include "server/http/http_server.h"
#include "tests/support/fake_caller.h"
#include "tests/support/http_client.h"
#include "tests/support/test_server.h"
#include "tests/support/tiny_model.h"

namespace semrank {

using Json = nlohmann::json;

class JsonApiTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kMaxBodyBytes = 100'000;

  explicit JsonApiTest(const ServerOptions& options = Options(),
                       std::vector<ModelChoice> more_models = {})
      : whole_(MakeTestServer(folder_, MakeTinyModel(), options,
                              {.models = std::move(more_models)})) {
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

  // The value of "grpc_server_" + `name` for Rank over HTTP.
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

  static ServerOptions Options() {
    ServerOptions options;
    options.limits = {.max_texts_per_request = 900,
                      .max_inflight_texts = 1'000,
                      // All clients have one address.
                      .max_share_per_caller = 1};
    options.max_catalog_documents = 1'000;
    return options;
  }

  MemoryFolder folder_;
  const std::unique_ptr<Server> whole_;
  Lifecycle& lifecycle_ = whole_->lifecycle();
  SyncedCatalog& catalog_ = whole_->catalog();
  ServerParts parts_ = whole_->parts();
  const Metrics& metrics_ = *parts_.metrics;
  Admission& admission_ = *parts_.admission;
  ModelStore& models_ = *parts_.models;
  RequestLog& log_ = *parts_.request_log;
  std::unique_ptr<AccessControl> access_;
  absl::Status allowed_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_API_JSON_API_FIXTURE_H_
