// The options of --tower=ssi: their flags, their rules, and the model that they
// describe.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_SSI_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_SSI_OPTIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

class CommandLine;

void AddSsiFlags(CommandLine& flags, SsiOptions& options);

// ResolveOptions for the flags of SSI, whatever the tower, and for those that
// SSI leaves no choice of. FlagError as ResolveOptions.
absl::Status ResolveSsi(TrainOptions& options);

// What config.json says of a vocabulary of `num_words`, unknown ones included.
// A bound that no listed word exceeds is absent.
v1::SsiSpec DescribeSsi(const SsiOptions& options, int num_words);

// Weights of --tower=ssi that are learned. FlagError when W is too large to be
// stored whole.
absl::StatusOr<std::int64_t> NumSsiParameters(const TrainOptions& options,
                                              int num_words);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_SSI_OPTIONS_H_
