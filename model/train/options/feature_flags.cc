#include <string>

#include "absl/flags/flag.h"
#include "model/base/status_macros.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;

// Defaults are those of the options struct, which has no other home for them.
semrank::FeatureOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, features, Text{"letters"},
          "Input of the towers: letters (letter n-grams of each word), words, "
          "letters+words.");
ABSL_FLAG(Int, ngram_length, Int{Defaults().ngram_length},
          "Letters in an n-gram of #word#, 1 to 8.");
ABSL_FLAG(Int, hash_buckets, Int{Defaults().hash_buckets},
          "Hashes letter n-grams to so many inputs. 0 = lists those of the "
          "training texts, without collisions.");
ABSL_FLAG(Int, max_words, Int{Defaults().max_words},
          "Most frequent words of the training texts to list, with words. 0 = "
          "all.");

namespace semrank {

absl::Status ReadFlags(FeatureOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_features), options.kind));
  absl::GetFlag(FLAGS_ngram_length).CopyIfSet(options.ngram_length);
  absl::GetFlag(FLAGS_hash_buckets).CopyIfSet(options.hash_buckets);
  absl::GetFlag(FLAGS_max_words).CopyIfSet(options.max_words);
  return absl::OkStatus();
}

}  // namespace semrank
