#include "model/base/json_vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/base/json_vectors.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "absl/strings/escaping.h"
#include "model/base/strings.h"

#ifndef SEMRANK_MODEL_BASE_JSON_VECTORS_SIZES_
#define SEMRANK_MODEL_BASE_JSON_VECTORS_SIZES_
namespace semrank {
namespace {

// Elements whose digits are computed together.
constexpr int kBlock = 16;
// "-1.17549435e-38" is the longest number; ".0" and a comma may follow.
constexpr std::ptrdiff_t kMaxElementBytes = 18;

// From each of these sizes on, floats are farther apart than numbers with as
// many decimals, so the nearest of those lies closer to the element than to any
// other float32. The sizes themselves, powers of two, have no more decimals.
constexpr float kLeastOf8Decimals = 0x1p-3F;
constexpr float kLeastOf9Decimals = 0x1p-6F;
constexpr float kLeastOf10Decimals = 0x1p-10F;

// From here on a size with 9 or 10 decimals has a ninth digit, which is 1.
constexpr std::int32_t kLeastOf9Digits = 100'000'000;

// Numbers as bytes, in the memory of a little-endian machine.
struct BlockText {
  std::int32_t num_decimals[kBlock];  // 0 for sizes below 2^-10 or from 1 on
  // "0." and the decimals before the last eight: none, "d" or "0d".
  std::uint32_t first[kBlock];
  std::uint16_t last_eight[4 * kBlock];  // "dd" four times
};

// Base64: a step encodes 12 bytes as 16 characters, and loads 16 bytes.
constexpr std::size_t kStepBytes = 12;
constexpr std::size_t kStepChars = 16;

}  // namespace
}  // namespace semrank
#endif

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// Computes the texts of kBlock elements. A size times a power of ten is exact
// in double: a float of 24 bits times a power of five of at most 24.
#if HWY_TARGET == HWY_SCALAR

void FormatDecimals(const float* elements, BlockText& text) {
  for (int i = 0; i < kBlock; ++i) {
    const float size = std::abs(elements[i]);
    const bool is_fixed = size >= kLeastOf10Decimals && size < 1;
    const int num_decimals = size < kLeastOf9Decimals   ? 10
                             : size < kLeastOf8Decimals ? 9
                                                        : 8;
    const double power = size < kLeastOf9Decimals   ? 1e10
                         : size < kLeastOf8Decimals ? 1e9
                                                    : 1e8;
    text.num_decimals[i] = is_fixed ? num_decimals : 0;
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): rounds like the others.
    auto rest = static_cast<std::int32_t>(is_fixed ? size * power + 0.5 : 0);
    char digits[10];
    for (int k = 9; k >= 0; --k, rest /= 10) digits[k] = '0' + rest % 10;
    const char first[4] = {'0', '.', num_decimals == 9 ? digits[1] : digits[0],
                           digits[1]};
    std::memcpy(&text.first[i], first, sizeof(first));
    std::memcpy(&text.last_eight[4 * i], digits + 2, 8);
  }
}

