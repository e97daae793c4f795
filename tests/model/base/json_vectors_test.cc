#include "model/base/json_vectors.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"

namespace semrank {
namespace {

std::string JsonElements(const std::vector<float>& elements) {
  const std::string bytes(reinterpret_cast<const char*>(elements.data()),
                          elements.size() * sizeof(float));
  std::string text;
  AppendJsonElements(bytes, text);
  return text;
}

// Parses `text` as AppendJsonElements writes it and compares bit by bit.
void ExpectReadsBack(const std::vector<float>& elements) {
  const std::string text = JsonElements(elements);
  const char* next = text.data();
  const char* const end = text.data() + text.size();
  for (const float& element : elements) {
    float read = 0;
    const char* const after = std::from_chars(next, end, read).ptr;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(read),
              std::bit_cast<std::uint32_t>(element))
        << element << " as " << std::string(next, after);
    ASSERT_TRUE(after == end ? &element == &elements.back() : *after == ',');
    next = after == end ? end : after + 1;
  }
  ASSERT_EQ(next, end);
}

TEST(JsonElementsTest, ElementsHaveAsManyDecimalsAsTheyNeed) {
  EXPECT_EQ(JsonElements({0.1F, -0.25F, 0.015625F, -0.01F, 0.0009765625F}),
            "0.100000001,-0.25000000,0.015625000,-0.0099999998,0.0009765625");
  EXPECT_EQ(JsonElements({0.99999994F, 0.125F, 0.12499999F}),
            "0.99999994,0.12500000,0.124999993");
}

TEST(JsonElementsTest, OtherElementsAreShortAndNeverLookLikeIntegers) {
  EXPECT_EQ(JsonElements({0.0F, -0.0F, 1.0F, -1.0F, 123456.0F, 1e10F}),
            "0.0,-0.0,1.0,-1.0,123456.0,1e+10");
  EXPECT_EQ(JsonElements({1e-5F, 3e-38F, -1e-30F}), "1e-05,3e-38,-1e-30");
  EXPECT_EQ(JsonElements({}), "");
}

TEST(JsonElementsTest, ExtremesReadBackAsTheyWere) {
  using Limits = std::numeric_limits<float>;
  ExpectReadsBack({0.0F, -0.0F, 1.0F, -1.0F, 1e-30F, Limits::min(),
                   -Limits::min(), Limits::denorm_min(), -Limits::denorm_min(),
                   Limits::max(), Limits::lowest(), 1e-40F, 0.5F, -0.5F});
}

// The decimals change, or floats get closer, at powers of two and of ten.
TEST(JsonElementsTest, NeighboursOfPowersReadBackAsTheyWere) {
  std::vector<float> elements;
  const auto add_around = [&](float power) {
    const auto middle = std::bit_cast<std::uint32_t>(power);
    for (auto bits = middle - 500; bits < middle + 500; ++bits) {
      elements.push_back(std::bit_cast<float>(bits));
      elements.push_back(-std::bit_cast<float>(bits));
    }
  };
  for (float power = 0x1p-14F; power <= 2; power *= 2) add_around(power);
  for (const float power : {1e-4F, 1e-3F, 1e-2F, 0.1F}) add_around(power);
  ExpectReadsBack(elements);
}

TEST(JsonElementsTest, EveryHundredthFloatReadsBackAsItWas) {
  std::vector<float> elements;
  for (auto bits = std::bit_cast<std::uint32_t>(0x1p-11F);
       bits < std::bit_cast<std::uint32_t>(1.1F); bits += 101) {
    elements.push_back(std::bit_cast<float>(bits));
  }
  ExpectReadsBack(elements);
}

TEST(JsonElementsTest, TwoMillionRandomElementsReadBackAsTheyWere) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.0625F);
  std::vector<float> elements(1'000'000);
  for (float& element : elements) element = normal(random);
  ExpectReadsBack(elements);
  for (float& element : elements) {
    do {
      element = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    } while (!std::isfinite(element));
  }
  ExpectReadsBack(elements);
}

// Blocks of elements are formatted together.
TEST(JsonElementsTest, AnElementsTextDoesNotDependOnItsPlace) {
  std::string expected;
  std::vector<float> elements;
  for (int i = 0; i < 67; ++i) {
    elements.push_back(0.001F * static_cast<float>(i * i % 41 - 20));
    if (i > 0) expected += ',';
    expected += JsonElements({elements.back()});
    ASSERT_EQ(JsonElements(elements), expected);
  }
}

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
