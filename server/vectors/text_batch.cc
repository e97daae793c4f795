#include "server/vectors/text_batch.h"

#include "model/base/status_macros.h"
#include "model/text/normalizer.h"

namespace semrank {

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

}  // namespace semrank
