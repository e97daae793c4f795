#include "model/nn/lexical_query.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/lexical_query.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::ScalableTag<std::uint32_t> kEntries;
constexpr hn::ScalableTag<std::uint16_t> kHalves;
constexpr hn::ScalableTag<std::int16_t> kFactors;
constexpr hn::ScalableTag<std::int32_t> kSums;

// Zeros, then ones: two vectors loaded `n` before the middle make zeros of the
// first n entries.
constexpr std::size_t kMaxLanes = hn::MaxLanes(kEntries);
constexpr auto kZerosThenOnes = [] {
  std::array<std::uint32_t, 4 * kMaxLanes> mask = {};
  for (std::size_t i = 2 * kMaxLanes; i < mask.size(); ++i) mask[i] = ~0u;
  return mask;
}();

// The products of `Steps` times two vectors of entries, the first of which is
// number `done` of `size`, with a short query, as vectors of copies. Several
// steps share the loads of the query.
//
// An entry has 32 bits: the bucket in the lower half, the value in the upper.
// Two vectors of entries become one of buckets and one of values, in which the
// same lane belongs to the same entry: even lanes to `low`, odd ones to `high`.
template <int Steps>
void AddSteps(const std::uint32_t* entries, std::size_t size, std::size_t done,
              std::span<const std::uint16_t> query,
              hn::Vec<decltype(kSums)>& sums) {
  const std::size_t lanes = hn::Lanes(kEntries);
  hn::Vec<decltype(kHalves)> buckets[Steps];
  hn::Vec<decltype(kHalves)> values[Steps];
  hn::Vec<decltype(kHalves)> factors[Steps];
  simd::Unroll<Steps>([&](auto s) HWY_ATTR {
    const std::size_t wanted = done + s * 2 * lanes;
    // Nothing beyond the document is read: a step that would is moved back, and
    // the mask clears the entries that earlier steps have counted.
    const std::size_t first = std::min(wanted, size - 2 * lanes);
    const std::uint32_t* const mask =
        kZerosThenOnes.data() + 2 * kMaxLanes - (wanted - first);
    const auto low = hn::And(hn::LoadU(kEntries, entries + first),
                             hn::LoadU(kEntries, mask));
    const auto high = hn::And(hn::LoadU(kEntries, entries + first + lanes),
                              hn::LoadU(kEntries, mask + lanes));
    buckets[s] = hn::OddEven(hn::BitCast(kHalves, hn::ShiftLeft<16>(high)),
                             hn::BitCast(kHalves, low));
    values[s] = hn::OddEven(hn::BitCast(kHalves, high),
                            hn::BitCast(kHalves, hn::ShiftRight<16>(low)));
    factors[s] = hn::Zero(kHalves);
  });
  const std::uint16_t* const end = query.data() + query.size();
  for (const std::uint16_t* at = query.data(); at != end; at += 4 * lanes) {
    const auto bucket = hn::LoadU(kHalves, at);
    const auto value = hn::LoadU(kHalves, at + 2 * lanes);
    simd::Unroll<Steps>([&](auto s) HWY_ATTR {
      const auto same = hn::VecFromMask(kHalves, hn::Eq(buckets[s], bucket));
      // The buckets of a query differ, so at most one value is not 0.
      factors[s] = hn::Or(factors[s], hn::And(same, value));
    });
  }
  auto even = hn::Zero(kSums);
  auto odd = hn::Zero(kSums);
  simd::Unroll<Steps>([&](auto s) HWY_ATTR {
    // Values are at most 32,767, so they multiply as signed numbers.
    even = hn::ReorderWidenMulAccumulate(
        kSums, hn::BitCast(kFactors, values[s]),
        hn::BitCast(kFactors, factors[s]), even, odd);
  });
  sums = hn::Add(sums, hn::Add(even, odd));
}

// A single lane, as Highway's fallback has it, holds no pair of halves.
constexpr bool kCompares = HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

// The number of copies of each bucket and each value of a short query.
std::size_t NumCopies() { return kCompares ? hn::Lanes(kHalves) : 0; }

