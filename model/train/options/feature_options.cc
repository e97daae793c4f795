#include "model/train/options/feature_options.h"

#include "absl/strings/str_format.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/text/ngram_vocabulary.h"
#include "model/train/options/option_names.h"

namespace semrank {

void AddFeatureOptions(CommandLine& command_line, FeatureOptions& options) {
  command_line.Group("Features");
  command_line.Add("features", &options.kind,
                   "Input of the towers: letter n-grams of each word, words, "
                   "or both.",
                   kFeatureNames);
  command_line.Group("Features", CommandLine::Level::kAdvanced);
  command_line.Add("ngram_length", &options.ngram_length,
                   "Letters in an n-gram of #word#.",
                   {.min = kMinNgramLength, .max = kMaxNgramLength});
  command_line.Add("hash_buckets", &options.hash_buckets,
                   "Number of buckets that letter n-grams are hashed to. 0 = "
                   "the n-grams of the training texts are listed, without "
                   "collisions.",
                   {.min = 0, .max = kMaxVocabularySize});
  command_line.Add("max_words", &options.max_words,
                   "Size of the vocabulary with words: the most frequent ones "
                   "of the training texts. 0 = all.",
                   {.min = 0, .max = kMaxVocabularySize});
}

absl::Status Resolve(FeatureOptions& features) {
  if (features.hash_buckets > 0 && features.kind == v1::FEATURE_KIND_WORDS) {
    return FlagError("hash_buckets",
                     absl::StrFormat("%d", features.hash_buckets),
                     "hashes letter n-grams, and --features=words has none");
  }
  return absl::OkStatus();
}

}  // namespace semrank
