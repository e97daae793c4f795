#include <string>

#include "absl/flags/flag.h"
#include "model/base/status_macros.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;
using Double = semrank::Settable<double>;

// Defaults are those of the options struct, which has no other home for them.
semrank::SsiOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, ssi, Text{"low_rank"},
          "W in the score q'Wd of --tower=ssi: low_rank (U'V + I), symmetric "
          "(U'U + I), low_rank_no_identity (U'V), diagonal (a weight a word), "
          "full (a weight a pair of words; small dictionaries, or hashed). U "
          "and V have --embedding_dim rows.");
ABSL_FLAG(Int, ssi_dense_words, Int{Defaults().dense_words},
          "U and V are zero for all but so many of the most frequent words, "
          "which still match themselves through I. 0 = all words have "
          "columns.");
ABSL_FLAG(Int, ssi_pair_hash_buckets, Int{Defaults().pair_hash_buckets},
          "Hash kernels: the pairs of --ssi=full share so many weights, added "
          "to I. 0 = each pair has its own.");
ABSL_FLAG(Int, ssi_frequent_words, Int{Defaults().frequent_words},
          "Correlated feature hashing: so many words count as frequent, and "
          "in U and V any other is the mean of the --ssi_correlated_top_k "
          "frequent ones that it occurs with most (DICE). 0 = off.");
ABSL_FLAG(Int, ssi_correlated_top_k, Int{Defaults().correlated_top_k},
          "See --ssi_frequent_words; 1 to 64, the paper has 5.");
ABSL_FLAG(Double, ssi_init_scale, Double{Defaults().init_scale},
          "U and V begin normally distributed with this standard deviation; 1 "
          "is the paper's.");

namespace semrank {

absl::Status ReadFlags(SsiOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ReadName(absl::GetFlag(FLAGS_ssi), options.variant));
  absl::GetFlag(FLAGS_ssi_dense_words).CopyIfSet(options.dense_words);
  absl::GetFlag(FLAGS_ssi_pair_hash_buckets)
      .CopyIfSet(options.pair_hash_buckets);
  absl::GetFlag(FLAGS_ssi_frequent_words).CopyIfSet(options.frequent_words);
  absl::GetFlag(FLAGS_ssi_correlated_top_k).CopyIfSet(options.correlated_top_k);
  absl::GetFlag(FLAGS_ssi_init_scale).CopyIfSet(options.init_scale);
  return absl::OkStatus();
}

}  // namespace semrank
