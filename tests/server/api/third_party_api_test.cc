// Other products' APIs, by the requests of their documentation. Their own
// clients are run by tests/integration/node_client/public_clients.js.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/vector_encoding.h"
#include "tests/server/api/json_api_fixture.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class ThirdPartyApiTest : public JsonApiTest {
 protected:
  Json Vectors(const std::string& side, const std::string& texts) {
    return Ask("/v1/embed", R"({"side": ")" + side + R"(", "texts": )" + texts +
                                "}")["vectors"];
  }
  // The best one.
  float OwnScore(const std::string& query, const std::string& titles) {
    return Ask("/v1/rank", R"({"query": ")" + query + R"(", "titles": )" +
                               titles + "}")["scores"][0];
  }
};

// OpenAI.

TEST_F(ThirdPartyApiTest, OpenAiEmbedsATextOrAList) {
  const Json one = Ask("/v1/embeddings", R"({"model": "tiny",
      "input": "The food was delicious", "encoding_format": "float"})");
  EXPECT_EQ(one["object"], "list");
  EXPECT_EQ(one["model"], "tiny");
  EXPECT_EQ(one["usage"]["prompt_tokens"], 4);
  EXPECT_EQ(one["data"][0]["object"], "embedding");
  EXPECT_EQ(one["data"][0]["embedding"],
            Vectors("SIDE_DOCUMENT", R"(["The food was delicious"])")[0]);
  const Json two = Ask("/v1/embeddings", R"({"model": "tiny", "user": "u",
      "input": ["a", "b"], "dimensions": 16, "input_type": "query"})");
  EXPECT_EQ(two["data"][1]["index"], 1);
  EXPECT_EQ(two["data"][1]["embedding"], Vectors("SIDE_QUERY", R"(["b"])")[0]);
}

TEST_F(ThirdPartyApiTest, OpenAiVectorsInBase64AreTheSameFloats) {
  const Json base64 = Ask("/v1/embeddings", R"({"model": "tiny", "input": "a",
      "encoding_format": "base64"})");
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(
      base64["data"][0]["embedding"].get<std::string>(), &bytes));
  std::array<float, 16> vector;
  DecodeFloat32(bytes, vector);
  const Json numbers = Vectors("SIDE_DOCUMENT", R"(["a"])")[0];
  for (std::size_t i = 0; i < vector.size(); ++i) {
    EXPECT_EQ(vector[i], numbers[i].get<float>());
  }
}

TEST_F(ThirdPartyApiTest, OpenAiErrorsHaveTheirForm) {
  const HttpAnswer answer =
      Post("/v1/embeddings", R"({"model": "ada", "input": "a"})");
  EXPECT_EQ(answer.status, 404);
  const Json error = Json::parse(answer.body)["error"];
  EXPECT_EQ(error["type"], "invalid_request_error");
  EXPECT_EQ(error["code"], "MODEL_NOT_FOUND");
  for (const char* body :
       {"", "[]", R"({"input": [[1, 2]]})", R"({"input": [1]})",
        R"({"input": "a", "dimensions": 8})", R"({"input": 7})",
        R"({"input": "a", "encoding_format": "int8"})",
        R"({"input": "a", "input_type": "title"})", R"({"model": "tiny"})"}) {
    EXPECT_EQ(Post("/v1/embeddings", body).status, 400) << body;
  }
}

TEST_F(ThirdPartyApiTest, OpenAiListsTheServedModels) {
  const Json models = Json::parse(Get("/v1/models").body);
  EXPECT_EQ(models["object"], "list");
  ASSERT_EQ(models["data"].size(), 2u);
  EXPECT_EQ(models["data"][0]["id"], "tiny");
  EXPECT_EQ(models["data"][1]["id"], "lab/small");
}

