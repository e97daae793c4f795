// The shape of SSI's W, and where it begins.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_SSI_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_SSI_OPTIONS_H_

#include "absl/status/status.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

class CommandLine;

// Used with --tower=ssi only.
struct SsiOptions {
  v1::SsiVariant variant = v1::SSI_VARIANT_LOW_RANK;
  // n of the n-constrained form: U and V know the n most frequent words. 0 =
  // all words.
  int dense_words = 0;
  // H of the hash kernels, for FULL and FULL_NO_IDENTITY. 0 = W is stored
  // whole.
  int pair_hash_buckets = 0;
  // F and k of correlated feature hashing: both or none.
  int frequent_words = 0;
  int correlated_top_k = 0;
  // Which of the k words of one side meet which of the other (eq. 6).
  v1::CorrelatedPairing correlated_pairing = v1::CORRELATED_PAIRING_ALL;
  // U and V have a part of frequent words and a part of correlated ones, mixed
  // by a learned factor.
  bool mix_parts = false;
  // U and V begin as N(0, 1) times this. 1 is the paper's, 0.03 the default
  // (MATHEMATICS.md says why).
  double init_scale = 0.03;
  // Words that the vocabulary does not list are hashed to this many indices,
  // where W has an identity for them. 0 = they are dropped.
  int unknown_word_buckets = 0;
};

// With --tower=ssi. In a catalog of a million words unknown to the model, each
// shares its index with four others.
inline constexpr int kDefaultUnknownWordBuckets = 1 << 18;

void AddSsiOptions(CommandLine& command_line, SsiOptions& options);

// FlagError as ResolveOptions.
absl::Status Resolve(SsiOptions& options);

// What config.json says of a vocabulary of `num_words`, unknown ones included.
// A bound that no listed word is beyond is none.
v1::SsiSpec DescribeSsi(const SsiOptions& options, int num_words);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_SSI_OPTIONS_H_
