#include "server/model_loading.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

#include "server/stop.h"

namespace semrank {
namespace {

// How often to look while waiting, when the poll interval does not say.
constexpr absl::Duration kWaitInterval = absl::Seconds(1);

}  // namespace

std::vector<ModelChoice> ModelChoices(const ModelOptions& options) {
  std::vector<ModelChoice> choices;
  for (const ServedFolder& folder : options.folders) {
    choices.push_back({FolderSource(folder.path, folder.name), folder.version});
  }
  return choices;
}

void LogModelLoad(const ModelLoad& load) {
  if (load.model == nullptr) {
    spdlog::error("model {} version {} is refused: {}", load.name, load.version,
                  std::string(load.status.message()));
    return;
  }
  const TwoTowerModel& model = *load.model->model;
  spdlog::info("loaded model {} version {}, {} numbers a vector, identity {}",
               load.name, load.version, model.embedding_dim(),
               model.version().identity);
}

absl::Status LoadFirstModels(const ModelOptions& options, ModelStore& models) {
  absl::Status status = models.Refresh();
  if (status.ok() || !options.wait_for_model) return status;
  spdlog::warn("waiting for a model: {}", std::string(status.message()));
  const absl::Duration interval = options.poll_interval > absl::ZeroDuration()
                                      ? options.poll_interval
                                      : kWaitInterval;
  while (!status.ok()) {
    if (WaitForStopSignalFor(std::min(interval, kWaitInterval)).has_value()) {
      return absl::CancelledError("stopped while waiting for a model");
    }
    status = models.Refresh();
  }
  return status;
}

std::vector<ServedModelPtr> CurrentModels(const ModelOptions& options,
                                          const ModelStore& models) {
  std::vector<ServedModelPtr> current;
  for (const ServedFolder& folder : options.folders) {
    absl::StatusOr<ServedModelPtr> model = models.Find(folder.name, 0);
    if (model.ok()) current.push_back(*std::move(model));
  }
  return current;
}

}  // namespace semrank