TEST_F(ThirdPartyApiTest, OpenAiRetrievesAModel) {
  for (const char* path : {"/v1/models/tiny", "/v1/models/ti%6Ey"}) {
    const Json model = Json::parse(Get(path).body);
    EXPECT_EQ(model["id"], "tiny");
    EXPECT_EQ(model["object"], "model");
    EXPECT_EQ(model["owned_by"], "semrank");
    EXPECT_GT(model["created"], 1'600'000'000);
  }
  const HttpAnswer unknown = Get("/v1/models/ada");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(Json::parse(unknown.body)["error"]["code"], "MODEL_NOT_FOUND");
  EXPECT_EQ(Error(Get("/v1/models/%ff")), "400 INVALID_UTF8");
}

TEST_F(ThirdPartyApiTest, EveryCallTakesAnAlias) {
  FillCatalog();
  EXPECT_EQ(Json::parse(Get("/v1/models/lab%2Fsmall").body)["id"], "lab/small");
  Ask("/v1/embeddings", R"({"model": "lab/small", "input": "a"})");
  Ask("/v2/rerank",
      R"({"model": "lab/small", "query": "q", "documents": ["a"]})");
  const std::string model = R"("model": {"name": "lab/small", "version": 1}})";
  const Json ranking =
      Ask("/v1/rank", R"({"query": "q", "titles": ["a"], )" + model);
  EXPECT_EQ(ranking["model"]["name"], "tiny");
  Ask("/v1/search", R"({"query": "q", )" + model);
  Ask("/v1/get", R"({"ids": ["7"], "with_vectors": true, )" + model);
}

TEST_F(ThirdPartyApiTest, UnknownPathsAnswerInBothForms) {
  for (const HttpAnswer& answer :
       {Post("/v1/chat/completions", "{}"), Get("/v1/files"),
        CallHttp(server_->address(), "DELETE", "/v1/models/tiny")}) {
    const Json error = Json::parse(answer.body)["error"];
    EXPECT_THAT(Error(answer), HasSubstr("NOT_IMPLEMENTED"));
    EXPECT_EQ(error["type"], "invalid_request_error");
    EXPECT_EQ(error["message"], Json::parse(answer.body)["message"]);
  }
}

// Cohere and Jina.

TEST_F(ThirdPartyApiTest, CohereEmbedsInEachType) {
  const Json answer = Ask("/v2/embed", R"({"model": "tiny", "texts":
      ["blue shoes", "hat"], "input_type": "search_query",
      "embedding_types": ["base64", "int8", "float"], "output_dimension": 16})");
  const Json vectors = Vectors("SIDE_QUERY", R"(["blue shoes", "hat"])");
  EXPECT_EQ(answer["embeddings"]["float"], vectors);
  EXPECT_EQ(answer["texts"][1], "hat");
  EXPECT_EQ(answer["meta"]["billed_units"]["input_tokens"], 3);
  const Json& int8 = answer["embeddings"]["int8"];
  ASSERT_EQ(int8.size(), 2u);
  for (std::size_t row = 0; row < 2; ++row) {
    float largest = 0;
    for (const Json& x : vectors[row]) {
      largest = std::max(largest, std::abs(x.get<float>()));
    }
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_NEAR(int8[row][i].get<int>() * largest / 127,
                  vectors[row][i].get<float>(), largest / 250);
    }
  }
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(
      answer["embeddings"]["base64"][1].get<std::string>(), &bytes));
  std::array<float, 16> vector;
  DecodeFloat32(bytes, vector);
  EXPECT_EQ(vector[0], vectors[1][0].get<float>());
}

TEST_F(ThirdPartyApiTest, CohereCutsTheEndThatIsAskedFor) {
  const auto embed = [&](const std::string& text, const std::string& options) {
    return Ask("/v2/embed", R"({"input_type": "search_document", "texts": [")" +
                                text + "\"]" + options +
                                "}")["embeddings"]["float"];
  };
  EXPECT_EQ(embed("red hat blue shoes", R"(, "max_tokens": 2)"),
            embed("red hat", ""));
  EXPECT_EQ(
      embed("red hat blue shoes", R"(, "max_tokens": 2, "truncate": "START")"),
      embed("blue shoes", ""));
  const std::string blanks(5'000, ' ');
  EXPECT_EQ(embed("hat" + blanks + "shoes", ""), embed("hat", ""));
  EXPECT_EQ(embed("hat" + blanks + "shoes", R"(, "truncate": "START")"),
            embed("shoes", ""));
}

