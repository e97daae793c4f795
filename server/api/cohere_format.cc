// The rerank APIs of Cohere (v1 and v2) and Jina, which LiteLLM, LangChain,
// LlamaIndex and others speak, and of Text Embeddings Inference (tei_format).
//
//   POST /v1/rerank  model (a served one; empty = the default), query,
//        /v2/rerank  documents (texts, or objects with rank_fields, by default
//                    "text"), top_n, return_documents. Documents beyond
//                    --max_text_bytes are cut, as these APIs do.
//   Scores           those of Rank: cosines, not probabilities.
//   Errors           {"message", "detail"}: clients of both show one of them.
#include <nlohmann/json.hpp>
#include <utility>

#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/api/body_format.h"
#include "server/api/third_party_json.h"
#include "server/base/errors.h"
#include "server/base/request_identity.h"

namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

class CohereRerank final : public BodyFormat {
 public:
  explicit CohereRerank(const FormatInput& input)
      : limits_(input.limits),
        // Clients match responses by it, so it is the caller's own if there is
        // one.
        id_(MakeRequestIdentity(input.request.request_id, "").request_id) {}

  absl::Status Read(const HttpRequest& request, std::string& bytes) override {
    SEMRANK_ASSIGN_OR_RETURN(
        const ThirdPartyJson body,
        ThirdPartyJson::Parse(request.body, "rerank request", limits_));
    v1::RankRequest rank;
    SEMRANK_ASSIGN_OR_RETURN(*rank.mutable_model()->mutable_name(),
                             body.Text("model"));
    SEMRANK_ASSIGN_OR_RETURN(*rank.mutable_query(), body.Text("query"));
    SEMRANK_ASSIGN_OR_RETURN(const std::int64_t top_n, body.Number("top_n", 0));
    rank.set_top_k(static_cast<std::uint32_t>(top_n));
    SEMRANK_ASSIGN_OR_RETURN(return_documents_,
                             body.Bool("return_documents", false));
    SEMRANK_ASSIGN_OR_RETURN(std::vector<std::string> fields,
                             body.Texts("rank_fields"));
    if (fields.empty()) fields = {"text"};
    SEMRANK_ASSIGN_OR_RETURN(documents_, body.Texts("documents", fields));
    // The count is that of the whole documents, as a client would count them.
    num_words_ = CountWords(documents_) + CountWords({rank.query()});
    for (const std::string& document : documents_) {
      std::string& title = *rank.add_titles();
      title = document;
      // These APIs cut long documents instead of refusing them.
      Truncate(limits_.max_text_bytes, title);
    }
    bytes = rank.SerializeAsString();
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Write(
      const google::protobuf::Message& message) override {
    const auto& response = dynamic_cast<const v1::RankResponse&>(message);
    SEMRANK_RETURN_IF_ERROR(CheckAllRanked(response));
    Json results = Json::array();
    for (int i = 0; i < response.indices_size(); ++i) {
      Json result = {{"index", response.indices(i)},
                     {"relevance_score", ToShortDouble(response.scores(i))}};
      if (return_documents_) {
        result["document"] = {{"text", documents_[response.indices(i)]}};
      }
      results.push_back(std::move(result));
    }
    return Json{{"id", id_},
                {"model", response.model().name()},
                {"results", std::move(results)},
                {"usage", {{"total_tokens", num_words_}}},
                {"meta", {{"billed_units", {{"search_units", 1}}}}}}
        .dump();
  }

 private:
  const Limits& limits_;
  const std::string id_;
  bool return_documents_ = false;
  std::vector<std::string> documents_;
  std::int64_t num_words_ = 0;
};

}  // namespace

std::unique_ptr<BodyFormat> MakeCohereRerank(const FormatInput& input) {
  return std::make_unique<CohereRerank>(input);
}

std::string WriteCohereError(const absl::Status& status, int /*http_code*/) {
  const std::string message =
      WithTheirName(ToStd(status.message()), "titles", "documents");
  return Json{{"message", message}, {"detail", message}}.dump();
}

}  // namespace semrank
