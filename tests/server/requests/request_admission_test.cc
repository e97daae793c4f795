// RequestRun: when a request is refused or dropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/base/errors.h"
#include "server/base/worker_pool.h"
#include "tests/server/requests/request_run_fixture.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

TEST_F(RequestRunTest, ARequestThatWouldWaitTooLongIsNotDecoded) {
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

TEST_F(RequestRunTest, ARequestThatArrivesTooLateIsNotRead) {
  const UnreadRequest late = {.num_bytes = 10,
                              .time_left = absl::ZeroDuration()};
  EXPECT_THAT(CheckUnread(kMethod, parts_, late),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(CheckUnread(kMethod, parts_, {.num_bytes = 10}), IsOk());
}

TEST_F(RequestRunTest, ACallerAloneMayUseTheWholeQueue) {
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

TEST_F(RequestRunTest, ARequestThatWouldWaitTooLongIsRefused) {
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

TEST_F(RequestRunTest, ARequestThatCannotMeetItsDeadlineIsDropped) {
  // Not one alone, which might have stalled.
  for (int i = 0; i < 200; ++i) {
    admission_.costs().Record(RequestKind::kOther, kLarge, absl::Hours(2));
  }
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

TEST_F(RequestRunTest, ARequestOverTheLimitIsRefusedOnceItIsRead) {
  const auto run = NewRun(10 * kLarge + 1, 1, 'x');
  run->Begin();
  EXPECT_EQ(ErrorReason(run->Wait()), "OVERLOADED");
  EXPECT_EQ(log_, "X");
}

}  // namespace
}  // namespace semrank
