// Runs requests against a pool of one worker, whose queue and clock the test
// controls. Handlers write what they do into a log.
#ifndef SEMRANK_TESTS_SERVER_REQUESTS_REQUEST_RUN_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_REQUESTS_REQUEST_RUN_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/worker_pool.h"
#include "server/requests/request_run.h"

namespace semrank {

inline constexpr std::int64_t kLarge = RequestRun::kMaxInlineTexts + 1;
// A message of this size leaves the thread that brought it.
inline constexpr std::size_t kLargeBytes = 128 * kLarge;

// A method of which a worker may run a request or not, by its size.
inline constexpr Method kMethod = {
    .service = "Test", .name = "Test", .role = Role::kRead};

// Takes `num_turns` turns and writes its name into `log` in each; its name in
// upper case when it is read.
class RecordingHandler final : public RequestHandler {
 public:
  RecordingHandler(std::int64_t num_texts, int num_turns, char name,
                   std::string* log)
      : num_texts_(num_texts),
        turns_left_(num_turns),
        name_(name),
        log_(*log) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    log_ += absl::ascii_toupper(name_);
    bytes_ = bytes;
    return RequestSize{num_texts_, bytes.size()};
  }
  // What follows a zero byte is a payload.
  void EachText(TakeText take) const override {
    take(bytes_.substr(0, bytes_.find('\0')));
  }
  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    log_ += name_;
    return --turns_left_ > 0 ? Progress::kMore : Progress::kDone;
  }
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  const std::int64_t num_texts_;
  int turns_left_;
  const char name_;
  std::string& log_;
  std::string_view bytes_;
  v1::RankResponse response_;
};

class TestRun final : public RequestRun {
 public:
  TestRun(const ServerParts& parts, std::unique_ptr<RequestHandler> handler,
          const Method& method = kMethod)
      : RequestRun(method, parts, std::move(handler)) {}
  void Begin() { Start("bytes"); }
  void BeginWith(std::string_view bytes) { Start(bytes); }
  // As for a message in another form; writes "+" when it is decoded.
  void BeginDecoding(std::string& log, std::size_t num_bytes = kLargeBytes,
                     absl::Duration max_time = absl::InfiniteDuration()) {
    StartDecoding(num_bytes, max_time,
                  [&log]() -> absl::StatusOr<std::string_view> {
                    log += '+';
                    return "bytes";
                  });
  }
  using RequestRun::StartDecoding;
  absl::Status Wait() { return done_.get_future().get(); }
  void GoAway() { cancelled_ = true; }

  void SetDeadline(absl::Time deadline) { deadline_ = deadline; }

  absl::Time deadline() const override { return deadline_; }
  bool cancelled() const override { return cancelled_; }
  std::string_view name() const override { return name_; }
  void SetName(const std::string& name) { name_ = name; }

 private:
  std::string name_;
  absl::Time deadline_ = absl::InfiniteFuture();
  absl::Status SerializeResponse(
      const google::protobuf::MessageLite&) override {
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override { done_.set_value(status); }

  std::promise<absl::Status> done_;
  std::atomic<bool> cancelled_{false};
};

class RequestRunTest : public ::testing::Test {
 protected:
  RequestRunTest() { lifecycle_.Advance(Lifecycle::State::kServing); }

  std::unique_ptr<TestRun> NewRun(std::int64_t num_texts, int num_turns,
                                  char name) {
    return std::make_unique<TestRun>(
        parts_,
        std::make_unique<RecordingHandler>(num_texts, num_turns, name, &log_));
  }
  // Keeps the only worker busy until the returned promise is fulfilled.
  std::promise<void> BlockWorker() {
    std::promise<void> release;
    workers_.Submit(
        [released = release.get_future().share()] { released.wait(); });
    return release;
  }

  Lifecycle lifecycle_;
  Metrics metrics_;
  Admission admission_{10 * kLarge};
  std::atomic<TaskQueue::Clock::time_point> queue_time_{};
  WorkerPool workers_{
      {.num_threads = 1, .now = [this] { return queue_time_.load(); }}};
  ServerParts parts_ = [&] {
    ServerParts parts;
    parts.lifecycle = &lifecycle_;
    parts.admission = &admission_;
    parts.workers = &workers_;
    parts.metrics = &metrics_;
    return parts;
  }();
  std::string log_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_REQUESTS_REQUEST_RUN_FIXTURE_H_
