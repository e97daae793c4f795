// RequestRun: which thread runs the slices of a request, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "semrank/v1/ranking_service.pb.h"
#include "server/base/worker_pool.h"
#include "tests/server/requests/request_run_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

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
  EXPECT_EQ(admission_.queued_texts().level(), 4 * kLarge);
  release.set_value();
  EXPECT_THAT(a->Wait(), IsOk());
  EXPECT_THAT(b->Wait(), IsOk());
  EXPECT_EQ(log_, "+Aaa+Bbb");
  EXPECT_EQ(admission_.inflight_texts(), 0);
}

TEST_F(RequestRunTest, AnIdleServerDecodesInTheCallersThread) {
  const auto run = NewRun(10, 1, 'a');
  run->BeginDecoding(log_, kLargeBytes / 2);
  EXPECT_EQ(log_, "+Aa");
  EXPECT_THAT(run->Wait(), IsOk());
}

TEST_F(RequestRunTest, AWorkerDecodesWhatMayNotKeepTheThread) {
  std::promise<void> release = BlockWorker();
  const auto run = NewRun(10, 1, 'a');
  run->BeginDecoding(log_, /*num_bytes=*/10, absl::ZeroDuration());
  EXPECT_EQ(log_, "");
  release.set_value();
  EXPECT_THAT(run->Wait(), IsOk());
  EXPECT_EQ(log_, "+Aa");
}

TEST_F(RequestRunTest, ABodyIsExpectedToCostWhatOthersOfItsSizeDid) {
  const auto run = NewRun(10, 1, 'a');
  run->BeginDecoding(log_, kLargeBytes / 2);
  EXPECT_THAT(run->Wait(), IsOk());
  // 64 bytes count as a text.
  EXPECT_LT(admission_.costs().Estimate(RequestKind::kOther, kLargeBytes / 128),
            RequestCosts::kFirstGuess * (kLargeBytes / 128));
}

TEST_F(RequestRunTest, CostsIncludeDecodingInTheCallersThread) {
  const auto run = NewRun(10, 1, 'a');
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::nanoseconds decoding{};
  run->StartDecoding(kLargeBytes / 2, absl::InfiniteDuration(),
                     [&]() -> absl::StatusOr<std::string_view> {
                       // Far longer than the slice takes.
                       while (decoding < std::chrono::microseconds(300)) {
                         decoding = std::chrono::steady_clock::now() - begin;
                       }
                       return "bytes";
                     });
  EXPECT_THAT(run->Wait(), IsOk());
  EXPECT_GE(admission_.costs().Estimate(RequestKind::kOther, 10),
            absl::FromChrono(decoding) / 2);
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

TEST_F(RequestRunTest, ACancelledRequestIsDroppedBetweenSlices) {
  std::promise<void> release = BlockWorker();
  const auto run = NewRun(kLarge, 100, 'x');
  run->Begin();
  run->GoAway();
  release.set_value();
  EXPECT_THAT(run->Wait(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(log_, "X");
  EXPECT_EQ(admission_.inflight_texts(), 0);
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

}  // namespace
}  // namespace semrank
