// The flags of what is trained: the towers, their features, and W of SSI.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_NETWORK_FLAGS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_NETWORK_FLAGS_H_

#include "model/train/options/train_options.h"

namespace semrank {

class CommandLine;

// Binds the flags to options.tower, options.features and options.ssi.
void AddNetworkFlags(CommandLine& flags, TrainOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_NETWORK_FLAGS_H_
