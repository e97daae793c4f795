// Measures a request before it is admitted. This bounds what an overloaded
// server spends on a call that it refuses.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "semrank/v1/ranking_service.pb.h"
#include "server/requests/request_run.h"
#include "tests/support/test_server.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

class RefusedRun final : public RequestRun {
 public:
  explicit RefusedRun(const ServerParts& parts)
      : RequestRun(MethodOf(MethodId::kRank), parts, MakeRankHandler(parts)) {}
  absl::Status Run(std::string_view bytes) {
    Start(bytes);
    return status_;
  }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return false; }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& /*response*/) override {
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override { status_ = status; }

  absl::Status status_;
};

// Titles have about 50 bytes. All permits but one are taken.
void BM_ReadAndRefuse_Rank(benchmark::State& state) {
  MemoryFolder folder;
  const auto server = MakeTestServer(folder, MakeTinyModel());
  const ServerParts& parts = server->parts();
  const auto permit =
      parts.admission->Admit(parts.limits.max_inflight_texts - 1).value();
  v1::RankRequest request;
  request.set_query("blue garden shoes");
  for (int i = 0; i < state.range(0); ++i) {
    request.add_titles("a title of eight words or so, which is number " +
                       std::to_string(i));
  }
  const std::string bytes = request.SerializeAsString();
  for (auto _ : state) {
    if (!absl::IsResourceExhausted(RefusedRun(parts).Run(bytes))) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ReadAndRefuse_Rank)->Arg(1)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace semrank
