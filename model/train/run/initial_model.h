// A published model that training begins from (--init_from). It determines the
// vocabulary, the shape of the towers (or of SSI's W) and the initial weights
// (make_trainer.h). SSI also takes idf and correlated words from it: with
// others its weights would mean something else.
#ifndef SEMRANK_MODEL_TRAIN_RUN_INITIAL_MODEL_H_
#define SEMRANK_MODEL_TRAIN_RUN_INITIAL_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cli/command_line.h"
#include "model/train/options/train_options.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Sets the vocabularies and the initial weights of `options`. `path` is a model
// directory (its highest version) or one of its versions. Fails as LoadModel.
absl::StatusOr<v1::ModelConfig> LoadInitialModel(const std::string& path,
                                                 TrainOptions& options);

// Sets the flags that the model of `config` decides. FlagError naming the first
// flag that was given and wants another shape than the model's.
absl::Status SetModelFlags(const v1::ModelConfig& config,
                           CommandLine& command_line);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_INITIAL_MODEL_H_
