#include "server/core/text_embedder.h"

#include <algorithm>
#include <numeric>

#include "model/base/status_macros.h"
#include "model/text/normalizer.h"

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

void TextBatch::Clear() {
  texts_.clear();
  begins_.assign(1, 0);
}

absl::Status TextBatch::Add(std::string_view text) {
  SEMRANK_RETURN_IF_ERROR(NormalizeText(text, normalized_));
  AddNormalized(normalized_);
  return absl::OkStatus();
}

void TextBatch::AddNormalized(std::string_view text) {
  texts_ += text;
  begins_.push_back(texts_.size());
}

TextEmbedder::TextEmbedder(DocumentVectorCache* cache, Metrics* metrics)
    : cache_(cache),
      metrics_(metrics),
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
  const std::uint32_t misses = static_cast<std::uint32_t>(count) - hits;
  use.hits += hits;
  use.misses += misses;
  metrics_->CountCacheRequests(hits, misses);
  scratch.missing.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (scratch.found[i] == 0) scratch.missing.push_back(static_cast<int>(i));
  }
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

void TextEmbedder::EmbedMissing(const ServedModel& served,
                                const TextBatch& texts, std::size_t first,
                                std::size_t last, Scratch& scratch, float* rows,
                                StageTimes& times) const {
  const int dim = served.model->embedding_dim();
  StageClock clock;
  scratch.slice_texts.clear();
  scratch.slice_keys.clear();
  for (std::size_t i = first; i < last; ++i) {
    scratch.slice_texts.push_back(texts[scratch.missing[i]]);
    scratch.slice_keys.push_back(scratch.keys[scratch.missing[i]]);
  }
  scratch.slice_rows.resize((last - first) * dim);
  served.model->EmbedTexts(Side::kDocument, scratch.slice_texts, scratch.embed,
                           scratch.slice_rows.data());
  metrics_->CountEmbedded(Side::kDocument, last - first);
  times[Stage::kEmbed] += clock.Lap();

  cache_->Insert(scratch.slice_keys, dim, scratch.slice_rows.data());
  for (std::size_t i = first; i < last; ++i) {
    std::copy_n(scratch.slice_rows.data() + (i - first) * dim, dim,
                rows + std::size_t(scratch.missing[i]) * dim);
  }
  times[Stage::kCache] += clock.Lap();
}

}  // namespace semrank
