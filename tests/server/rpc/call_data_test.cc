#include "server/rpc/call_data.h"

#include <gmock/gmock.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "server/base/admission.h"
#include "server/base/errors.h"
#include "server/requests/error_status.h"

namespace semrank {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// The error as a call ends with it.
grpc::Status EndOf(const absl::Status& status) {
  grpc::ServerContext context;
  return FinalStatus(status, {}, context);
}

google::rpc::Status Details(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(StatusMappingTest, OkHasNoDetails) {
  EXPECT_TRUE(EndOf(absl::OkStatus()).ok());
  EXPECT_EQ(EndOf(absl::OkStatus()).error_details(), "");
}

TEST(StatusMappingTest, EveryCodeKeepsItsNumberAndGetsOneErrorInfo) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "why");
    const grpc::Status mapped = EndOf(status);
    EXPECT_EQ(mapped.error_code(), code);
    EXPECT_EQ(mapped.error_message(), "why");
    const google::rpc::Status details = Details(mapped);
    EXPECT_EQ(details.code(), code);
    EXPECT_EQ(details.message(), "why");
    ASSERT_EQ(details.details_size(), 1);
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(details.details(0).UnpackTo(&info));
    EXPECT_EQ(info.domain(), "semrank");
    EXPECT_NE(info.reason(), "");
  }
}

TEST(StatusMappingTest, FieldErrorsCarryValuesAndABadRequest) {
  const google::rpc::Status details =
      Details(EndOf(TextTooLong("titles[3]", 5000, 4096)));
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(0).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "TEXT_TOO_LONG");
  EXPECT_THAT((std::map<std::string, std::string>(info.metadata().begin(),
                                                  info.metadata().end())),
              UnorderedElementsAre(Pair("field", "titles[3]"),
                                   Pair("value", "5000"), Pair("limit", "4096"),
                                   Pair("flag", "max_text_bytes")));
  google::rpc::BadRequest bad_request;
  ASSERT_TRUE(details.details(1).UnpackTo(&bad_request));
  EXPECT_EQ(bad_request.field_violations(0).field(), "titles[3]");
}

TEST(StatusMappingTest, OverloadSaysWhenToComeBackInDetailAndTrailer) {
  Admission admission(1);
  const absl::Status status = admission.Admit(2).status();
  EXPECT_EQ(RetryDelayMillis(status), "100");
  const google::rpc::Status details = Details(EndOf(status));
  google::rpc::RetryInfo retry_info;
  ASSERT_EQ(details.details_size(), 2);
  ASSERT_TRUE(details.details(1).UnpackTo(&retry_info));
  EXPECT_EQ(retry_info.retry_delay().nanos(), 100'000'000);
}

TEST(StatusMappingTest, OtherErrorsHaveNoPushback) {
  EXPECT_EQ(RetryDelayMillis(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(RetryDelayMillis(absl::InternalError("bug")), std::nullopt);
}

}  // namespace
}  // namespace semrank
