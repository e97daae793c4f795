#include "server/vectors/text_embedder.h"

#include <algorithm>
#include <numeric>

#include "model/base/status_macros.h"

namespace semrank {
namespace {

// A slice is what goes through a tower between two questions whether the
// caller still waits: half a millisecond of titles, at most a few of the
// longest texts allowed.
constexpr std::size_t kSliceTexts = 256;
constexpr std::size_t kSliceBytes = std::size_t{32} << 10;

// The end of the slice that begins at `first`, of `count` texts.
template <typename TextAt>
std::size_t SliceEnd(std::size_t first, std::size_t count, TextAt text_at) {
  const std::size_t limit = std::min(count, first + kSliceTexts);
  std::size_t num_bytes = 0;
  std::size_t last = first;
  while (last < limit && num_bytes < kSliceBytes) {
    num_bytes += text_at(last++).size();
  }
  return last;
}

}  // namespace

TextEmbedder::TextEmbedder(DocumentVectorCache* cache, Metrics* metrics,
                           StoredVectors* stored)
    : cache_(cache),
      metrics_(metrics),
      stored_(stored),
      fingerprint_(Fingerprinter::RandomSecret()) {}

absl::Status TextEmbedder::Embed(const ServedModel& served, Side side,
                                 const TextBatch& texts, const Caller& caller,
                                 Scratch& scratch, float* rows,
                                 StageTimes& times) const {
  const std::size_t dim = served.model->embedding_dim();
  if (dim == 0) return absl::OkStatus();
  const auto count = static_cast<std::size_t>(texts.size());
  StageClock clock;
  for (std::size_t first = 0; first < count;) {
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
    const std::size_t last =
        SliceEnd(first, count, [&](std::size_t i) { return texts[i]; });
    scratch.slice_texts.clear();
    for (std::size_t i = first; i < last; ++i) {
      scratch.slice_texts.push_back(texts[i]);
    }
    served.model->EmbedTexts(side, scratch.slice_texts, scratch.embed,
                             rows + first * dim);
    metrics_->CountEmbedded(side, last - first);
    first = last;
  }
  times[Stage::kEmbed] += clock.Lap();
  return absl::OkStatus();
}

absl::Status TextEmbedder::FindOrEmbedDocuments(
    const ServedModel& served, const TextBatch& texts, const Caller& caller,
    Scratch& scratch, float* rows, CacheUse& use, StageTimes& times) const {
  if (served.model->embedding_dim() == 0) return absl::OkStatus();
  const auto count = static_cast<std::size_t>(texts.size());
  StageClock clock;
  scratch.keys.clear();
  for (std::size_t i = 0; i < count; ++i) {
    scratch.keys.push_back(
        {served.number, Side::kDocument, fingerprint_(texts[i])});
  }
  times[Stage::kParse] += clock.Lap();

  scratch.found.assign(count, 0);
  const std::uint32_t hits = cache_->Find(
      scratch.keys, served.model->embedding_dim(), rows, scratch.found);
  metrics_->CountCacheRequests(hits, static_cast<std::int64_t>(count) - hits);
  scratch.missing.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (scratch.found[i] == 0) scratch.missing.push_back(static_cast<int>(i));
  }
  const std::uint32_t store_hits =
      stored_ == nullptr || scratch.missing.empty()
          ? 0
          : FindStored(served, texts, caller, scratch, rows);
  use.hits += hits + store_hits;
  use.store_hits += store_hits;
  use.misses += static_cast<std::uint32_t>(scratch.missing.size());
  times[Stage::kCache] += clock.Lap();

  for (std::size_t first = 0; first < scratch.missing.size();) {
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
    const std::size_t last =
        SliceEnd(first, scratch.missing.size(),
                 [&](std::size_t i) { return texts[scratch.missing[i]]; });
    EmbedMissing(served, texts, first, last, scratch, rows, times);
    first = last;
  }
  return absl::OkStatus();
}

void TextEmbedder::GatherSlice(const ServedModel& served,
                               const TextBatch& texts, std::size_t first,
                               std::size_t last, Scratch& scratch) {
  scratch.slice_texts.clear();
  scratch.slice_keys.clear();
  for (std::size_t i = first; i < last; ++i) {
    scratch.slice_texts.push_back(texts[scratch.missing[i]]);
    scratch.slice_keys.push_back(scratch.keys[scratch.missing[i]]);
  }
  scratch.slice_rows.resize((last - first) * served.model->embedding_dim());
}

std::uint32_t TextEmbedder::FindStored(const ServedModel& served,
                                       const TextBatch& texts,
                                       const Caller& caller, Scratch& scratch,
                                       float* rows) const {
  const int dim = served.model->embedding_dim();
  const std::size_t count = scratch.missing.size();
  GatherSlice(served, texts, 0, count, scratch);
  scratch.slice_found.resize(count);
  if (stored_->Find(served, scratch.slice_texts, caller,
                    scratch.slice_rows.data(), scratch.slice_found) == 0) {
    return 0;
  }
  // What was found moves together, so that the cache takes it in one go.
  std::size_t num_found = 0;
  std::size_t num_missing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int text = scratch.missing[i];
    if (scratch.slice_found[i] == 0) {
      scratch.missing[num_missing++] = text;
      continue;
    }
    const float* const row = scratch.slice_rows.data() + i * dim;
    std::copy_n(row, dim, rows + std::size_t(text) * dim);
    if (num_found != i) {
      std::copy_n(row, dim, scratch.slice_rows.data() + num_found * dim);
    }
    scratch.slice_keys[num_found++] = scratch.slice_keys[i];
  }
  scratch.missing.resize(num_missing);
  cache_->Insert(std::span(scratch.slice_keys).first(num_found), dim,
                 scratch.slice_rows.data());
  return static_cast<std::uint32_t>(num_found);
}

void TextEmbedder::EmbedMissing(const ServedModel& served,
                                const TextBatch& texts, std::size_t first,
                                std::size_t last, Scratch& scratch, float* rows,
                                StageTimes& times) const {
  const int dim = served.model->embedding_dim();
  StageClock clock;
  GatherSlice(served, texts, first, last, scratch);
  served.model->EmbedTexts(Side::kDocument, scratch.slice_texts, scratch.embed,
                           scratch.slice_rows.data());
  metrics_->CountEmbedded(Side::kDocument, last - first);
  times[Stage::kEmbed] += clock.Lap();

  cache_->Insert(scratch.slice_keys, dim, scratch.slice_rows.data());
  if (stored_ != nullptr) {
    stored_->Keep(served, scratch.slice_texts, scratch.slice_rows.data());
  }
  for (std::size_t i = first; i < last; ++i) {
    std::copy_n(scratch.slice_rows.data() + (i - first) * dim, dim,
                rows + std::size_t(scratch.missing[i]) * dim);
  }
  times[Stage::kCache] += clock.Lap();
}

}  // namespace semrank