// The baseline, which has no vectors, leaves all of it to Abseil.
std::size_t EncodeSteps(const std::uint8_t* /*bytes*/,
                        std::size_t /*num_bytes*/, std::uint8_t* /*chars*/) {
  return 0;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::CappedTag<float, kBlock> kFloats;
constexpr hn::Repartition<double, decltype(kFloats)> kDoubles;
constexpr hn::Repartition<std::int32_t, decltype(kFloats)> kInts;
constexpr hn::Repartition<std::uint32_t, decltype(kFloats)> kBits;
constexpr hn::Repartition<std::uint64_t, decltype(kFloats)> kWide;
constexpr hn::Repartition<std::uint16_t, decltype(kFloats)> kPairs;
constexpr hn::Half<decltype(kInts)> kHalfInts;
using Floats = hn::Vec<decltype(kFloats)>;
using Bits = hn::Vec<decltype(kBits)>;
using Pairs = hn::Vec<decltype(kPairs)>;

template <typename HalfOfFloats>
hn::Vec<decltype(kHalfInts)> RoundHalf(HalfOfFloats sizes,
                                       HalfOfFloats powers) {
  const auto product =
      hn::PromoteTo(kDoubles, sizes) * hn::PromoteTo(kDoubles, powers);
  return hn::DemoteTo(kHalfInts, product + hn::Set(kDoubles, 0.5));
}

hn::Vec<decltype(kInts)> Round(Floats sizes, Floats powers) {
  const hn::Half<decltype(kFloats)> half;
  return hn::Combine(
      kInts, RoundHalf(hn::UpperHalf(half, sizes), hn::UpperHalf(half, powers)),
      RoundHalf(hn::LowerHalf(half, sizes), hn::LowerHalf(half, powers)));
}

// dividends / 10,000, rounded down. The factor is off by less than 0.12, so the
// quotient of a dividend below 10^8 by less than 10^-6: too little to reach the
// next whole number.
Bits DivideBy10000(Bits dividends) {
  constexpr int kShift = 45;
  const auto factor = hn::Set(kBits, 3'518'437'209);  // 2^45 / 10,000, up
  const auto odds = hn::ShiftRight<32>(hn::BitCast(kWide, dividends));
  return hn::BitCast(
      kBits, hn::Or(hn::ShiftRight<kShift>(hn::MulEven(dividends, factor)),
                    hn::ShiftLeft<32>(hn::ShiftRight<kShift>(
                        hn::MulEven(hn::BitCast(kBits, odds), factor)))));
}

// The two decimal digits of each number below 100. Multiplying by 6,554 / 2^16,
// slightly more than 1 / 10, gives the exact quotient in this range.
Pairs Digits(Pairs numbers) {
  const auto tens = hn::MulHigh(numbers, hn::Set(kPairs, 6'554));
  const auto ones = numbers - tens * hn::Set(kPairs, 10);
  return hn::Or(tens, hn::ShiftLeft<8>(ones)) + hn::Set(kPairs, 0x3030);
}

void FormatDecimals(const float* elements, BlockText& text) {
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(kFloats)) {
    const auto sizes = hn::Abs(hn::LoadU(kFloats, elements + i));
    const auto has_9 = hn::Lt(sizes, hn::Set(kFloats, kLeastOf8Decimals));
    const auto has_10 = hn::Lt(sizes, hn::Set(kFloats, kLeastOf9Decimals));
    const auto is_fixed =
        hn::And(hn::Ge(sizes, hn::Set(kFloats, kLeastOf10Decimals)),
                hn::Lt(sizes, hn::Set(kFloats, 1)));
    const auto choose = [&](auto tag, auto of_8, auto of_9, auto of_10) {
      return hn::IfThenElse(
          hn::RebindMask(tag, has_10), hn::Set(tag, of_10),
          hn::IfThenElse(hn::RebindMask(tag, has_9), hn::Set(tag, of_9),
                         hn::Set(tag, of_8)));
    };
    hn::StoreU(hn::IfThenElseZero(hn::RebindMask(kInts, is_fixed),
                                  choose(kInts, 8, 9, 10)),
               kInts, text.num_decimals + i);
    const auto rounded = Round(hn::IfThenElseZero(is_fixed, sizes),
                               choose(kFloats, 1e8F, 1e9F, 1e10F));
    const auto has_ninth = hn::Gt(rounded, hn::Set(kInts, kLeastOf9Digits - 1));
    // Makes '1' of the '0' that is the last before the eight.
    const auto one = choose(kInts, 0, 1 << 16, 1 << 24);
    hn::StoreU(hn::BitCast(kBits, hn::Set(kInts, 0x30302e30) +
                                      hn::IfThenElseZero(has_ninth, one)),
               kBits, text.first + i);
    const auto low = hn::BitCast(
        kBits, rounded - hn::IfThenElseZero(has_ninth,
                                            hn::Set(kInts, kLeastOf9Digits)));
    const auto high = DivideBy10000(low);
    const auto fours = hn::BitCast(
        kPairs,
        hn::Or(high, hn::ShiftLeft<16>(low - high * hn::Set(kBits, 10'000))));
    // 5,243 / 2^19 is a little more than 1 / 100: exact below 10,000.
    const auto hundreds =
        hn::ShiftRight<3>(hn::MulHigh(fours, hn::Set(kPairs, 5'243)));
    hn::StoreInterleaved2(Digits(hundreds),
                          Digits(fours - hundreds * hn::Set(kPairs, 100)),
                          kPairs, text.last_eight + 4 * i);
  }
}

constexpr hn::FixedTag<std::uint8_t, kStepChars> kChars;
constexpr hn::Repartition<std::uint16_t, decltype(kChars)> kCharPairs;
constexpr hn::Repartition<std::uint32_t, decltype(kChars)> kCharGroups;

// Each byte of a group of three, so that every character's six bits lie in one
// pair of bytes.
alignas(kStepChars) constexpr std::uint8_t kSpread[kStepChars] = {
    1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10};
// The distance from six bits to their character, by the kind of the character:
// a-z, ten digits, '+', '/', A-Z.
constexpr std::uint8_t kLower = 'a' - 26;
constexpr std::uint8_t kDigit = '0' - 52 + 256;
constexpr std::uint8_t kPlus = '+' - 62 + 256;
constexpr std::uint8_t kSlash = '/' - 63 + 256;
alignas(kStepChars) constexpr std::uint8_t kDistances[kStepChars] = {
    kLower, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit,
    kDigit, kDigit, kDigit, kPlus,  kSlash, 'A',    0,      0};

// W. Mula and D. Lemire, "Faster Base64 Encoding and Decoding using AVX2
// Instructions", 2018. Returns how many of the bytes it has encoded.
std::size_t EncodeSteps(const std::uint8_t* bytes, std::size_t num_bytes,
                        std::uint8_t* chars) {
  const auto spread = hn::Load(kChars, kSpread);
  const auto distances = hn::Load(kChars, kDistances);
  std::size_t i = 0;
  // A step reads the four bytes that follow it, too.
  for (; i + kStepChars <= num_bytes; i += kStepBytes, chars += kStepChars) {
    const auto groups =
        hn::BitCast(kCharGroups,
                    hn::TableLookupBytes(hn::LoadU(kChars, bytes + i), spread));
    // Two of the four numbers of six bits are shifted down, two up.
    const auto down = hn::MulHigh(
        hn::BitCast(kCharPairs,
                    hn::And(groups, hn::Set(kCharGroups, 0x0fc0fc00))),
        hn::BitCast(kCharPairs, hn::Set(kCharGroups, 0x04000040)));
    const auto up =
        hn::BitCast(kCharPairs,
                    hn::And(groups, hn::Set(kCharGroups, 0x003f03f0))) *
        hn::BitCast(kCharPairs, hn::Set(kCharGroups, 0x01000010));
    const auto sixes = hn::BitCast(kChars, hn::Or(down, up));
    // 0 to 25 are kind 13, 26 to 51 kind 0, digits 1 to 10, then 11 and 12.
    const auto kinds =
        hn::IfThenElse(hn::Lt(sixes, hn::Set(kChars, 26)), hn::Set(kChars, 13),
                       hn::SaturatedSub(sixes, hn::Set(kChars, 51)));
    hn::StoreU(sixes + hn::TableLookupBytes(distances, kinds), kChars, chars);
  }
  return i;
}

#endif

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {
namespace {

HWY_EXPORT(FormatDecimals);
HWY_EXPORT(EncodeSteps);

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
      std::memcpy(to, &text.first[i], 4);
      // "0." and num_decimals - 8 digits precede the last eight. The rest of
      // the four bytes is overwritten.
      to += text.num_decimals[i] - 6;
      std::memcpy(to, &text.last_eight[4 * i], 8);
      to += 8;
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
  // Texts of a few blocks are appended together.
  char blocks[8 * kBlock * kMaxElementBytes];
  char* end = blocks;
  for (std::size_t first = 0; first < num_elements; first += kBlock) {
    const int count =
        static_cast<int>(std::min<std::size_t>(kBlock, num_elements - first));
    float elements[kBlock] = {};
    for (int i = 0; i < count; ++i) elements[i] = Element(vector, first + i);
    end = WriteBlock(elements, count, end);
    if (std::end(blocks) - end < kBlock * kMaxElementBytes) {
      text.append(blocks, end - blocks);
      end = blocks;
    }
  }
  text.append(blocks, end - blocks);
  text.pop_back();  // the comma after the last
}

void AppendBase64Text(std::string_view bytes, std::string& text) {
  const std::size_t begin = text.size();
  text.resize(begin + bytes.size() / kStepBytes * kStepChars);
  const std::size_t num_encoded = HWY_DYNAMIC_DISPATCH(EncodeSteps)(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
      reinterpret_cast<std::uint8_t*>(text.data() + begin));
  text.resize(begin + num_encoded / kStepBytes * kStepChars);
  text += absl::Base64Escape(ToAbsl(bytes.substr(num_encoded)));
}

}  // namespace semrank
#endif  // HWY_ONCE
