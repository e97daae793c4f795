#include "model/base/base64.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/escaping.h"

namespace semrank {
namespace {

TEST(Base64Test, EqualsAbseilsAtEachLength) {
  std::mt19937 random(1);
  std::string bytes;
  for (int size = 0; size < 300; ++size) {
    std::string text = "before";
    AppendBase64Text(bytes, text);
    ASSERT_EQ(text, "before" + absl::Base64Escape(bytes)) << size;
    bytes += static_cast<char>(random());
  }
}

TEST(Base64Test, HasEachCharacter) {
  std::string bytes;
  for (int i = 0; i < 3 * 256; ++i) bytes += static_cast<char>(i * 37);
  std::string text;
  AppendBase64Text(bytes, text);
  EXPECT_EQ(text, absl::Base64Escape(bytes));
}

}  // namespace
}  // namespace semrank