// The vectors of the last step may overlap the preceding ones; the values that
// were already counted are then replaced by zeros.
std::uint32_t SumByComparing(std::span<const std::uint16_t> copies,
                             std::span<const LexicalEntry> document) {
  static_assert(sizeof(LexicalEntry) == sizeof(std::uint32_t) &&
                std::endian::native == std::endian::little);
  const auto* const entries =
      reinterpret_cast<const std::uint32_t*>(document.data());
  const std::size_t size = document.size();
  const std::size_t step = 2 * hn::Lanes(kEntries);
  auto sums = hn::Zero(kSums);
  std::size_t done = 0;
  while (size - done > 2 * step) {
    AddSteps<3>(entries, size, done, copies, sums);
    done = std::min(done + 3 * step, size);
  }
  if (size - done > step) {
    AddSteps<2>(entries, size, done, copies, sums);
  } else if (size > done) {
    AddSteps<1>(entries, size, done, copies, sums);
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(kSums, sums)));
}

std::uint32_t SumByTable(const std::uint32_t* slots, std::uint32_t mask,
                         std::span<const LexicalEntry> document) {
  std::uint32_t sum = 0;
  for (const LexicalEntry& entry : document) {
    const std::uint32_t slot = slots[entry.bucket & mask];
    sum += ((slot & 0xffff) == entry.bucket ? slot >> 16 : 0) * entry.value;
  }
  return sum;
}

// Both vectors have length 32,767 but for rounding, so the sum is at most
// about 2^30.
std::uint32_t SumProducts(const LexicalQueryView& query,
                          std::span<const LexicalEntry> document) {
  const bool is_short = kCompares && !query.copies.empty() &&
                        document.size() >= 2 * hn::Lanes(kEntries);
  return is_short ? SumByComparing(query.copies, document)
                  : SumByTable(query.slots, query.mask, document);
}

using SumOfProducts = std::uint32_t (*)(const LexicalQueryView&,
                                        std::span<const LexicalEntry>);
SumOfProducts ThisLevelsSum() { return &SumProducts; }

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {
namespace {

constexpr std::uint32_t kMinSlots = 4096;

// Up to this size of the query comparing takes half the time of the table.
constexpr std::size_t kMaxCompared = 24;

}  // namespace

HWY_EXPORT(NumCopies);
HWY_EXPORT(ThisLevelsSum);

LexicalQuery::LexicalQuery()
    : slots_(kMinSlots),
      mask_(kMinSlots - 1),
      sum_of_products_(HWY_DYNAMIC_DISPATCH(ThisLevelsSum)()) {}

void LexicalQuery::Prepare(std::span<const LexicalEntry> query) {
  ClearSlots(query_.size());
  query_.assign(query.begin(), query.end());
  copies_.clear();
  if (query.size() <= kMaxCompared) {
    const std::size_t num_copies = HWY_DYNAMIC_DISPATCH(NumCopies)();
    for (const LexicalEntry& entry : query) {
      copies_.insert(copies_.end(), num_copies, entry.bucket);
      copies_.insert(copies_.end(), num_copies, entry.value);
    }
  }
  mask_ = kMinSlots - 1;
  while (!FillSlots()) {
    mask_ = 2 * mask_ + 1;
    if (slots_.size() <= mask_) slots_.resize(std::size_t{mask_} + 1);
  }
}

bool LexicalQuery::FillSlots() {
  for (std::size_t i = 0; i < query_.size(); ++i) {
    std::uint32_t& slot = slots_[query_[i].bucket & mask_];
    if (slot != 0) {
      ClearSlots(i);
      return false;
    }
    slot = std::uint32_t{query_[i].value} << 16 | query_[i].bucket;
  }
  return true;
}

void LexicalQuery::ClearSlots(std::size_t num_entries) {
  for (std::size_t i = 0; i < num_entries; ++i) {
    slots_[query_[i].bucket & mask_] = 0;
  }
}

float LexicalQuery::Cosine(std::span<const LexicalEntry> document) const {
  return LexicalCosine(
      sum_of_products_({copies_, slots_.data(), mask_}, document));
}

}  // namespace semrank
#endif  // HWY_ONCE
