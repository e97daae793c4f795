// GoogleMock matchers for absl::Status and StatusOr; the packaged Abseil has
// none. EXPECT_THAT(LoadModel(path), StatusIs(absl::StatusCode::kDataLoss)).
#ifndef SEMRANK_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define SEMRANK_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

inline const absl::Status& ToStatus(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& ToStatus(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).ok();
}

MATCHER_P(StatusIs, code, "has status code " + absl::StatusCodeToString(code)) {
  *result_listener << ToStatus(arg).ToString();
  return ToStatus(arg).code() == code;
}

// The message is matched too: StatusIs(code, HasSubstr("--gamma")).
MATCHER_P2(StatusIs, code, message,
           "has status code " + absl::StatusCodeToString(code)) {
  const absl::Status& status = ToStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()),
                                       result_listener);
}

}  // namespace semrank

// Value of a StatusOr, or a failed test: ASSERT_OK_AND_ASSIGN(auto model,
// LoadModel(path)).
#define ASSERT_OK_AND_ASSIGN(declaration, expression)                 \
  SEMRANK_TEST_ASSIGN_IMPL(SEMRANK_TEST_CONCAT(status_or_, __LINE__), \
                           declaration, expression)
#define SEMRANK_TEST_CONCAT_INNER(a, b) a##b
#define SEMRANK_TEST_CONCAT(a, b) SEMRANK_TEST_CONCAT_INNER(a, b)
#define SEMRANK_TEST_ASSIGN_IMPL(temporary, declaration, expression) \
  auto temporary = (expression);                                     \
  ASSERT_TRUE(temporary.ok()) << temporary.status();                 \
  declaration = std::move(temporary).value()

#endif  // SEMRANK_TESTS_SUPPORT_STATUS_MATCHERS_H_