TEST_F(ThirdPartyApiTest, RerankKeepsTheWordsThatAreAskedFor) {
  const Json answer = Ask("/v2/rerank", R"({"query": "blue shoes",
      "documents": ["red hat blue shoes"], "max_tokens_per_doc": 2})");
  EXPECT_EQ(answer["results"][0]["relevance_score"].get<float>(),
            OwnScore("blue shoes", R"(["red hat"])"));
}

TEST_F(ThirdPartyApiTest, CohereReranksOverBothVersions) {
  for (const char* path : {"/v1/rerank", "/v2/rerank"}) {
    const Json answer = Ask(path, R"({"model": "tiny", "query": "blue shoes",
        "documents": ["red hat", "blue shoes"], "top_n": 1,
        "max_tokens_per_doc": 4096})");
    ASSERT_EQ(answer["results"].size(), 1u);
    EXPECT_EQ(answer["results"][0]["relevance_score"].get<float>(),
              OwnScore("blue shoes", R"(["red hat", "blue shoes"])"));
    EXPECT_EQ(answer["results"][0].count("document"), 0u);
    EXPECT_EQ(answer["meta"]["billed_units"]["search_units"], 1);
  }
}

TEST_F(ThirdPartyApiTest, DocumentsMayBeObjectsAndComeBack) {
  const Json answer = Ask("/v1/rerank", R"({"query": "shoes", "documents": [
      {"title": "blue", "text": "shoes"}, {"text": "red hat"}],
      "rank_fields": ["title", "text"], "return_documents": true})");
  ASSERT_EQ(answer["results"].size(), 2u);
  for (const Json& result : answer["results"]) {
    EXPECT_EQ(result["document"]["text"],
              result["index"] == 0 ? "blue shoes" : "red hat");
  }
}

TEST_F(ThirdPartyApiTest, AFieldThatIsNamedTwiceCountsOnce) {
  const Json answer = Ask("/v1/rerank", R"({"query": "shoes",
      "documents": [{"title": "blue", "text": "shoes"}],
      "rank_fields": ["text", "title", "text"], "return_documents": true})");
  EXPECT_EQ(answer["results"][0]["document"]["text"], "shoes blue");
  const HttpAnswer refused = Post(
      "/v1/rerank", Json{{"query", "q"},
                         {"documents", {"a"}},
                         {"rank_fields", std::vector<std::string>(101, "a")}}
                        .dump());
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body,
              HasSubstr("rank_fields: has 101 names; the limit is 100"));
}

TEST_F(ThirdPartyApiTest, LongDocumentsAreCutAndOthersErrorsAreTold) {
  const std::string text(5'000, 'x');
  const Json cut =
      Ask("/v1/rerank", Json{{"query", "q"}, {"documents", {text}}}.dump());
  EXPECT_EQ(cut["results"].size(), 1u);
  const HttpAnswer refused =
      Post("/rerank", Json{{"query", "q"}, {"texts", {text}}}.dump());
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("texts[0]"));
  EXPECT_EQ(Json::parse(refused.body)["error_type"], "Validation");
  EXPECT_EQ(
      Ask("/rerank",
          Json{{"query", "q"}, {"texts", {text}}, {"truncate", true}}.dump())
          .size(),
      1u);
}

TEST_F(ThirdPartyApiTest, RerankErrorsHaveTheirForm) {
  const HttpAnswer answer = Post("/v2/rerank", R"({"documents": ["a"]})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(Json::parse(answer.body)["message"].get<std::string>(),
              HasSubstr("query"));
}

// Text Embeddings Inference.

