// Measures how many events the log writes a second, with its disk, and what an
// impression adds to a Rank.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "model/base/random_id.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/events/event_log.h"
#include "server/requests/request_run.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_server.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

EventReport MakeReport(std::int64_t num_events) {
  EventReport report;
  for (std::int64_t i = 0; i < num_events; ++i) {
    report.events.push_back({.id = "e-" + MakeRandomId(),
                             .impression = MakeRandomId(),
                             .kind = "click",
                             .position = 3,
                             .document = "sku-12345",
                             .time_ms = 1'764'130'890'000});
  }
  return report;
}

// Reports of 100 events, of which state.range(0) wait for the disk at once, as
// that many callers make them.
void BM_EventLog_Reports(benchmark::State& state) {
  constexpr std::int64_t kEvents = 100;
  const TempDir dir;
  Metrics metrics;
  EventLog log(EventFiles::Open({.folder = dir.path()}).value(),
               KeyedHash::OpenOrCreate(dir.path()).value(), {}, metrics);
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<EventReport> reports(state.range(0));
    std::ranges::generate(reports, [] { return MakeReport(kEvents); });
    std::vector<std::promise<absl::Status>> done(reports.size());
    state.ResumeTiming();
    for (std::size_t i = 0; i < reports.size(); ++i) {
      log.AddReport(std::move(reports[i]),
                    [&done, i](const ReportOutcome& outcome) {
                      done[i].set_value(outcome.status);
                    });
    }
    for (std::promise<absl::Status>& one : done) {
      if (!one.get_future().get().ok()) std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kEvents);
}
BENCHMARK(BM_EventLog_Reports)->Arg(1)->Arg(50)->UseRealTime();

class RankRun final : public RequestRun {
 public:
  explicit RankRun(const ServerParts& parts)
      : RequestRun(MethodOf(MethodId::kRank), parts, MakeRankHandler(parts)) {}
  absl::Status Run(std::string_view bytes) {
    Start(bytes);
    return status_;
  }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return false; }
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite& response) override {
    benchmark::DoNotOptimize(response.SerializeAsString());
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override { status_ = status; }

  absl::Status status_;
};

// A Rank of range(0) cached titles that returns the best ten; range(1) = with
// an impression.
void BM_Rank_Impression(benchmark::State& state) {
  const TempDir dir;
  MemoryFolder folder;
  ServerOptions options;
  options.events.destination = EventFiles::Options{.folder = dir.path()};
  const auto server = MakeTestServer(folder, MakeTinyModel(), options);
  v1::RankRequest request;
  request.set_query("blue garden shoes");
  request.set_top_k(10);
  if (state.range(1) != 0) request.mutable_impression()->set_user("ann");
  for (int i = 0; i < state.range(0); ++i) {
    request.add_titles("a title of eight words or so, which is number " +
                       std::to_string(i));
  }
  const std::string bytes = request.SerializeAsString();
  std::vector<double> times;
  for (auto _ : state) {
    const absl::Time begin = absl::Now();
    if (!RankRun(server->parts()).Run(bytes).ok()) std::abort();
    times.push_back(absl::ToDoubleMicroseconds(absl::Now() - begin));
  }
  std::ranges::sort(times);
  state.counters["p99_us"] = times[times.size() * 99 / 100];
}
BENCHMARK(BM_Rank_Impression)->ArgsProduct({{100, 1'000}, {0, 1}});

}  // namespace
}  // namespace semrank
