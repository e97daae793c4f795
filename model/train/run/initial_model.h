// A published model that training begins from (--init_from). It determines the
// vocabulary, the shape of the towers (or of SSI's W) and the initial weights.
//
//   Kinds    every tower. Of SSI idf and correlated words are the model's too:
//            with others its weights would mean something else.
//   Errors   as LoadModel; FlagError for flags that contradict the model.
#ifndef SEMRANK_MODEL_TRAIN_RUN_INITIAL_MODEL_H_
#define SEMRANK_MODEL_TRAIN_RUN_INITIAL_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "model/train/options/train_options.h"
#include "model/train/towers/model_trainer.h"

namespace semrank {

// `path` is a model directory (its highest version) or one of its versions.
// Replaces what the model decides in `options`: tower, SSI and features; and
// all other settings, unless they are those of a preset, by the defaults of its
// kind. FlagError when the preset is of another kind.
absl::Status TakeInitialModel(const std::string& path, bool has_preset,
                              TrainOptions& options);

// After the flags were read over that: FlagError naming the first flag that
// wants another shape than the model's. OK without such a model.
absl::Status CheckInitialModel(const TrainOptions& taken,
                               const TrainOptions& options);

// The model's weights into a trainer of its shape; optimizers begin anew.
absl::Status CopyInitialWeights(const InitialModelOptions& options,
                                ModelTrainer& trainer);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_INITIAL_MODEL_H_
