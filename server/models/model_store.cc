#include "server/models/model_store.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

absl::Status VersionNotFound(const ModelVersion& current,
                             std::int64_t version) {
  return MakeError(
      absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
      absl::StrFormat("version %d of model %s is not served; the "
                      "current one is version %d",
                      version, current.name, current.version),
      {{"field", "model.version"}, {"version", std::to_string(version)}});
}

absl::Time CreateTime(const ServedModel& served) {
  const v1::TrainingFacts& training = served.model->config().training();
  return training.has_create_time()
             ? absl::FromUnixSeconds(training.create_time().seconds())
             : served.load_time;
}

}  // namespace

absl::Status CheckModelVersion(std::int64_t version) {
  if (version >= 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "model.version",
                    absl::StrFormat("%d is negative", version),
                    {{"value", std::to_string(version)}});
}

absl::Status NoModelYet() {
  return MakeError(absl::StatusCode::kUnavailable, "NO_MODEL",
                   "no model has been published yet");
}

ModelStore::ModelStore(std::vector<ModelChoice> choices, Metrics* metrics,
                       Hooks hooks)
    : metrics_(metrics), quality_(metrics), hooks_(std::move(hooks)) {
  // The hooks capture `this`: the store owns the slots and is never moved.
  for (ModelChoice& choice : choices) {
    slots_.push_back(std::make_unique<ModelSlot>(
        std::move(choice.source), choice.pinned_version,
        ModelSlot::Hooks{
            .number =
                [this](const TwoTowerModel& model) {
                  return NumberOf(model.version().identity);
                },
            .quality =
                [this](const TwoTowerModel& model) {
                  return quality_.Add(model);
                },
            .loaded = [this](const ModelLoad& load) { FinishLoad(load); }}));
    for (std::string& alias : choice.aliases) {
      aliases_.emplace(std::move(alias), slots_.back().get());
    }
  }
}

// A failing model does not keep the others from loading; the error counts only
// while its slot has nothing to serve.
absl::Status ModelStore::Refresh(const std::function<bool()>& cancelled) {
  absl::Status first;
  for (const auto& slot : slots_) {
    if (cancelled != nullptr && cancelled()) {
      return absl::CancelledError("stopped before every model was loaded");
    }
    const absl::Status status = slot->Refresh();
    // The trainer rejects versions without publishing them, so no load reports
    // them; every refresh updates the count.
    metrics_->SetNumRejected(slot->name(), slot->CountRejected());
    if (first.ok() && slot->current() == nullptr) first = status;
  }
  return first;
}

absl::StatusOr<ModelStore::Reloaded> ModelStore::Reload(std::string_view name,
                                                        std::int64_t version) {
  SEMRANK_RETURN_IF_ERROR(CheckModelVersion(version));
  SEMRANK_ASSIGN_OR_RETURN(ModelSlot* const slot, FindSlot(name));
  // The model is held during the switch, so that its version can be named.
  const ServedModelPtr before = slot->current();
  Reloaded reloaded;
  SEMRANK_ASSIGN_OR_RETURN(reloaded.changed, slot->SwitchTo(version));
  if (before != nullptr) {
    reloaded.previous_version = before->model->version().version;
  }
  // A newer version may have been loaded since the switch.
  SEMRANK_ASSIGN_OR_RETURN(reloaded.model, Describe(slot->name(), 0));
  return reloaded;
}

std::vector<ServedModelPtr> ModelStore::CurrentModels() const {
  std::vector<ServedModelPtr> models;
  for (const auto& slot : slots_) {
    ServedModelPtr current = slot->current();
    if (current != nullptr) models.push_back(std::move(current));
  }
  return models;
}

// Only current versions answer: an older one could leave memory at any time.
absl::StatusOr<ServedModelPtr> ModelStore::Find(std::string_view name,
                                                std::int64_t version) const {
  SEMRANK_RETURN_IF_ERROR(CheckModelVersion(version));
  SEMRANK_ASSIGN_OR_RETURN(const ModelSlot* const slot, FindSlot(name));
  ServedModelPtr model = slot->current();
  if (model == nullptr) return NoModelYet();
  const ModelVersion& current = model->model->version();
  if (version != 0 && version != current.version) {
    return VersionNotFound(current, version);
  }
  return model;
}

