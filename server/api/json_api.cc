#include "server/api/json_api.h"

#include <memory>
#include <utility>
#include <vector>

#include "semrank/v1/catalog_service.pb.h"
#include "semrank/v1/embedding_service.pb.h"
#include "semrank/v1/model_service.pb.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/api/json_format.h"
#include "server/api/json_messages.h"
#include "server/api/openai_format.h"
#include "server/api/put_stream.h"
#include "server/api/rerank_format.h"
#include "server/api/tei_format.h"
#include "server/requests/embed_work.h"
#include "server/requests/method_works.h"
#include "server/requests/rank_work.h"

namespace semrank {
namespace {

constexpr char kRanking[] = "semrank.v1.RankingService";
constexpr char kEmbedding[] = "semrank.v1.EmbeddingService";
constexpr char kCatalog[] = "semrank.v1.CatalogService";
constexpr char kModel[] = "semrank.v1.ModelService";

// A method in the API's own form.
template <typename Request>
ApiRoute Own(const char* path, const char* service, const char* method,
             MakeWork make_work, Role role = Role::kRead) {
  return {.path = path,
          .service = service,
          .method = method,
          .make_work = make_work,
          .make_format = &MakeJsonFormatOf<Request>,
          .write_error = &WriteStatus,
          .role = role};
}

ApiRoute WithGet(ApiRoute route) {
  route.takes_get = true;
  return route;
}

std::vector<ApiRoute> OwnRoutes() {
  return {
      Own<v1::RankRequest>("/v1/rank", kRanking, "Rank", MakeRankWork),
      Own<v1::ExplainRequest>("/v1/explain", kRanking, "Explain",
                              MakeExplainWork),
      Own<v1::EmbedTextsRequest>("/v1/embed", kEmbedding, "EmbedTexts",
                                 MakeEmbedWork),
      Own<v1::SearchDocumentsRequest>("/v1/search", kCatalog, "SearchDocuments",
                                      MakeSearchWork),
      Own<v1::PutDocumentsRequest>("/v1/put", kCatalog, "PutDocuments",
                                   MakePutWork, Role::kWrite),
      Own<v1::GetDocumentsRequest>("/v1/get", kCatalog, "GetDocuments",
                                   MakeGetWork),
      Own<v1::DeleteDocumentsRequest>("/v1/delete", kCatalog, "DeleteDocuments",
                                      MakeDeleteWork, Role::kWrite),
      WithGet(Own<v1::GetModelRequest>("/v1/model", kModel, "GetModel",
                                       MakeGetModelWork)),
      Own<v1::ReloadModelRequest>("/v1/reload", kModel, "ReloadModel",
                                  MakeReloadModelWork, Role::kAdmin),
      WithGet(Own<v1::GetLimitsRequest>("/v1/limits", kModel, "GetLimits",
                                        MakeGetLimitsWork)),
  };
}

// In the forms of other products.
std::vector<ApiRoute> ForeignRoutes() {
  std::vector<ApiRoute> routes = {
      {"/v1/models", kModel, "ListModels", MakeListModelsWork, &MakeModelList,
       &WriteStatus, Role::kRead, /*takes_get=*/true},
      {"/v1/embeddings", kEmbedding, "EmbedTexts", MakeEmbedWork,
       &MakeOpenAiEmbeddings, &WriteOpenAiError},
      {"/embed", kEmbedding, "EmbedTexts", MakeEmbedWork, &MakeTeiEmbed,
       &WriteTeiEmbedError},
      {"/rerank", kRanking, "Rank", MakeRankWork, &MakeTeiRerank,
       &WriteTeiRerankError},
      {"/info", kModel, "GetModel", MakeGetModelWork, &MakeTeiInfo,
       &WriteTeiInfoError, Role::kRead, /*takes_get=*/true}};
  // The two versions of this API do not differ in what is read here.
  for (const char* const path : {"/v1/rerank", "/v2/rerank"}) {
    routes.push_back({path, kRanking, "Rank", MakeRankWork, &MakeCohereRerank,
                      &WriteCohereError});
  }
  return routes;
}

// Only its checks before reading use the work: each group of lines has one of
// its own.
ApiRoute PutStreamRoute() {
  return {.path = "/v1/put_stream",
          .service = kCatalog,
          .method = "PutDocumentsStream",
          .make_work = &MakePutWork,
          .write_error = &WriteStatus,
          .role = Role::kWrite};
}

}  // namespace

HttpCalls JsonApi(const ServerParts& parts, const ApiOptions& options) {
  HttpCalls calls;
  // Unknown paths below these are errors in JSON and are logged.
  for (const char* const path : {"/v1/", "/v2/"}) {
    calls[path] = NoCall(path, parts.request_log);
  }
  const auto make = [&](ApiRoute route) {
    return std::make_shared<const ApiCall>(parts, options, std::move(route));
  };
  for (const auto& routes : {OwnRoutes(), ForeignRoutes()}) {
    for (const ApiRoute& route : routes) {
      calls[route.path] = ApiCall::WithFormat(make(route));
    }
  }
  // The one call whose body is not read as a whole.
  const ApiRoute put_stream = PutStreamRoute();
  calls[put_stream.path] = MakePutStream(make(put_stream));
  return calls;
}

}  // namespace semrank
