#include "model/train/run/make_trainer.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/format/safetensors.h"
#include "model/train/ssi/ssi_trainer.h"
#include "model/train/ssi/ssi_weights.h"
#include "model/train/towers/two_tower_trainer.h"

namespace semrank {
namespace {

std::unique_ptr<ModelTrainer> MakeAtRandomWeights(const TrainOptions& options,
                                                  const TrainingData& data,
                                                  const Workers& workers) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return std::make_unique<SsiTrainer>(InitialSsiWeights(options, data),
                                        options, workers);
  }
  return std::make_unique<TwoTowerTrainer>(
      InitialTwoTowerWeights(options.tower, data.featurizer.num_features(),
                             options.seed),
      options, workers);
}

absl::Status CopyWeights(const InitialModelOptions& model,
                         ModelTrainer& trainer) {
  if (model.version_dir.empty()) return absl::OkStatus();
  const std::string path = model.version_dir + "/" + kWeightsFile;
  SEMRANK_ASSIGN_OR_RETURN(const auto file, LoadedFile::Read(path));
  SEMRANK_ASSIGN_OR_RETURN(const auto tensors,
                           ParseSafetensors(file->content(), path));
  // The state has the weights under the names of the file. The optimizer's part
  // has other names, which no file has, and stays 0.
  std::map<std::string_view, std::span<float>> state;
  const std::vector<StateTensor> state_tensors = trainer.State();
  for (const StateTensor& tensor : state_tensors) {
    state.emplace(tensor.name, tensor.values);
  }
  for (const auto& [name, tensor] : tensors) {
    // The titles of this run give another idf.
    if (name == kLexicalIdfTensor) continue;
    const std::span<const float> values = tensor.values();
    // A file for another shape has other names or sizes.
    const auto found = state.find(name);
    if (found == state.end() || found->second.size() != values.size()) {
      return absl::DataLossError(absl::StrFormat(
          "%s: tensor \"%s\" has no place in the model that is trained", path,
          name));
    }
    std::ranges::copy(values, found->second.begin());
  }
  trainer.Restored(/*num_steps=*/0);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelTrainer>> MakeTrainer(
    const TrainOptions& options, const TrainingData& data,
    const Workers& workers) {
  std::unique_ptr<ModelTrainer> trainer =
      MakeAtRandomWeights(options, data, workers);
  SEMRANK_RETURN_IF_ERROR(
      workers.processes.Agree(CopyWeights(options.initial_model, *trainer)));
  return trainer;
}

}  // namespace semrank
