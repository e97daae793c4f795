#include "server/requests/message_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "semrank/v1/model_service.pb.h"
#include "server/base/errors.h"
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

struct UnknownCase {
  std::string name;
  std::string field;  // none that GetModelRequest has
  std::string before, after;
};

class UnknownFieldsTest : public ::testing::TestWithParam<UnknownCase> {};

TEST_P(UnknownFieldsTest, SomeArePassedOverAndMoreRefused) {
  const UnknownCase& test = GetParam();
  const auto parse = [&](std::int64_t count) {
    std::string fields;
    for (std::int64_t i = 0; i < count; ++i) fields += test.field;
    v1::GetModelRequest request;
    return ParseMessage(test.before + fields + test.after, request);
  };
  EXPECT_THAT(parse(1'000), IsOk());
  const absl::Status refused = parse(kMaxUnknownFields + 1);
  EXPECT_EQ(ErrorReason(refused), "MALFORMED_MESSAGE");
  EXPECT_THAT(std::string(refused.message()),
              ::testing::HasSubstr("more than 100000 fields"));
}

INSTANTIATE_TEST_SUITE_P(Cases, UnknownFieldsTest,
                         ::testing::ValuesIn<UnknownCase>(
                             {{"Number", "\x78\x01", "", ""},
                              {"Text", std::string("\x7a\0", 2), "", ""},
                              {"OfAnotherType", "\x08\x01", "", ""},
                              {"Groups", "\x7b\x7c", "", ""},
                              {"InAGroup", "\x0a\x01x", "\x7b", "\x7c"},
                              {"InTheModel", "\x0a\x02\x78\x01", "", ""}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace semrank
