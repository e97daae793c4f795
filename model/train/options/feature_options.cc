#include "model/train/options/feature_options.h"

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/format/model_config.h"
#include "model/text/ngram_vocabulary.h"
#include "model/train/options/option_checks.h"

namespace semrank {

absl::Status Resolve(FeatureOptions& features) {
  SEMRANK_RETURN_IF_ERROR(CheckRange("ngram_length", features.ngram_length,
                                     kMinNgramLength, kMaxNgramLength));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("max_words", features.max_words, 0, kMaxVocabularySize));
  if (features.hash_buckets > 0 && features.kind == v1::FEATURE_KIND_WORDS) {
    return FlagError("hash_buckets",
                     absl::StrFormat("%d", features.hash_buckets),
                     "hashes letter n-grams, and --features=words has none");
  }
  return CheckRange("hash_buckets", features.hash_buckets, 0,
                    kMaxVocabularySize);
}

}  // namespace semrank
