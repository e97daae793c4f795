#include "server/requests/request_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/errors.h"
#include "server/base/worker_pool.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr std::int64_t kLarge = RequestRun::kMaxInlineTexts + 1;

// A method of which a worker may run a request or not, by its size.
constexpr Method kMethod = {
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

// Waits once, until the test resumes it.
class WaitingHandler final : public RequestHandler {
 public:
  explicit WaitingHandler(std::promise<std::function<void()>>* resume)
      : resume_(*resume) {}

  absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
    return RequestSize{1, bytes.size()};
  }
  absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
    return std::exchange(has_waited_, true) ? Progress::kDone
                                            : Progress::kWaiting;
  }
  void Wait(const std::function<void()>& resume) override {
    resume_.set_value(resume);
  }
  const google::protobuf::MessageLite& response() const override {
    return response_;
  }

 private:
  std::promise<std::function<void()>>& resume_;
  bool has_waited_ = false;
  v1::RankResponse response_;
};

class TestRun final : public RequestRun {
 public:
  TestRun(const ServerParts& parts, std::unique_ptr<RequestHandler> handler,
          const Method& method = kMethod)
      : RequestRun(method, parts, std::move(handler)) {}
  void Begin() { Start("bytes"); }
  void BeginWith(std::string_view bytes) { Start(bytes); }
  // As for a message of kLarge titles, in another form; writes "+" when it is
  // decoded.
  void BeginDecoding(std::string& log) {
    StartDecoding(64 * kLarge, [&log]() -> absl::StatusOr<std::string_view> {
      log += '+';
      return "bytes";
    });
  }
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

TEST_F(RequestRunTest, ARequestThatWaitsHoldsNeitherThreadNorPermits) {
  std::promise<std::function<void()>> resume;
  TestRun run(parts_, std::make_unique<WaitingHandler>(&resume));
  run.Begin();
  const std::function<void()> go_on = resume.get_future().get();
  EXPECT_EQ(admission_.inflight_texts(), 0);
  const auto other = NewRun(kLarge, 2, 'a');
  other->Begin();
  EXPECT_THAT(other->Wait(), IsOk());
  go_on();
  EXPECT_THAT(run.Wait(), IsOk());
}

TEST_F(RequestRunTest, ARequestMayBeResumedBeforeItBeginsToWait) {
  class Handler : public RequestHandler {
   public:
    absl::StatusOr<RequestSize> Read(std::string_view bytes) override {
      return RequestSize{1, bytes.size()};
    }
    absl::StatusOr<Progress> RunSlice(const RequestRun& /*run*/) override {
      return --num_waits_ > 0 ? Progress::kWaiting : Progress::kDone;
    }
    const google::protobuf::MessageLite& response() const override {
      return response_;
    }

   private:
    int num_waits_ = 100;
    v1::RankResponse response_;
  };
  TestRun run(parts_, std::make_unique<Handler>());
  run.Begin();
  EXPECT_THAT(run.Wait(), IsOk());
}

TEST_F(RequestRunTest, LargeRequestsRunSlicesOneRequestAfterTheOther) {
  std::promise<void> release = BlockWorker();
  const auto a = NewRun(kLarge, 4, 'a');
  const auto b = NewRun(kLarge, 2, 'b');
  a->Begin();
  b->Begin();
  EXPECT_EQ(admission_.inflight_texts(), 2 * kLarge);
  release.set_value();
  EXPECT_THAT(a->Wait(), IsOk());
  EXPECT_THAT(b->Wait(), IsOk());
  EXPECT_EQ(log_, "ABaaaabb");
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(RequestRunTest, ASmallRequestDoesNotWaitForTheWorkers) {
  std::promise<void> release = BlockWorker();
  const auto large = NewRun(kLarge, 1, 'l');
  const auto small = NewRun(10, 1, 's');
  large->Begin();
  small->Begin();
  EXPECT_THAT(small->Wait(), IsOk());
  EXPECT_EQ(log_, "LSs");
  release.set_value();
  EXPECT_THAT(large->Wait(), IsOk());
}

TEST_F(RequestRunTest, AWorkerDecodesALargeMessageAndRunsItsFirstSlice) {
  std::promise<void> release = BlockWorker();
  const auto a = NewRun(kLarge, 2, 'a');
  const auto b = NewRun(kLarge, 2, 'b');
  a->BeginDecoding(log_);
  b->BeginDecoding(log_);
  EXPECT_EQ(log_, "");
  EXPECT_EQ(admission_.queued_texts().level(), 2 * kLarge);
  release.set_value();
  EXPECT_THAT(a->Wait(), IsOk());
  EXPECT_THAT(b->Wait(), IsOk());
  EXPECT_EQ(log_, "+Aaa+Bbb");
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(RequestRunTest, WhatWouldWaitTooLongIsNotDecoded) {
  std::promise<void> release = BlockWorker();
  const auto waiting = NewRun(kLarge, 1, 'w');
  const auto refused = NewRun(kLarge, 1, 'r');
  waiting->BeginDecoding(log_);
  queue_time_ = TaskQueue::Clock::time_point(std::chrono::minutes(1));
  refused->BeginDecoding(log_);
  EXPECT_THAT(refused->Wait(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(log_, "");
  release.set_value();
  EXPECT_THAT(waiting->Wait(), IsOk());
  EXPECT_EQ(log_, "+Ww");
}

TEST_F(RequestRunTest, WhatArrivesTooLateIsNotRead) {
  const UnreadRequest late = {.num_bytes = 10,
                              .time_left = absl::ZeroDuration()};
  EXPECT_THAT(CheckUnread(kMethod, parts_, late),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(CheckUnread(kMethod, parts_, {.num_bytes = 10}), IsOk());
}

TEST_F(RequestRunTest, ACallerAloneMayUseTheQueueOfAll) {
  WorkerPool shared({.num_threads = 1,
                     .max_share_per_caller = 0.5,
                     .now = [this] { return queue_time_.load(); }});
  parts_.workers = &shared;
  // The queue may have 250 ms; beside others the share is half of the rest.
  admission_.costs().Record(RequestKind::kOther, kLarge,
                            absl::Milliseconds(60));
  std::promise<void> release;
  shared.Submit([released = release.get_future().share()] { released.wait(); });
  std::vector<std::unique_ptr<TestRun>> runs;
  for (const char* name : {"batch", "batch", "batch", "front", "batch"}) {
    runs.push_back(NewRun(kLarge, 1, name[0]));
    runs.back()->SetName(name);
    runs.back()->Begin();
  }
  EXPECT_EQ(ErrorReason(runs[4]->Wait()), "CALLER_SHARE");
  release.set_value();
  for (int i = 0; i < 4; ++i) EXPECT_THAT(runs[i]->Wait(), IsOk());
  EXPECT_EQ(log_, "BBBFBbfbb");
  EXPECT_EQ(shared.shares().held_by("batch"), 0);
}

// The bytes are those of U+FDFA alone: 11 times as long when normalised.
TEST_F(RequestRunTest, TextsThatNormalisingMakesLongerCountAsMore) {
  const auto held = [&](const std::string& bytes, std::int64_t num_texts) {
    std::promise<void> release = BlockWorker();
    const auto run = NewRun(num_texts, 1, 'a');
    run->BeginWith(bytes);
    release.set_value();
    EXPECT_THAT(run->Wait(), IsOk());
    return admission_.high_water_mark();
  };
  EXPECT_EQ(held("plain text", 10), 10);
  EXPECT_EQ(held("株式会社", 10), 10);
  EXPECT_EQ(held("㍿", 10), 30);
  EXPECT_EQ(held("\xEF\xB7\xBA", 10), 110);
  EXPECT_EQ(held("\xEF\xB7\xBA", kLarge), 10 * kLarge / 4);
}

TEST_F(RequestRunTest, TextsThatNormalisingMakesTooLongAreRefused) {
  parts_.limits.max_texts_per_request = 10;
  const auto outcome = [&](const std::string& text) {
    std::string bytes;
    while (bytes.size() < 6'000) bytes += text;
    const auto run = NewRun(10, 1, 'a');
    run->BeginWith(bytes);
    return run->Wait();
  };
  EXPECT_GT(MaxRequestBytes(parts_.limits), 3 * 6'000);
  EXPECT_LT(MaxRequestBytes(parts_.limits), 11 * 6'000);
  EXPECT_THAT(outcome("plain text"), IsOk());
  EXPECT_THAT(outcome("㍿"), IsOk());
  const absl::Status refused = outcome("\xEF\xB7\xBA");
  EXPECT_EQ(ErrorReason(refused), "MESSAGE_TOO_LARGE");
  EXPECT_EQ(ErrorValues(refused)["value"], "66000");
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(RequestRunTest, OnlyTextsCountAsNormalised) {
  parts_.limits.max_texts_per_request = 10;
  const auto max_bytes =
      static_cast<std::size_t>(MaxRequestBytes(parts_.limits));
  std::string bytes = "㍿";
  bytes += '\0';
  while (bytes.size() < max_bytes) bytes += "\xEF\xB7\xBA";
  const auto run = NewRun(10, 1, 'a');
  run->BeginWith(bytes);
  EXPECT_THAT(run->Wait(), IsOk());
  EXPECT_EQ(admission_.high_water_mark(), 30);
}

TEST_F(RequestRunTest, WritesThatWaitForTheStoreTakeNoWorker) {
  static constexpr Method kWrite = {.service = "Test",
                                    .name = "Write",
                                    .role = Role::kWrite,
                                    .threads = Threads::kWriters};
  WorkerPool writers(1);
  parts_.writers = &writers;
  std::promise<void> store_answers;
  writers.Submit(
      [answers = store_answers.get_future().share()] { answers.wait(); });
  TestRun write(parts_,
                std::make_unique<RecordingHandler>(kLarge, 1, 'w', &log_),
                kWrite);
  const auto read = NewRun(kLarge, 1, 'r');
  write.Begin();
  read->Begin();
  EXPECT_THAT(read->Wait(), IsOk());
  EXPECT_EQ(log_, "WRr");
  store_answers.set_value();
  EXPECT_THAT(write.Wait(), IsOk());
}

TEST(MethodThreadsTest, WritesToTheCatalogHaveThreadsOfTheirOwn) {
  for (const Method& method : kMethods) {
    if (method.role != Role::kWrite) continue;
    EXPECT_EQ(method.threads, Threads::kWriters) << method.name;
  }
}

TEST_F(RequestRunTest, WorkIsDroppedBetweenTurnsWhenTheCallerIsGone) {
  std::promise<void> release = BlockWorker();
  const auto run = NewRun(kLarge, 100, 'x');
  run->Begin();
  run->GoAway();
  release.set_value();
  EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(log_, "X");
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(RequestRunTest, WhatWouldWaitTooLongIsRefusedOnceItIsRead) {
  std::promise<void> release = BlockWorker();
  const auto a = NewRun(kLarge, 1, 'a');
  const auto b = NewRun(kLarge, 1, 'b');
  const auto c = NewRun(kLarge, 1, 'c');
  a->Begin();
  queue_time_ = queue_time_.load() + absl::ToChronoMilliseconds(kMaxQueueWait) +
                std::chrono::milliseconds(1);
  b->Begin();
  EXPECT_EQ(ErrorReason(b->Wait()), "OVERLOADED");
  EXPECT_EQ(admission_.inflight_texts(), kLarge);
  release.set_value();
  EXPECT_THAT(a->Wait(), IsOk());
  c->Begin();
  EXPECT_THAT(c->Wait(), IsOk());
  EXPECT_EQ(log_, "ABaCc");
}

TEST_F(RequestRunTest, WhatCannotMeetItsDeadlineIsDroppedWhileOthersWait) {
  admission_.costs().Record(RequestKind::kOther, kLarge, absl::Hours(2));
  std::promise<void> release = BlockWorker();
  const auto dropped = NewRun(kLarge, 1, 'd');
  dropped->SetDeadline(absl::Now() + absl::Hours(1));
  dropped->Begin();
  workers_.Submit({.run = [] {}, .is_long = true});  // comes after it
  release.set_value();
  EXPECT_THAT(dropped->Wait(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(log_, "D");

  // Alone it runs: only that can correct an estimate that is too high.
  const auto alone = NewRun(kLarge, 1, 'x');
  alone->SetDeadline(absl::Now() + absl::Hours(1));
  alone->Begin();
  EXPECT_THAT(alone->Wait(), IsOk());
}

TEST_F(RequestRunTest, SmallRequestsLeaveTheThreadIfTheyAreExpensive) {
  std::promise<void> release = BlockWorker();
  const auto first = NewRun(1'000, 1, 'f');
  first->Begin();  // nothing else is in flight
  EXPECT_EQ(log_, "Ff");
  const auto large = NewRun(kLarge, 1, 'l');
  large->Begin();
  admission_.costs().Record(RequestKind::kOther, 10, absl::Seconds(1));
  const auto expensive = NewRun(10, 1, 'e');
  expensive->Begin();
  EXPECT_EQ(log_, "FfLE");
  release.set_value();
  EXPECT_THAT(expensive->Wait(), IsOk());
  EXPECT_THAT(large->Wait(), IsOk());
}

TEST_F(RequestRunTest, OverTheLimitIsRefusedOnceItIsRead) {
  const auto run = NewRun(10 * kLarge + 1, 1, 'x');
  run->Begin();
  EXPECT_EQ(ErrorReason(run->Wait()), "OVERLOADED");
  EXPECT_EQ(log_, "X");
}

}  // namespace
}  // namespace semrank
