#include "client/lib/client_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

constexpr std::string_view kAddress = "10.0.0.1:50051";

google::rpc::Status StatusWithDetails() {
  google::rpc::Status status;
  status.set_code(static_cast<int>(absl::StatusCode::kResourceExhausted));
  status.set_message("busy");
  google::rpc::ErrorInfo info;
  info.set_reason("OVERLOADED");
  (*info.mutable_metadata())["limit"] = "1000";
  status.add_details()->PackFrom(info);
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(25'000'000);
  status.add_details()->PackFrom(retry);
  return status;
}

TEST(FromGrpcStatusTest, KeepsCodeMessageAndDetails) {
  const google::rpc::Status sent = StatusWithDetails();
  const absl::Status status =
      FromGrpcStatus(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                  sent.message(), sent.SerializeAsString()),
                     kAddress);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               "10.0.0.1:50051: busy"));
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->reason(), "OVERLOADED");
  EXPECT_EQ(info->metadata().at("limit"), "1000");
  EXPECT_EQ(GetRetryDelay(status), absl::Milliseconds(25));
}

TEST(FromGrpcStatusTest, OkIsOk) {
  EXPECT_THAT(FromGrpcStatus(grpc::Status::OK, kAddress), IsOk());
}

TEST(FromGrpcStatusTest, AnEmptyMessageBecomesTheCodeName) {
  EXPECT_THAT(FromGrpcStatus(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""),
                             kAddress),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "10.0.0.1:50051: UNIMPLEMENTED"));
}

TEST(FromGrpcStatusTest, MalformedDetailsAreIgnored) {
  const absl::Status status = FromGrpcStatus(
      grpc::Status(grpc::StatusCode::INTERNAL, "bug", "\xff\xff\xff"),
      kAddress);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal));
  EXPECT_FALSE(GetErrorInfo(status).has_value());
  EXPECT_FALSE(GetRetryDelay(status).has_value());
}

TEST(FromItemStatusTest, KeepsCodeMessageAndDetails) {
  const absl::Status status = FromItemStatus(StatusWithDetails());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, "busy"));
  EXPECT_EQ(GetErrorInfo(status)->reason(), "OVERLOADED");
}

TEST(FromItemStatusTest, AProblemIsNeverOk) {
  EXPECT_THAT(FromItemStatus(google::rpc::Status()),
              StatusIs(absl::StatusCode::kUnknown));
  google::rpc::Status strange;
  strange.set_code(-77);
  EXPECT_THAT(FromItemStatus(strange), StatusIs(absl::StatusCode::kUnknown));
}

}  // namespace
}  // namespace semrank