TEST_F(ThirdPartyApiTest, TeiEmbedsEitherSide) {
  EXPECT_EQ(Ask("/embed", R"({"inputs": "What is Deep Learning?"})"),
            Vectors("SIDE_DOCUMENT", R"(["What is Deep Learning?"])"));
  EXPECT_EQ(Ask("/embed", R"({"inputs": ["a", "b"], "prompt_name": "query",
      "normalize": true, "truncate": false, "truncation_direction": "Right",
      "dimensions": 16})"),
            Vectors("SIDE_QUERY", R"(["a", "b"])"));
}

TEST_F(ThirdPartyApiTest, TeiCutsTheEndThatIsAskedFor) {
  const std::string text = "hat" + std::string(5'000, ' ') + "shoes";
  for (const char* direction : {"Left", "Right"}) {
    const Json kept = Ask("/embed", Json{{"inputs", text},
                                         {"truncate", true},
                                         {"truncation_direction", direction}}
                                        .dump());
    EXPECT_EQ(kept, Vectors("SIDE_DOCUMENT", direction == std::string("Left")
                                                 ? R"(["shoes"])"
                                                 : R"(["hat"])"));
  }
}

TEST_F(ThirdPartyApiTest, TeiScoresMayGoThroughASigmoid) {
  const std::string request =
      R"({"query": "blue shoes", "texts": ["blue shoes"])";
  const float raw = Ask("/rerank", request + "}")[0]["score"];
  EXPECT_EQ(Ask("/rerank", request + R"(, "raw_scores": true})")[0]["score"],
            Ask("/rerank", request + "}")[0]["score"]);
  EXPECT_NEAR(Ask("/rerank", request + R"(, "raw_scores": false})")[0]["score"]
                  .get<float>(),
              1 / (1 + std::exp(-raw)), 1e-6);
}

// What a client asks for and does not get is an error that names the member.
TEST_F(ThirdPartyApiTest, OptionsThatCannotBeDoneAreRefused) {
  const std::string embed =
      R"({"texts": ["a"], "input_type": "search_query", )";
  for (const auto& [path, body, member] :
       std::vector<std::array<std::string, 3>>{
           {"/embed", R"({"inputs": "a", "normalize": false})", "normalize"},
           {"/embed", R"({"inputs": "a", "dimensions": 8})", "dimensions"},
           {"/embed", R"({"inputs": "a", "truncation_direction": "Up"})",
            "truncation_direction"},
           {"/embed", R"({"inputs": [1]})", "inputs[0]"},
           {"/rerank", R"({"query": "q", "texts": [1]})", "texts[0]"},
           {"/v2/embed", R"({"texts": ["a"]})", "input_type"},
           {"/v2/embed", R"({"texts": ["a"], "input_type": "clustering"})",
            "input_type"},
           {"/v2/embed", embed + R"("images": ["data:"]})", "images"},
           {"/v2/embed", embed + R"("inputs": [{}]})", "inputs"},
           {"/v2/embed", embed + R"("embedding_types": ["ubinary"]})",
            "embedding_types[0]"},
           {"/v2/embed", embed + R"("output_dimension": 256})",
            "output_dimension"},
           {"/v2/embed", embed + R"("truncate": "LEFT"})", "truncate"},
           {"/v2/embed",
            R"({"texts": ["a b c"], "input_type": "search_query",
                "max_tokens": 2, "truncate": "NONE"})",
            "texts[0]"}}) {
    const HttpAnswer answer = Post(path, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr("\"" + member + ": ")) << body;
  }
}

TEST_F(ThirdPartyApiTest, TeiReranks) {
  const Json ranks = Ask("/rerank", R"({"query": "blue shoes", "texts":
      ["red hat", "blue shoes"], "return_text": true})");
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0]["score"].get<float>(),
            OwnScore("blue shoes", R"(["red hat", "blue shoes"])"));
  EXPECT_EQ(ranks[0]["text"],
            ranks[0]["index"] == 0 ? "red hat" : "blue shoes");
}

TEST_F(ThirdPartyApiTest, TeiInfoHasModelAndLimits) {
  const Json info = Json::parse(Get("/info").body);
  EXPECT_EQ(info["model_id"], "tiny");
  EXPECT_EQ(info["max_client_batch_size"], 900);
}

