#include "server/base/vector_encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace semrank {
namespace {

using ::testing::ElementsAre;

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

TEST(VectorEncodingTest, Float32IsLittleEndianAndComesBack) {
  const std::vector<float> values = {1.0f, -0.5f};
  std::string bytes;
  EncodeFloat32(values, bytes);
  EXPECT_EQ(bytes, Bytes({0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf}));
  std::vector<float> back(2);
  DecodeFloat32(bytes, back);
  EXPECT_EQ(back, values);
}

TEST(VectorEncodingTest, Float16RoundsToNearestEven) {
  std::string bytes;
  // 1 + 2^-11 lies between 1 and the next binary16: even is 1.
  EncodeFloat16(std::vector<float>{1.0f, -2.0f, 1.00048828125f, 0.0f}, bytes);
  EXPECT_EQ(bytes, Bytes({0x00, 0x3c, 0x00, 0xc0, 0x00, 0x3c, 0, 0}));
}

TEST(VectorEncodingTest, Int8ScalesEachRowToItsLargestValue) {
  std::string bytes;
  std::vector<float> scales;
  EncodeInt8(std::vector<float>{0.5f, -0.25f, -1.27f, 0.01f}, 2, bytes, scales);
  EXPECT_EQ(bytes, Bytes({127, -64, -127, 1}));
  EXPECT_THAT(scales, ElementsAre(0.5f / 127, 1.27f / 127));
}

TEST(VectorEncodingTest, Int8ZeroRowHasScaleZero) {
  std::string bytes;
  std::vector<float> scales;
  EncodeInt8(std::vector<float>{0, 0}, 2, bytes, scales);
  EXPECT_EQ(bytes, Bytes({0, 0}));
  EXPECT_THAT(scales, ElementsAre(0.0f));
}

TEST(VectorEncodingTest, Int8SurvivesTheSmallestValues) {
  std::string bytes;
  std::vector<float> scales;
  const float tiny = std::numeric_limits<float>::denorm_min();
  EncodeInt8(std::vector<float>{tiny, 0}, 2, bytes, scales);
  EXPECT_EQ(bytes, Bytes({127, 0}));
}

}  // namespace
}  // namespace semrank
