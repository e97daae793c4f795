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
#include "server/requests/embed_work.h"
#include "server/requests/method_works.h"
#include "server/requests/rank_work.h"
#include "tests/fuzz/fuzz_server.h"

namespace semrank {
namespace {

constexpr std::array<MakeWork, 10> kMethods = {
    MakeRankWork,       MakeExplainWork,    MakeEmbedWork,  MakePutWork,
    MakeGetWork,        MakeDeleteWork,     MakeSearchWork, MakeGetModelWork,
    MakeListModelsWork, MakeReloadModelWork};

class FuzzRun final : public RequestRun {
 public:
  FuzzRun(const ServerParts& parts, MakeWork make)
      : RequestRun(parts, make(parts)) {}
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
  const MakeWork make = kMethods[data[0] % kMethods.size()];
  FuzzRun run(server.parts(), make);
  const absl::Status status =
      run.Run({reinterpret_cast<const char*>(data) + 1, size - 1});
  FUZZ_CHECK(!absl::IsInternal(status) && !absl::IsUnknown(status));
  FUZZ_CHECK(status.ok() || !ErrorReason(status).empty());
  return 0;
}