absl::StatusOr<ModelStatus> ModelStore::Describe(std::string_view name,
                                                 std::int64_t version) const {
  SEMRANK_RETURN_IF_ERROR(CheckModelVersion(version));
  SEMRANK_ASSIGN_OR_RETURN(const ModelSlot* const slot, FindSlot(name));
  SEMRANK_ASSIGN_OR_RETURN(const ServedModelPtr current, Find(name, 0));
  const std::int64_t wanted =
      version == 0 ? current->model->version().version : version;
  // Versions that were tried are in memory. The disk, which may be slow, is
  // read only for other versions.
  for (const bool tried : {true, false}) {
    for (ModelStatus& status :
         WithDefault(*slot, tried ? slot->ListTried() : slot->List())) {
      if (status.version == wanted) return std::move(status);
    }
  }
  return VersionNotFound(current->model->version(), version);
}

absl::StatusOr<std::vector<ModelStatus>> ModelStore::List(
    std::string_view name) const {
  std::vector<ModelStatus> list;
  if (!name.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const ModelSlot* const slot, FindSlot(name));
    return WithDefault(*slot, slot->List());
  }
  for (const auto& slot : slots_) {
    std::ranges::move(WithDefault(*slot, slot->List()),
                      std::back_inserter(list));
  }
  std::ranges::stable_sort(list, {}, &ModelStatus::name);
  return list;
}

std::vector<ModelStatus> ModelStore::ListTried() const {
  std::vector<ModelStatus> list;
  for (const auto& slot : slots_) {
    std::ranges::move(WithDefault(*slot, slot->ListTried()),
                      std::back_inserter(list));
  }
  return list;
}

std::vector<ModelStatus> ModelStore::WithDefault(
    const ModelSlot& slot, std::vector<ModelStatus> list) const {
  for (ModelStatus& status : list) {
    if (!status.current) continue;
    // The first model of --model_dir answers requests that name none.
    status.is_default = &slot == slots_.front().get();
    for (const auto& [alias, meant] : aliases_) {
      if (meant == &slot) status.aliases.push_back(alias);
    }
  }
  return list;
}

std::string_view ModelStore::NameOf(std::string_view name) const {
  const auto alias = aliases_.find(name);
  return alias == aliases_.end() ? name : alias->second->name();
}

absl::StatusOr<ModelSlot*> ModelStore::FindSlot(std::string_view name) const {
  if (name.empty()) return slots_.front().get();
  name = NameOf(name);
  for (const auto& slot : slots_) {
    if (slot->name() == name) return slot.get();
  }
  // The error does not repeat the caller's text, and lists a few names only.
  constexpr std::size_t kMaxNames = 10;
  std::string names = slots_.front()->name() + " (the default)";
  for (std::size_t i = 1; i < std::min(slots_.size(), kMaxNames); ++i) {
    names += ", " + slots_[i]->name();
  }
  if (slots_.size() > kMaxNames) {
    names += absl::StrFormat(" and %d more", slots_.size() - kMaxNames);
  }
  return MakeError(
      absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
      absl::StrFormat("no model of that name is served; there is %s", names),
      {{"field", "model.name"}});
}

// The number replaces the identity in cache keys: 4 bytes instead of 64 hex
// digits. It is never reused. The list has one entry for each distinct model,
// so a linear search is fast enough.
std::uint32_t ModelStore::NumberOf(const std::string& identity) {
  MutexLock lock(numbers_mutex_);
  const auto known = std::ranges::find(identities_, identity);
  const auto number = static_cast<std::uint32_t>(known - identities_.begin());
  if (known == identities_.end()) identities_.push_back(identity);
  return number;
}

void ModelStore::FinishLoad(const ModelLoad& load) {
  // An incomplete version is not read, so it does not count as a load.
  if (!load.incomplete) metrics_->CountModelLoad(load.status.ok());
  if (load.model != nullptr) {
    const TwoTowerModel& model = *load.model->model;
    metrics_->SetModel(model.version(), model.embedding_dim(),
                       load.model->load_time, CreateTime(*load.model));
    // The hook runs after the publication, so that only requests that began
    // before can ask for what the cache drops.
    if (hooks_.published) {
      std::vector<std::uint32_t> numbers;
      for (const ServedModelPtr& current : CurrentModels()) {
        numbers.push_back(current->number);
      }
      hooks_.published(numbers);
    }
  }
  if (hooks_.loaded) hooks_.loaded(load);
}

}  // namespace semrank
