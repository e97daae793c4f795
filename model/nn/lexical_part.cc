#include "model/nn/lexical_part.h"

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/nn/simd.h"
#include "model/text/index_set.h"

namespace semrank {
namespace {

constexpr std::uint32_t kMinSlots = 4096;

// Up to this size of the query comparing takes half the time of the table.
constexpr std::size_t kMaxCompared = 24;

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
template <int Steps>
hn::Vec<decltype(kSums)> SumSteps(const std::uint32_t* entries,
                                  std::size_t size, std::size_t done,
                                  const std::vector<std::uint16_t>& query) {
  const std::size_t lanes = hn::Lanes(kEntries);
  hn::Vec<decltype(kHalves)> buckets[Steps];
  hn::Vec<decltype(kHalves)> values[Steps];
  hn::Vec<decltype(kHalves)> factors[Steps];
  simd::Unroll<Steps>([&](auto s) {
    const std::size_t wanted = done + s * 2 * lanes;
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
    simd::Unroll<Steps>([&](auto s) {
      const auto same = hn::VecFromMask(kHalves, hn::Eq(buckets[s], bucket));
      factors[s] = hn::Or(factors[s], hn::And(same, value));
    });
  }
  auto even = hn::Zero(kSums);
  auto odd = hn::Zero(kSums);
  simd::Unroll<Steps>([&](auto s) {
    even = hn::ReorderWidenMulAccumulate(
        kSums, hn::BitCast(kFactors, values[s]),
        hn::BitCast(kFactors, factors[s]), even, odd);
  });
  return hn::Add(even, odd);
}

}  // namespace

float LexicalIdf(std::int64_t num_titles, std::int64_t document_frequency) {
  const auto total = static_cast<double>(num_titles);
  const auto df = static_cast<double>(document_frequency);
  return static_cast<float>(std::log(1 + (total - df + 0.5) / (df + 0.5)));
}

float LexicalCosine(std::uint64_t sum_of_products) {
  constexpr std::uint64_t kOne = std::uint64_t{kLexicalScale} * kLexicalScale;
  return static_cast<float>(
      static_cast<double>(std::min(sum_of_products, kOne)) / double{kOne});
}

absl::StatusOr<std::unique_ptr<LexicalPart>> LexicalPart::Create(
    const LexicalOptions& options, std::shared_ptr<const void> storage) {
  if (options.num_buckets > kMaxLexicalBuckets) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the lexical part has %d buckets; at most %d are possible",
        options.num_buckets, kMaxLexicalBuckets));
  }
  if (!(options.weight >= 0 && options.weight < 1)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the weight of the lexical part is %g; it must be from "
                        "0 to below 1",
                        options.weight));
  }
  if (options.idf == nullptr) {
    return absl::InvalidArgumentError("the lexical part has no idf");
  }
  SEMRANK_ASSIGN_OR_RETURN(
      NgramVocabulary ngrams,
      NgramVocabulary::Hashed(options.ngram_length, options.num_buckets));
  // make_unique cannot reach the private constructor.
  return std::unique_ptr<LexicalPart>(
      new LexicalPart(options, std::move(ngrams), std::move(storage)));
}

LexicalPart::LexicalPart(const LexicalOptions& options, NgramVocabulary ngrams,
                         std::shared_ptr<const void> storage)
    : options_(options),
      ngrams_(std::move(ngrams)),
      semantic_weight_(static_cast<float>(1 - options.weight)),
      lexical_weight_(static_cast<float>(options.weight)),
      storage_(std::move(storage)) {}

void LexicalPart::AppendText(std::string_view normalized,
                             LexicalBatch& batch) const {
  thread_local IndexSet set;
  thread_local std::vector<std::uint32_t> buckets;
  thread_local std::vector<float> values;
  buckets.clear();
  ngrams_.AppendIndices(normalized, buckets);
  set.GrowTo(static_cast<std::size_t>(options_.num_buckets));
  set.SortAndCount(0, buckets, values);
  double squares = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    // Most n-grams of a text occur once, and log2(2) = 1.
    if (values[i] != 1) values[i] = std::log2(1 + values[i]);
    values[i] *= options_.idf[buckets[i]];
    squares += double{values[i]} * values[i];
  }
  const double scale = squares == 0 ? 0 : kLexicalScale / std::sqrt(squares);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    // Rounding can bring a single value above the scale by no more than its own
    // error, which the cast cuts.
    const auto value = static_cast<std::uint16_t>(values[i] * scale + 0.5);
    if (value == 0) continue;
    batch.entries.push_back({static_cast<std::uint16_t>(buckets[i]), value});
  }
  batch.offsets.push_back(static_cast<std::uint32_t>(batch.entries.size()));
}

float LexicalPart::Combine(Parts parts, float semantic, float lexical) const {
  if (parts == Parts::kSemantic) return semantic;
  if (parts == Parts::kLexical) return lexical;
  return semantic_weight_ * semantic + lexical_weight_ * lexical;
}

LexicalQuery::LexicalQuery() : slots_(kMinSlots), mask_(kMinSlots - 1) {}

void LexicalQuery::Prepare(std::span<const LexicalEntry> query) {
  ClearSlots(query_.size());
  query_.assign(query.begin(), query.end());
  broadcast_.clear();
  if (query.size() <= kMaxCompared) {
    const std::size_t lanes = hn::Lanes(kHalves);
    for (const LexicalEntry& entry : query) {
      broadcast_.insert(broadcast_.end(), lanes, entry.bucket);
      broadcast_.insert(broadcast_.end(), lanes, entry.value);
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
  const bool is_short = query_.size() <= kMaxCompared &&
                        document.size() >= 2 * hn::Lanes(kEntries);
  return LexicalCosine(is_short ? SumByComparing(document)
                                : SumByTable(document));
}

// Both vectors have length 32,767 but for rounding, so the sum is at most about
// 2^30.
std::uint32_t LexicalQuery::SumByTable(
    std::span<const LexicalEntry> document) const {
  std::uint32_t sum = 0;
  for (const LexicalEntry& entry : document) {
    sum += value(entry.bucket) * entry.value;
  }
  return sum;
}

// Those of the last step may overlap the ones before, whose values count as
// zeros then.
std::uint32_t LexicalQuery::SumByComparing(
    std::span<const LexicalEntry> document) const {
  static_assert(sizeof(LexicalEntry) == sizeof(std::uint32_t) &&
                std::endian::native == std::endian::little);
  const auto* const entries =
      reinterpret_cast<const std::uint32_t*>(document.data());
  const std::size_t size = document.size();
  const std::size_t step = 2 * hn::Lanes(kEntries);
  auto sums = hn::Zero(kSums);
  std::size_t done = 0;
  while (size - done > 2 * step) {
    sums = hn::Add(sums, SumSteps<3>(entries, size, done, broadcast_));
    done = std::min(done + 3 * step, size);
  }
  if (size - done > step) {
    sums = hn::Add(sums, SumSteps<2>(entries, size, done, broadcast_));
  } else if (size > done) {
    sums = hn::Add(sums, SumSteps<1>(entries, size, done, broadcast_));
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(kSums, sums)));
}

}  // namespace semrank
