#include "server/vectors/text_batch.h"

#include "model/base/status_macros.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// 16 MiB. A larger matrix is freed; otherwise a thread that once embedded a
// large batch would keep its memory for ever.
constexpr std::size_t kMaxKeptFloatsOfSlice = std::size_t{4} << 20;

}  // namespace

void TextBatch::Clear() {
  texts_.clear();
  begins_.assign(1, 0);
}

// Normalises into a buffer first, so that an error leaves the batch as it was.
absl::Status TextBatch::Add(std::string_view text, int normalizer_version) {
  SEMRANK_RETURN_IF_ERROR(NormalizeText(text, normalizer_version, normalized_));
  AddNormalized(normalized_);
  return absl::OkStatus();
}

void TextBatch::AddNormalized(std::string_view text) {
  texts_ += text;
  begins_.push_back(texts_.size());
}

SliceScratch& ThreadSliceScratch() {
  thread_local SliceScratch scratch;
  if (scratch.rows.capacity() > kMaxKeptFloatsOfSlice) scratch = SliceScratch();
  return scratch;
}

}  // namespace semrank
