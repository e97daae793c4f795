#include "model/train/options/feature_options.h"

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
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
                   "bigrams (two adjacent words in order), or a sum of these.",
                   kFeatureNames);
  command_line.Add(
      "lexical", &options.lexical,
      "Weight of the lexical part, the cosine of letter-trigram "
      "tf-idf, in the score: auto (fitted on queries that are held "
      "out of a shorter training pass; the model is then trained "
      "on all), none, or a number from 0 to below 1. --tower=ssi "
      "has none.");
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
  command_line.Add(
      "max_bigrams", &options.max_bigrams,
      "Size of the vocabulary with bigrams: the most frequent ones "
      "of the training pairs. 0 = all.",
      {.min = 0, .max = kMaxVocabularySize});
  command_line.Add("min_bigram_count", &options.min_bigram_count,
                   "Training texts that a bigram must stand in.", {.min = 1});
}

namespace {

// "none" is 0, "auto" is nothing.
absl::StatusOr<std::optional<double>> ParseLexical(const std::string& text) {
  // No weight: the run fits one (FitLexicalWeightByTraining).
  if (text == "auto") return std::optional<double>();
  if (text == "none") return std::optional<double>(0);
  double weight = 0;
  if (absl::SimpleAtod(text, &weight) && weight >= 0 && weight < 1) {
    return std::optional<double>(weight);
  }
  return FlagError("lexical", text,
                   "must be auto, none or a weight from 0 to below 1");
}

}  // namespace

absl::Status Resolve(FeatureOptions& features) {
  SEMRANK_ASSIGN_OR_RETURN(features.lexical_weight,
                           ParseLexical(features.lexical));
  if (features.hash_buckets > 0 && !HasLetters(features.kind)) {
    return FlagError(
        "hash_buckets", features.hash_buckets,
        absl::StrFormat("hashes letter n-grams, and --features=%s has none",
                        NameOf(features.kind, kFeatureNames)));
  }
  return absl::OkStatus();
}

}  // namespace semrank
