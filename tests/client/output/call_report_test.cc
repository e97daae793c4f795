#include "client/output/call_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/lib/client_status.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

// A status as FromGrpcStatus makes it.
absl::Status Failure(absl::StatusCode code, const std::string& reason,
                     int retry_milliseconds = 0) {
  google::rpc::Status status;
  status.set_code(static_cast<int>(code));
  status.set_message("it failed");
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  if (!reason.empty()) status.add_details()->PackFrom(info);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(retry_milliseconds * 1'000'000);
  if (retry_milliseconds > 0) status.add_details()->PackFrom(retry);
  return FromItemStatus(status);
}

struct HintCase {
  std::string name;
  absl::StatusCode code;
  std::string reason, want;
};

class WithHintTest : public ::testing::TestWithParam<HintCase> {};

TEST_P(WithHintTest, KeepsCodeAndMessageAndAddsHint) {
  const HintCase& c = GetParam();
  EXPECT_THAT(WithHint(Failure(c.code, c.reason)), StatusIs(c.code, c.want));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WithHintTest,
    ::testing::Values(
        HintCase{"NotReached", absl::StatusCode::kUnavailable, "",
                 "it failed; is semrank-server running there? "
                 "--address=HOST:PORT names another"},
        HintCase{"Deadline", absl::StatusCode::kDeadlineExceeded, "",
                 "it failed; --deadline=TIME waits longer"},
        HintCase{"NotOurs", absl::StatusCode::kUnimplemented, "",
                 "it failed; is that a semrank-server of this release?"},
        HintCase{"MessageTooLarge", absl::StatusCode::kResourceExhausted, "",
                 "it failed; send fewer texts in one call"},
        HintCase{"MessageTooLargeForUs", absl::StatusCode::kResourceExhausted,
                 "MESSAGE_TOO_LARGE",
                 "it failed; send fewer texts in one call"},
        HintCase{"Loading", absl::StatusCode::kUnavailable, "MODEL_LOADING",
                 "it failed; try again later"},
        HintCase{"TooMany", absl::StatusCode::kInvalidArgument,
                 "TOO_MANY_TEXTS",
                 "it failed; send fewer in one call, or raise the limit of "
                 "the server"},
        HintCase{"NoModel", absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
                 "it failed; 'semrank model --list' shows what there is"},
        HintCase{"Bug", absl::StatusCode::kInternal, "BUG", "it failed"},
        HintCase{"UnknownReason", absl::StatusCode::kUnavailable, "NEWER",
                 "it failed"}),
    [](const auto& test) { return test.param.name; });

TEST(WithHintTest, PrintsTheRetryDelayOfTheServer) {
  EXPECT_THAT(WithHint(Failure(absl::StatusCode::kResourceExhausted,
                               "OVERLOADED", /*retry_milliseconds=*/50)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "it failed; try again in 50ms"));
}

TEST(WithHintTest, MessagesAreOneLineWithoutControls) {
  EXPECT_THAT(WithHint(absl::InternalError("a\n\x1b[2J")),
              StatusIs(absl::StatusCode::kInternal, "a\\u000a\\u001b[2J"));
  EXPECT_THAT(WithHint(absl::OkStatus()), IsOk());
}

}  // namespace
}  // namespace semrank
