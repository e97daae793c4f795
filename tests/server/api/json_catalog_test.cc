// The methods of CatalogService and ModelService as JSON, and the stream of
// lines.
#include "tests/server/api/json_api_fixture.h"
#include "tests/support/plain_client.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class JsonCatalogTest : public JsonApiTest {
 protected:
  JsonCatalogTest() { FollowModels(); }

  static std::vector<Json> Lines(const HttpAnswer& answer) {
    std::vector<Json> lines;
    for (const absl::string_view line :
         absl::StrSplit(answer.body, '\n', absl::SkipEmpty())) {
      lines.push_back(Json::parse(line.begin(), line.end(), nullptr, false));
    }
    return lines;
  }
  Json Found(const std::string& name) {
    return Ask("/v1/get", R"({"document_ids": [")" + name + R"("]})");
  }
};

TEST_F(JsonCatalogTest, DocumentsArePutGotAndDeleted) {
  const Json put = Ask("/v1/put", R"({"documents": [
      {"document_id": "lamp", "title": "desk lamp", "tags": ["home"]},
      {"id": "7", "title": "running shoes"}]})");
  EXPECT_EQ(put["num_created"], 2);
  const Json got =
      Ask("/v1/get", R"({"ids": ["7"], "document_ids": ["lamp", "none"]})");
  ASSERT_EQ(got["documents"].size(), 2u);
  EXPECT_EQ(got["documents"][1]["tags"], Json({"home"}));
  EXPECT_EQ(got["problems"][0]["index"], 2);
  EXPECT_EQ(Ask("/v1/delete", R"({"ids": ["7"]})")["num_deleted"], 1);
  EXPECT_EQ(Ask("/v1/search", R"({"query": "shoes"})")["hits"].size(), 1u);
}

TEST_F(JsonCatalogTest, VectorsAreNumbersUnlessAskedForOtherwise) {
  const std::string texts = R"("side": "SIDE_DOCUMENT", "texts": ["a", "b c"])";
  const Json numbers = Ask("/v1/embed", "{" + texts + "}");
  EXPECT_EQ(numbers["encoding"], "float");
  ASSERT_EQ(numbers["vectors"].size(), 2u);
  ASSERT_EQ(numbers["vectors"][1].size(), 16u);
  EXPECT_EQ(
      Ask("/v1/embed", R"({"encoding" : "float" , )" + texts + "}")["vectors"],
      numbers["vectors"]);
  const Json base64 =
      Ask("/v1/embed", "{" + texts + R"(, "encoding": "base64"})");
  EXPECT_EQ(base64["vectors"].get<std::string>().size(), 172u);
  EXPECT_THAT(
      Post("/v1/embed", "{" + texts + R"(, "encoding": "double"})").body,
      HasSubstr("it may be float, base64, VECTOR_ENCODING_FLOAT32"));
  EXPECT_EQ(base64["encoding"], "VECTOR_ENCODING_FLOAT32");
  const Json int8 = Ask(
      "/v1/embed", "{" + texts + R"(, "encoding": "VECTOR_ENCODING_INT8"})");
  EXPECT_EQ(int8["scales"].size(), 2u);
  EXPECT_EQ(Error(Post("/v1/embed", "{" + texts + R"(, "encoding": "x"})")),
            "400 MALFORMED_MESSAGE");
}

TEST_F(JsonCatalogTest, WhatEmbedReturnsRankTakes) {
  const Json vectors =
      Ask("/v1/embed", R"({"side": "SIDE_DOCUMENT", "texts": ["a", "b c"]})");
  const Json ranked =
      Ask("/v1/rank",
          Json{{"query", "b c"}, {"vectors", vectors["vectors"]}}.dump());
  EXPECT_EQ(
      ranked["scores"],
      Ask("/v1/rank", R"({"query": "b c", "titles": ["a", "b c"]})")["scores"]);
  for (const char* bad : {"[[1], [1, 2]]", "[1]", "[[\"a\"]]", "[[[1]]]"}) {
    EXPECT_EQ(Error(Post("/v1/rank", R"({"query": "q", "vectors": )" +
                                         std::string(bad) + "}")),
              "400 BAD_VECTOR")
        << bad;
  }
}

TEST_F(JsonCatalogTest, DocumentsComeWithTheirVectorsAsNumbers) {
  Ask("/v1/put", R"({"documents": [{"id": "7", "title": "shoes"}]})");
  const Json got = Ask("/v1/get", R"({"ids": ["7"], "with_vectors": true})");
  EXPECT_EQ(got["vectors"],
            Ask("/v1/embed",
                R"({"side": "SIDE_DOCUMENT", "texts": ["shoes"]})")["vectors"]);
}

