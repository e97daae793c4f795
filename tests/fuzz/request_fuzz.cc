// Any bytes as the message of each unary method, which the first byte chooses:
// an answer that can be written, or an error of the caller with its reason.
#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string_view>
#include <utility>

#include "server/base/errors.h"
#include "server/requests/methods.h"
#include "server/requests/request_run.h"
#include "tests/fuzz/fuzz_server.h"

namespace semrank {
namespace {

// In the order of the seeds' first bytes.
constexpr std::array<MethodId, 10> kFuzzedMethods = {MethodId::kRank,
                                                     MethodId::kExplain,
                                                     MethodId::kEmbedTexts,
                                                     MethodId::kPutDocuments,
                                                     MethodId::kGetDocuments,
                                                     MethodId::kDeleteDocuments,
                                                     MethodId::kSearchDocuments,
                                                     MethodId::kGetModel,
                                                     MethodId::kListModels,
                                                     MethodId::kReloadModel};

class FuzzRun final : public RequestRun {
 public:
  FuzzRun(const Method& method, const ServerParts& parts)
      : RequestRun(method, parts, method.make_handler(parts)) {}
  absl::Status Run(std::string_view bytes) {
    std::future<absl::Status> done = done_.get_future();
    Start(bytes);
    return done.get();
  }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return false; }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    FUZZ_CHECK(response.SerializeAsString().size() <= 10'000'000);
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override { done_.set_value(status); }

  std::promise<absl::Status> done_;
};

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace semrank;
  static Server& server = MakeFuzzServer();
  if (size == 0) return 0;
  const MethodId id = kFuzzedMethods[data[0] % kFuzzedMethods.size()];
  FuzzRun run(MethodOf(id), server.parts());
  const absl::Status status =
      run.Run({reinterpret_cast<const char*>(data) + 1, size - 1});
  FUZZ_CHECK(!absl::IsInternal(status) && !absl::IsUnknown(status));
  FUZZ_CHECK(status.ok() || !ErrorReason(status).empty());
  return 0;
}
