#include "server/rpc/message_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "semrank/v1/model_service.pb.h"
#include "server/core/errors.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

TEST(MessageParserTest, TellsBadBytesFromBadUtf8AndStaysSilent) {
  CatchProtobufLog();
  testing::internal::CaptureStderr();
  v1::GetModelRequest request;
  const std::string bad_utf8 = "\x0a\x03\x0a\x01\xff";
  EXPECT_EQ(ErrorReason(ParseMessage(bad_utf8, request)), "INVALID_UTF8");
  EXPECT_EQ(ErrorReason(ParseMessage("\xff", request)), "MALFORMED_MESSAGE");
  EXPECT_EQ(ErrorValues(ParseMessage("\xff", request))["message"],
            "semrank.v1.GetModelRequest");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(MessageParserTest, ParsesGoodOnes) {
  v1::GetModelRequest request;
  EXPECT_THAT(ParseMessage("\x0a\x03\x0a\x01x", request), IsOk());
  EXPECT_EQ(request.model().name(), "x");
}

}  // namespace
}  // namespace semrank
