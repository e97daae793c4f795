// The table of the API's methods. gRPC services, HTTP routes, counters and
// health names are made from its rows; methods_test compares them with the
// .proto files, proto/README.md and openapi.json.
//
// To add a unary method:
//   1. Declare it and its messages in a file of proto/semrank/v1.
//   2. Write its handler: a class derived from HandlerOf in a source of this
//      folder, and SEMRANK_DEFINE_HANDLER for it.
//   3. Add its row to methods.def.
// methods_test then names what the two documents lack: a line of
// proto/README.md, and an example in scripts/ci/write_openapi.py.
#ifndef SEMRANK_SERVER_REQUESTS_METHODS_H_
#define SEMRANK_SERVER_REQUESTS_METHODS_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "server/auth/access_control.h"
#include "server/base/admission.h"
#include "server/requests/handlers.h"

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace semrank {

// How requests and responses are written in bodies of HTTP.
enum class HttpFormat {
  kJson,   // the messages as JSON
  kLines,  // a message a line
  // Other products' APIs.
  kOpenAiEmbeddings,
  kOpenAiModels,  // by GET; POST is the API's own
  kOpenAiModel,   // whose name ends the path
  kCohereRerank,
  kCohereEmbed,
  kTeiEmbed,
  kTeiRerank,
  kTeiInfo,
  kUbi,
};

struct HttpPath {
  const char* path = nullptr;  // one that ends with / stands for those below it
  HttpFormat form = HttpFormat::kJson;
  bool takes_get = false;  // beside POST
};

enum class Threads {
  kBySize,   // the thread that read the request, or a worker if it is large
  kWorkers,  // a worker, since the method may block
  kWriters,  // a thread for writes, which wait for the store
  kLoader,   // the thread that loads models
};

// Has no default value: a row that leaves the field out does not compile.
template <typename T>
class Required {
 public:
  constexpr Required(T value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

struct Method {
  const char* service;  // "semrank.v1.RankingService"
  const char* name;     // "Rank"
  // One of the two: the method is unary or a stream in both directions.
  MakeHandler make_handler = nullptr;
  MakeStream make_stream = nullptr;
  // The role that the caller's key must have.
  Required<Role> role;
  // Requests of one kind share their measured costs.
  RequestKind kind = RequestKind::kOther;
  // Whether the method is UNAVAILABLE until the first models are loaded.
  bool needs_model = true;
  // Whether the server refuses a request before it reads the bytes when not one
  // more text fits. Methods that take no permits, and those whose refusal
  // repeats something from the bytes, set it to false.
  bool refused_unread = true;
  // Whether the request is refused if it would wait too long for a worker.
  bool is_shed = true;
  // For streams: whether requests run concurrently, each answered when it is
  // done. Otherwise one message at a time is processed, in order, and one that
  // fails ends the stream.
  bool concurrent = false;
  Threads threads = Threads::kBySize;
  // Paths over HTTP. Unused places have no path.
  HttpPath http[4] = {};

  constexpr bool is_stream() const { return make_stream != nullptr; }
  constexpr std::span<const HttpPath> http_paths() const {
    return {http, std::ranges::find(http, nullptr, &HttpPath::path)};
  }
};

// Each row of methods.def has a function that makes its handlers, which
// SEMRANK_DEFINE_HANDLER defines for a unary method:
//
//   std::unique_ptr<RequestHandler> MakeGetLimitsHandler(const ServerParts&);
//   StreamHandlers MakeRankStream(const ServerParts&);
//
//   RankingService    the size of a Rank is the query and every candidate; how
//                     many candidates `vectors` are depends on the model's
//                     dimension. The size of an Explain is the query, the title
//                     and each of their words: to count the words it normalises
//                     the two texts, which are within --max_text_bytes.
//   EmbeddingService  the first message of a stream fixes side, encoding and
//                     model.
//   CatalogService    a document or a key counts as a text. Errors of puts are
//                     those of CatalogWriter. The size of a search is what the
//                     catalog's scan costs (CatalogSearcher); excluded keys are
//                     bounded like texts and cost nothing.
//   ModelService      its methods have no texts and take no permits. Without
//                     parts.admin_rpcs ReloadModel is FAILED_PRECONDITION
//                     ADMIN_DISABLED.
#define SEMRANK_UNARY(service_name, method_name, ...)         \
  std::unique_ptr<RequestHandler> Make##method_name##Handler( \
      const ServerParts& parts);
#define SEMRANK_STREAM(service_name, method_name, ...) \
  StreamHandlers Make##method_name(const ServerParts& parts);
#include "server/requests/methods.def"
#undef SEMRANK_STREAM
#undef SEMRANK_UNARY

// In the order of the rows: the place of a method in kMethods.
enum class MethodId : std::size_t {
#define SEMRANK_UNARY(service_name, method_name, ...) k##method_name,
#define SEMRANK_STREAM SEMRANK_UNARY
#include "server/requests/methods.def"
#undef SEMRANK_STREAM
#undef SEMRANK_UNARY
};

inline constexpr Method kMethods[] = {
#define SEMRANK_UNARY(service_name, method_name, ...) \
  {.service = "semrank.v1." #service_name,            \
   .name = #method_name,                              \
   .make_handler = &Make##method_name##Handler,       \
   __VA_ARGS__},
#define SEMRANK_STREAM(service_name, method_name, ...) \
  {.service = "semrank.v1." #service_name,             \
   .name = #method_name,                               \
   .make_stream = &Make##method_name,                  \
   __VA_ARGS__},
#include "server/requests/methods.def"
#undef SEMRANK_STREAM
#undef SEMRANK_UNARY
};
inline constexpr std::size_t kNumMethods = std::size(kMethods);

constexpr const Method& MethodOf(MethodId id) {
  return kMethods[static_cast<std::size_t>(id)];
}

// The message that a request of the method is.
const google::protobuf::Descriptor& RequestTypeOf(const Method& method);

// Each service once.
std::vector<std::string_view> ServiceNames();

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_METHODS_H_
