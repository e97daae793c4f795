#include "model/base/base64.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/base/base64.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "model/base/strings.h"

#ifndef SEMRANK_MODEL_BASE_BASE64_BLOCK_
#define SEMRANK_MODEL_BASE_BASE64_BLOCK_
namespace semrank {
namespace {

// A step encodes 12 bytes as 16 characters, and loads 16 bytes.
constexpr std::size_t kBlockBytes = 12;
constexpr std::size_t kBlockChars = 16;

}  // namespace
}  // namespace semrank
#endif

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

// The baseline, which has no vectors, leaves all of it to Abseil.
#if HWY_TARGET == HWY_SCALAR

std::size_t EncodeBlocks(const std::uint8_t* /*bytes*/,
                         std::size_t /*num_bytes*/, std::uint8_t* /*chars*/) {
  return 0;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::FixedTag<std::uint8_t, kBlockChars> kChars;
constexpr hn::Repartition<std::uint16_t, decltype(kChars)> kPairs;
constexpr hn::Repartition<std::uint32_t, decltype(kChars)> kGroups;

// Each byte of a group of three, so that every character's six bits lie in one
// pair of bytes.
alignas(kBlockChars) constexpr std::uint8_t kSpread[kBlockChars] = {
    1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10};
// The distance from six bits to their character, by the kind of the character:
// a-z, ten digits, '+', '/', A-Z.
constexpr std::uint8_t kLower = 'a' - 26;
constexpr std::uint8_t kDigit = '0' - 52 + 256;
constexpr std::uint8_t kPlus = '+' - 62 + 256;
constexpr std::uint8_t kSlash = '/' - 63 + 256;
alignas(kBlockChars) constexpr std::uint8_t kDistances[kBlockChars] = {
    kLower, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit,
    kDigit, kDigit, kDigit, kPlus,  kSlash, 'A',    0,      0};

// W. Mula and D. Lemire, "Faster Base64 Encoding and Decoding using AVX2
// Instructions", 2018. Returns how many of the bytes it has encoded.
std::size_t EncodeBlocks(const std::uint8_t* bytes, std::size_t num_bytes,
                         std::uint8_t* chars) {
  const auto spread = hn::Load(kChars, kSpread);
  const auto distances = hn::Load(kChars, kDistances);
  std::size_t i = 0;
  // A block is read with the four bytes that follow it.
  for (; i + kBlockChars <= num_bytes; i += kBlockBytes, chars += kBlockChars) {
    const auto groups = hn::BitCast(
        kGroups, hn::TableLookupBytes(hn::LoadU(kChars, bytes + i), spread));
    // Two of the four numbers of six bits are shifted down, two up.
    const auto down = hn::MulHigh(
        hn::BitCast(kPairs, hn::And(groups, hn::Set(kGroups, 0x0fc0fc00))),
        hn::BitCast(kPairs, hn::Set(kGroups, 0x04000040)));
    const auto up =
        hn::BitCast(kPairs, hn::And(groups, hn::Set(kGroups, 0x003f03f0))) *
        hn::BitCast(kPairs, hn::Set(kGroups, 0x01000010));
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

HWY_EXPORT(EncodeBlocks);

}  // namespace

void AppendBase64Text(std::string_view bytes, std::string& text) {
  const std::size_t begin = text.size();
  text.resize(begin + bytes.size() / kBlockBytes * kBlockChars);
  const std::size_t num_encoded = HWY_DYNAMIC_DISPATCH(EncodeBlocks)(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(),
      reinterpret_cast<std::uint8_t*>(text.data() + begin));
  text.resize(begin + num_encoded / kBlockBytes * kBlockChars);
  text += absl::Base64Escape(ToAbsl(bytes.substr(num_encoded)));
}

}  // namespace semrank
#endif  // HWY_ONCE
