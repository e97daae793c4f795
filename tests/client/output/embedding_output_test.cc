#include "client/output/embedding_output.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace semrank {
namespace {

std::string JsonElements(const std::vector<float>& elements) {
  std::string bytes(elements.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  std::string text;
  AppendJsonElements(bytes, text);
  return text;
}

std::string JsonElement(float element) { return JsonElements({element}); }

TEST(EmbeddingOutputTest, ElementsAreShortAndNeverLookLikeIntegers) {
  EXPECT_EQ(JsonElements({0.1F, -0.25F, 0.0F, 1.0F, -1.0F}),
            "0.1,-0.25,0.0,1.0,-1.0");
  EXPECT_EQ(JsonElements({0.3F, 0.01F, 0.007F, 0.0625F, 0.00012345678F}),
            "0.3,0.01,0.007,0.0625,0.00012345678");
  EXPECT_EQ(JsonElements({1e-5F, 3e-38F, 123456.0F, 1e10F}),
            "1e-05,3e-38,123456.0,1e+10");
  EXPECT_EQ(JsonElements({0.99999994F, 0.09999999F}), "0.99999994,0.09999999");
}

// Every 997th float from 1e-5 to 1.1 and the ones around each power of ten.
TEST(EmbeddingOutputTest, ElementsReadBackAsTheyWere) {
  std::vector<std::uint32_t> all;
  for (auto bits = std::bit_cast<std::uint32_t>(1e-5F);
       bits < std::bit_cast<std::uint32_t>(1.1F); bits += 997) {
    all.push_back(bits);
  }
  for (const float power : {1e-4F, 1e-3F, 1e-2F, 0.1F, 1.0F, 0.5F, 0.0625F}) {
    const auto middle = std::bit_cast<std::uint32_t>(power);
    for (auto bits = middle - 500; bits < middle + 500; ++bits) {
      all.push_back(bits);
    }
  }
  for (const std::uint32_t bits : all) {
    const auto element = std::bit_cast<float>(bits);
    const std::string text = JsonElement(element);
    float read = 0;
    const auto end =
        std::from_chars(text.data(), text.data() + text.size(), read);
    ASSERT_EQ(end.ptr, text.data() + text.size()) << text;
    ASSERT_EQ(read, element) << text;
    ASSERT_EQ(JsonElement(-element), "-" + text);
  }
}

}  // namespace
}  // namespace semrank