TEST_F(JsonCatalogTest, ModelsAndLimitsAreReadWithGetToo) {
  EXPECT_EQ(Json::parse(Get("/v1/model").body)["model"]["name"], "tiny");
  for (const char* path : {"/v1/list_models", "/v1/models"}) {
    EXPECT_EQ(Ask(path, "{}")["models"][0]["name"], "tiny");
  }
  EXPECT_EQ(
      Json::parse(Get("/v1/limits").body)["limits"]["max_texts_per_request"],
      900);
  EXPECT_EQ(Get("/v1/rank").status, 405);
  EXPECT_EQ(Error(Post("/v1/reload", "{}")), "400 ADMIN_DISABLED");
}

TEST_F(JsonCatalogTest, ReloadServesANewVersion) {
  parts_.admin_rpcs = true;
  Serve();
  folder_.Put(2, MakeTinyModel());
  const Json reloaded = Ask("/v1/reload", R"({"model": {"version": "2"}})");
  EXPECT_EQ(reloaded["changed"], true);
  EXPECT_EQ(reloaded["previous"]["name"], "tiny");
}

TEST_F(JsonCatalogTest, LinesOfDocumentsArePutInGroups) {
  std::string lines = "\n";
  for (int i = 0; i < 950; ++i) {
    lines += R"({"id": ")" + std::to_string(i) + R"(", "title": "t"})" + "\r\n";
  }
  const HttpAnswer answer = Post(
      "/v1/put_stream", lines + R"({"document_id": "last", "title": "t"})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/x-ndjson");
  const std::vector<Json> groups = Lines(answer);
  ASSERT_EQ(groups.size(), 2u) << answer.body;  // of 900 texts a request
  EXPECT_EQ(groups[0]["num_created"], 900);
  EXPECT_EQ(groups[1]["first_document"], "900");
  EXPECT_EQ(groups[1]["num_created"], 51);
}

TEST_F(JsonCatalogTest, StreamMayBeLongerThanTheLargestBody) {
  const std::string title(3'000, 'x');
  std::string lines;
  for (int i = 0; i < 300; ++i) {
    lines += R"({"id": ")" + std::to_string(i) + R"(", "title": ")" + title +
             "\"}\n";
  }
  ASSERT_GT(lines.size(), kMaxBodyBytes);
  std::int64_t num_created = 0;
  for (const Json& group : Lines(Post("/v1/put_stream", lines))) {
    num_created += group["num_created"].get<int>();
  }
  EXPECT_EQ(num_created, 300);
  EXPECT_EQ(Error(Post("/v1/put_stream", std::string(300'000, 'x'))),
            "413 MESSAGE_TOO_LARGE");
}

TEST_F(JsonCatalogTest, BadLineEndsTheStreamAndIsNamed) {
  const HttpAnswer answer =
      Post("/v1/put_stream",
           "{\"document_id\": \"a\", \"title\": \"t\"}\n"
           "{\"document_id\": \"\", \"title\": \"t\"}\n{\"titel\": 1}\n"
           "{\"document_id\": \"b\", \"title\": \"t\"}\n");
  EXPECT_EQ(answer.status, 400);
  const std::vector<Json> lines = Lines(answer);
  ASSERT_EQ(lines.size(), 2u) << answer.body;
  EXPECT_EQ(lines[0]["num_created"], 1);
  EXPECT_EQ(lines[0]["problems"].size(), 1u);
  EXPECT_THAT(lines[1]["message"].get<std::string>(), HasSubstr("line 3: "));
  EXPECT_EQ(Found("a")["documents"].size(), 1u);
  EXPECT_EQ(Found("b").count("documents"), 0u);
}

TEST_F(JsonCatalogTest, StreamThatIsCutOffKeepsWhatWasPut) {
  std::string lines;
  for (int i = 0; i < 40'000; ++i) {
    lines += "{\"id\": " + std::to_string(i % 500) + "}\n";
  }
  PlainClient client(server_->address());
  client.Send(
      "POST /v1/put_stream HTTP/1.1\r\nHost: h\r\nContent-Length: "
      "9999999\r\n\r\n" +
      lines);
  client.EndSending();
  EXPECT_THAT(client.ReadToEnd(), HasSubstr("HTTP/1.1 408 "));
  EXPECT_THAT(Ask("/v1/get", R"({"ids": [0]})")["documents"].size(), 1u);
}

TEST_F(JsonCatalogTest, WritingNeedsTheWriteRole) {
  const TempDir dir;
  access_ =
      AccessControl::FromFile(
          dir.Write("keys",
                    "read ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080"
                    "ab1b02aa3b2"))
          .value();
  Serve();
  const std::string key = "Authorization: Bearer reader-key\r\n";
  for (const char* path :
       {"/v1/put", "/v1/put_stream", "/v1/delete", "/v1/reload"}) {
    EXPECT_EQ(Error(Post(path, "{}", key)), "403 ROLE_REQUIRED") << path;
  }
  EXPECT_EQ(Post("/v1/limits", "{}", key).status, 200);
  EXPECT_EQ(Error(Post("/v1/limits", "{}")), "401 MISSING_KEY");
}

}  // namespace
}  // namespace semrank
