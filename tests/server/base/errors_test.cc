#include "server/base/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ErrorsTest, ReasonAndValuesTravelWithTheStatus) {
  const absl::Status status =
      MakeError(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND", "no such model",
                {{"field", "model"}, {"version", "7"}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, "no such model"));
  EXPECT_EQ(ErrorReason(status), "MODEL_NOT_FOUND");
  EXPECT_THAT(ErrorValues(status),
              ElementsAre(Pair("field", "model"), Pair("version", "7")));
}

TEST(ErrorsTest, AnErrorMadeElsewhereGetsTheReasonOfItsCode) {
  EXPECT_EQ(ErrorReason(absl::DataLossError("bad")), "MODEL_DAMAGED");
  EXPECT_EQ(ErrorReason(absl::InternalError("bug")), "BUG");
  EXPECT_EQ(ErrorReason(absl::OkStatus()), "");
}

TEST(ErrorsTest, TextTooLongNamesFieldValueLimitAndFlag) {
  const absl::Status status = TextTooLong("titles[3]", 5000, 4096);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               "titles[3]: 5000 bytes, over the limit of 4096 "
                               "(--max_text_bytes)"));
  EXPECT_EQ(ErrorReason(status), "TEXT_TOO_LONG");
  EXPECT_THAT(
      ErrorValues(status),
      ElementsAre(Pair("field", "titles[3]"), Pair("flag", "max_text_bytes"),
                  Pair("limit", "4096"), Pair("value", "5000")));
}

TEST(ErrorsTest, TooManyTextsNamesCountLimitAndFlag) {
  EXPECT_THAT(TooManyTexts("texts", 11, 10),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("11 in one request, over the limit of 10 "
                                 "(--max_texts_per_request)")));
}

}  // namespace
}  // namespace semrank
