#include "model/base/json_elements.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/base/json_elements.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#ifndef SEMRANK_MODEL_BASE_JSON_ELEMENTS_BLOCK_
#define SEMRANK_MODEL_BASE_JSON_ELEMENTS_BLOCK_
namespace semrank {
namespace {

// Elements whose digits are computed together, by loops without branches that
// the compiler turns into SIMD instructions.
constexpr int kBlock = 16;
// "-1.17549435e-38" is the longest number; ".0" and a comma may follow.
constexpr std::size_t kMaxElementBytes = 18;

// From each of these sizes on, floats are farther apart than numbers with as
// many decimals, so the nearest of those lies closer to the element than to any
// other float32. The sizes themselves, powers of two, have no more decimals.
constexpr float kLeastOf8Decimals = 0x1p-3F;
constexpr float kLeastOf9Decimals = 0x1p-6F;
constexpr float kLeastOf10Decimals = 0x1p-10F;

// Numbers as bytes, in the memory of a little-endian machine.
struct BlockText {
  std::int32_t num_decimals[kBlock];  // 0 for sizes below 2^-10 or from 1 on
  // Ten decimals, of which those after the first num_decimals are zeros.
  std::uint32_t first_two[kBlock];       // "0.dd"
  std::uint16_t last_eight[4 * kBlock];  // "dd" four times
};

}  // namespace
}  // namespace semrank
#endif

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// Sizes as integers, in units of their last decimal; 0 for elements without
// decimals.
void RoundToDecimals(const float* elements, std::int32_t* num_decimals,
                     std::int32_t* rounded) {
  float sizes[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const float size = std::abs(elements[i]);
    const std::int32_t is_fixed =
        -std::int32_t{size >= kLeastOf10Decimals} & -std::int32_t{size < 1};
    num_decimals[i] = is_fixed & (8 + (size < kLeastOf8Decimals) +
                                  (size < kLeastOf9Decimals));
    sizes[i] =
        std::bit_cast<float>(std::bit_cast<std::int32_t>(size) & is_fixed);
  }
  for (int i = 0; i < kBlock; ++i) {
    const double size = sizes[i];
    const double power = size < kLeastOf9Decimals
                             ? 1e10
                             : (size < kLeastOf8Decimals ? 1e9 : 1e8);
    // Exact: a float of 24 bits times a power of five of at most 24. lround
    // would be a call for each number.
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    rounded[i] = static_cast<std::int32_t>(size * power + 0.5);
  }
}

// dividend / divisor, rounded down. Half a unit is far more than the product
// with the reciprocal is wrong by.
std::int32_t Quotient(double dividend, double reciprocal) {
  return static_cast<std::int32_t>((dividend + 0.5) * reciprocal);
}

void FormatDecimals(const float* elements, BlockText& text) {
  std::int32_t rounded[kBlock];
  RoundToDecimals(elements, text.num_decimals, rounded);
  std::int32_t low[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const std::int32_t missing = 10 - text.num_decimals[i];
    const double unit = missing == 0 ? 1 : (missing == 1 ? 10 : 100);
    const double ten_decimals = rounded[i] * unit;
    const std::int32_t high = Quotient(ten_decimals, 1e-8);
    low[i] = static_cast<std::int32_t>(ten_decimals - high * 1e8);
    const std::int32_t tens = high * 103 >> 10;
    // '0', '.', and the digits of `high`.
    text.first_two[i] = 0x30302e30 + (tens << 16) + ((high - 10 * tens) << 24);
  }
  std::uint32_t fours[2 * kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const std::int32_t high = Quotient(low[i], 1e-4);
    fours[2 * i] = high;
    fours[2 * i + 1] = low[i] - 10'000 * high;
  }
  std::uint16_t pairs[4 * kBlock];
  for (int i = 0; i < 2 * kBlock; ++i) {
    const std::uint32_t hundreds = fours[i] * 10'486 >> 20;
    fours[i] = hundreds | (fours[i] - 100 * hundreds) << 16;
  }
  std::memcpy(pairs, fours, sizeof(pairs));
  for (int i = 0; i < 4 * kBlock; ++i) {
    const std::uint16_t tens = static_cast<std::uint16_t>(pairs[i] * 103) >> 10;
    text.last_eight[i] = 0x3030 + (tens | (pairs[i] - 10 * tens) << 8);
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {
namespace {

HWY_EXPORT(FormatDecimals);

char* WriteShortest(float element, char* to) {
  char* const end = std::to_chars(to, to + kMaxElementBytes, element).ptr;
  // Importers that guess types would take "0" for an integer.
  const auto is_marked = [](char c) {
    return c == '.' || c == 'e' || c == 'n';
  };
  if (std::any_of(to, end, is_marked)) return end;
  return std::copy_n(".0", 2, end);
}

// Writes each of the first `count` of kBlock elements and a comma after it. The
// digits of all kBlock are computed, since a full block costs no more.
char* WriteBlock(const float* elements, int count, char* to) {
  BlockText text;
  HWY_DYNAMIC_DISPATCH(FormatDecimals)(elements, text);
  for (int i = 0; i < count; ++i) {
    if (text.num_decimals[i] > 0 &&
        std::endian::native == std::endian::little) {
      *to = '-';
      to += std::signbit(elements[i]);
      std::memcpy(to, &text.first_two[i], 4);
      std::memcpy(to + 4, &text.last_eight[4 * i], 8);
      to += 2 + text.num_decimals[i];
    } else {
      to = WriteShortest(elements[i], to);
    }
    *to++ = ',';
  }
  return to;
}

}  // namespace

float Element(std::string_view vector, std::size_t i) {
  unsigned char bytes[sizeof(float)];
  std::memcpy(bytes, vector.data() + i * sizeof(float), sizeof(float));
  return std::bit_cast<float>(bytes[0] | std::uint32_t{bytes[1]} << 8 |
                              std::uint32_t{bytes[2]} << 16 |
                              std::uint32_t{bytes[3]} << 24);
}

std::size_t NumElements(std::string_view vector) {
  return vector.size() / sizeof(float);
}

void AppendJsonElements(std::string_view vector, std::string& text) {
  const std::size_t num_elements = NumElements(vector);
  if (num_elements == 0) return;
  for (std::size_t first = 0; first < num_elements; first += kBlock) {
    const int count =
        static_cast<int>(std::min<std::size_t>(kBlock, num_elements - first));
    float elements[kBlock] = {};
    for (int i = 0; i < count; ++i) elements[i] = Element(vector, first + i);
    char block[kBlock * kMaxElementBytes];
    text.append(block, WriteBlock(elements, count, block) - block);
  }
  text.pop_back();  // the comma after the last
}

}  // namespace semrank
#endif  // HWY_ONCE
