#include "server/model_loading.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <utility>

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

absl::Status LoadFirstModels(const ModelOptions& options, ModelStore& models,
                             StartSignals& signals) {
  const auto stop = [&] { return signals.stop_asked(); };
  absl::Status status = models.Refresh(stop);
  if (status.ok() || absl::IsCancelled(status) || !options.wait_for_model) {
    return status;
  }
  spdlog::warn("waiting for a model: {}", std::string(status.message()));
  const absl::Duration interval = options.poll_interval > absl::ZeroDuration()
                                      ? options.poll_interval
                                      : kWaitInterval;
  while (!status.ok() && !absl::IsCancelled(status)) {
    signals.WaitForStop(std::min(interval, kWaitInterval));
    status = models.Refresh(stop);
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