struct NamedErrorCase {
  const char* path;
  const char* begin;  // of a body that ends after its texts
  const char* field;
};

TEST_F(ThirdPartyApiTest, ErrorsNameTheFieldsOfTheOtherApi) {
  const std::string long_text(5'000, 'x');
  for (const NamedErrorCase& test : std::vector<NamedErrorCase>{
           {"/v1/embeddings", R"({"input": )", "input"},
           {"/v2/rerank", R"({"query": "q", "documents": )", "documents"},
           {"/v2/embed",
            R"({"input_type": "search_query", "truncate": "NONE", "texts": )",
            "texts"},
           {"/embed", R"({"inputs": )", "inputs"},
           {"/rerank", R"({"query": "q", "texts": )", "texts"}}) {
    SCOPED_TRACE(test.path);
    const std::string name = absl::StrCat("\"", test.field);
    EXPECT_THAT(Post(test.path, absl::StrCat(test.begin, "[]}")).body,
                HasSubstr(name + ": the request has no"));
    if (name == "\"documents") continue;  // are cut
    EXPECT_THAT(Post(test.path, absl::StrCat(test.begin, R"(["a", ")",
                                             long_text, R"("]})"))
                    .body,
                HasSubstr(name + "[1]: 5000 bytes"));
  }
  const Json error = Json::parse(
      Post("/v1/embeddings", R"({"input": "a", "model": "ada"})").body);
  EXPECT_EQ(error["error"]["param"], "model");
}

TEST_F(ThirdPartyApiTest, MembersComeInAnyOrderAndMayHaveEscapes) {
  const Json answer = Ask("/v2/rerank", R"({"unknown": [{"a": [null]}, 1.5e3],
      "documents": ["a \"b\"", {"text": "c", "more": {"text": "d"}},
                    {"text": 7, "\u0074ext2": "x"}, "e\u00e9"],
      "rank_fields": ["text", "text2"], "model": null, "top_n": 4,
      "return_documents": true, "\u0071uery": "q"})");
  ASSERT_EQ(answer["results"].size(), 4u);
  for (const Json& result : answer["results"]) {
    EXPECT_EQ(result["document"]["text"],
              std::vector({"a \"b\"", "c", "x", "e\u00e9"})[result["index"]]);
  }
}

TEST_F(ThirdPartyApiTest, OnlyStrictJsonIsTaken) {
  for (const char* body :
       {"", "[]", R"({"input": "a")", R"({"input": "a"} x)",
        R"({"input": ["a",]})", R"({"input": ["a" "b"]})", R"({"input": tru})",
        R"({"input": "a", "input": "a"})", R"({"x": {"y": 1, "y": 1}})",
        R"({"input": [{"text": "a", "text": "b"}]})", R"({"x": nul})",
        R"({"x": 01})", R"({"x": "\ud800"})", R"({"input": })",
        R"({"input": [)", R"({'input': "a"})"}) {
    const HttpAnswer answer = Post("/v1/embeddings", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_THAT(answer.body, HasSubstr("MALFORMED_MESSAGE")) << body;
  }
}

TEST_F(ThirdPartyApiTest, UsageCountsWordsBetweenBlanks) {
  const std::string long_text =
      "of words\u00e9 that  are\ttaken in blocks\n of sixteen bytes, and more ";
  const Json answer =
      Ask("/v1/embeddings", Json{{"input", {"a", " b c", long_text}}}.dump());
  EXPECT_EQ(answer["usage"]["total_tokens"], 1 + 2 + 12);
}

TEST_F(ThirdPartyApiTest, BodiesOfManyValuesAreRefusedUnparsed) {
  std::string many = R"({"input": [0)";
  for (int i = 0; i < 40'000; ++i) many += ",0";
  EXPECT_THAT(Post("/v1/embeddings", many + "]}").body,
              HasSubstr("over 14416 values"));
}

}  // namespace
}  // namespace semrank
