#include "model/train/run/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/fingerprint.h"
#include "model/base/status_macros.h"
#include "model/events/event_files.h"
#include "model/format/model_config.h"
#include "model/format/safetensors.h"
#include "model/format/sha256.h"
#include "model/train/data/memory_budget.h"
#include "model/train/report/run_files.h"

namespace semrank {
namespace {

// Layout: a safetensors file. Its tensors are "state.NAME", without their
// shapes, and "best.NAME"; its metadata is the history and the identity of the
// run, each as JSON, and a SHA-256 over all of it.

using nlohmann::json;

constexpr char kHistory[] = "progress";
constexpr char kIdentity[] = "identity";
constexpr char kChecksum[] = "sha256";
constexpr char kMemoryLimit[] = "--memory_limit";  // a member of the identity
constexpr std::string_view kState = "state.";
constexpr std::string_view kBest = "best.";

// A hash of names, values and texts; `tensors` are in the order of their names.
absl::StatusOr<std::string> Checksum(const std::vector<TensorView>& tensors,
                                     const SafetensorsMetadata& metadata) {
  // One hash for each tensor and one over all: nothing as large as the file is
  // joined in memory.
  std::string all = metadata.at(kHistory) + metadata.at(kIdentity);
  for (const TensorView& tensor : tensors) {
    SEMRANK_ASSIGN_OR_RETURN(const std::string sum, Sha256Hex(tensor.bytes()));
    all += tensor.name + sum;
  }
  return Sha256Hex(all);
}

std::vector<TensorView> Tensors(ModelTrainer& trainer,
                                const TensorCopies& best) {
  std::vector<TensorView> tensors;
  for (const StateTensor& state : trainer.State()) {
    tensors.push_back({std::string(kState) + state.name,
                       {std::ssize(state.values)},
                       state.values.data()});
  }
  // The best weights are older than the state, and no function of it.
  for (TensorView view : best.views()) {
    view.name = std::string(kBest) + view.name;
    tensors.push_back(std::move(view));
  }
  // The order in which a reader gets them, which the checksum depends on.
  std::ranges::sort(tensors, {}, &TensorView::name);
  return tensors;
}

absl::Status Damaged(const std::string& path, std::string_view reason) {
  return absl::DataLossError(absl::StrFormat("%s %s", path, reason));
}

struct Content {
  std::map<std::string, TensorView> tensors;
  SafetensorsMetadata metadata;
};

absl::StatusOr<Content> ReadContent(const LoadedFile& file,
                                    const std::string& path) {
  Content content;
  SEMRANK_ASSIGN_OR_RETURN(content.tensors,
                           ParseSafetensors(file.content(), path));
  SEMRANK_ASSIGN_OR_RETURN(content.metadata,
                           ParseSafetensorsMetadata(file.content(), path));
  // A safetensors file of another program, such as a model's weights, has none
  // of these.
  for (const char* name : {kHistory, kIdentity, kChecksum}) {
    if (!content.metadata.contains(name)) {
      return Damaged(path, absl::StrFormat("has no %s", name));
    }
  }
  std::vector<TensorView> tensors;
  // A map, so in the order of names, as Tensors sorts them.
  for (const auto& [name, tensor] : content.tensors) tensors.push_back(tensor);
  SEMRANK_ASSIGN_OR_RETURN(const std::string sum,
                           Checksum(tensors, content.metadata));
  if (sum == content.metadata.at(kChecksum)) return content;
  return Damaged(path, "is damaged: its checksum does not match");
}

// The metadata alone, without the checksum over the tensors.
absl::StatusOr<SafetensorsMetadata> ReadMetadata(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(const auto file, LoadedFile::Read(path));
  return ParseSafetensorsMetadata(file->content(), path);
}

std::string CheckpointPath(const std::string& model_dir) {
  return model_dir + "/" + kCheckpointFile;
}

// The first difference, as "learning_rate was 0.1, now it is 0.2"; "" for none.
std::string Difference(const json& then, const json& now) {
  std::set<std::string> names;
  for (const json* object : {&then, &now}) {
    for (const auto& [name, value] : object->items()) names.insert(name);
  }
  for (const std::string& name : names) {
    // A member that one side does not have is null here.
    const json a = then.value(name, json()), b = now.value(name, json());
    if (a == b) continue;
    // The innermost difference names the setting, not the group it is in.
    if (a.is_object() && b.is_object()) return Difference(a, b);
    return absl::StrFormat("%s was %s, now it is %s", name, a.dump(), b.dump());
  }
  return "";
}

absl::Status CheckIdentity(const std::string& path, const std::string& then,
                           const std::string& now) {
  if (then == now) return absl::OkStatus();
  // The texts differ; the JSON only serves the message.
  const json was = json::parse(then, nullptr, false);
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s is of another run: %s. Continue with the same flags and files, or "
      "start again without --resume",
      path,
      was.is_object() ? Difference(was, json::parse(now, nullptr, false))
                      : "it is not described"));
}

// Other sizes mean another model, which the identity should have refused.
absl::Status CheckState(const std::string& path,
                        const std::vector<StateTensor>& state,
                        const std::map<std::string, TensorView>& tensors) {
  for (const StateTensor& tensor : state) {
    const auto found = tensors.find(std::string(kState) + tensor.name);
    if (found == tensors.end() ||
        found->second.values().size() != tensor.values.size()) {
      return Damaged(path, absl::StrFormat("has no %s of %d values",
                                           tensor.name, tensor.values.size()));
    }
  }
  return absl::OkStatus();
}

// The weights of the best epoch, as views into the file; none before the first
// epoch with a score. `weights` are the trainer's, whose shapes they have.
absl::StatusOr<std::vector<TensorView>> FindBest(
    const std::string& path, const RunHistory& history,
    const std::vector<TensorView>& weights,
    const std::map<std::string, TensorView>& tensors) {
  std::vector<TensorView> best;
  if (std::ranges::all_of(history.epochs, [](const EpochRecord& epoch) {
        return std::isnan(epoch.score);
      })) {
    return best;
  }
  for (const TensorView& weight : weights) {
    const auto found = tensors.find(std::string(kBest) + weight.name);
    if (found == tensors.end() || found->second.shape != weight.shape ||
        found->second.int8_data != nullptr) {
      return Damaged(path, absl::StrFormat("has no %s%s of the model's shape",
                                           kBest, weight.name));
    }
    best.push_back(found->second);
    best.back().name = weight.name;
  }
  return best;
}

// Empty names are files that are not used.
absl::Status AddFiles(const std::string& flag,
                      const std::vector<std::string>& files, json& run) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    SEMRANK_ASSIGN_OR_RETURN(run[absl::StrFormat("--%s file %d", flag, i + 1)],
                             FileFingerprint(files[i]));
  }
  return absl::OkStatus();
}

// A server adds files to a folder of events all the time; a run resumes only
// while the folder has the same ones.
absl::Status AddEvents(const TrainOptions& options, json& run) {
  const DataOptions& data = options.data;
  if (!data.event_paths.empty()) {
    run["--judge_days"] = data.judge_days;
  }
  for (const std::string& path : data.event_paths) {
    std::vector<std::string> files = {path};
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      SEMRANK_ASSIGN_OR_RETURN(files, ListEventFiles(path));
    }
    SEMRANK_RETURN_IF_ERROR(AddFiles("events " + path, files, run));
  }
  return absl::OkStatus();
}

absl::Status AddDataFiles(const DataOptions& data, json& run) {
  const std::pair<const char*, std::vector<std::string>> files_of_flags[] = {
      {"train", data.train_files},
      {"valid_pairs", data.valid_pair_files},
      {"judged", {data.judged_file}},
      {"docs", {data.docs_file}},
      // These choose the best epoch.
      {"valid_queries", {data.valid_queries}},
      {"valid_docs", {data.valid_docs}},
      {"valid_qrels", {data.valid_qrels}}};
  for (const auto& [flag, files] : files_of_flags) {
    SEMRANK_RETURN_IF_ERROR(AddFiles(flag, files, run));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DescribeRun(const TrainOptions& options,
                                        const v1::ModelConfig& config) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string text, FormatModelConfig(config));
  json run = json::parse(text, nullptr, /*allow_exceptions=*/false);
  run["--epochs"] = options.epochs;
  // An option that is off is absent, so that checkpoints of releases without it
  // stay valid.
  if (options.data.judge_fraction > 0) {
    run["--judge_fraction"] = options.data.judge_fraction;
  }
  // Lines with longer texts are no pairs.
  if (options.data.max_text_bytes != kDefaultMaxTextBytes) {
    run["--max_text_bytes"] = options.data.max_text_bytes;
  }
  // The order of an epoch has queries with accents twice.
  if (options.loss.unaccented_queries) run["--unaccented_queries"] = true;
  if (CorrectsPositions(options.loss)) {
    run["--max_position_weight"] = options.loss.max_position_weight;
    if (EstimatesPositions(options.loss)) {
      run["--position_bias"] = options.loss.position_bias;
    } else {
      SEMRANK_RETURN_IF_ERROR(
          AddFiles("position_bias", {options.loss.position_bias}, run));
    }
  }
  run["--lexical"] = options.features.lexical;
  run["--valid_fraction"] = options.data.valid_fraction;
  if (options.data.default_valid_fraction) {
    run["--valid_fraction is default"] = true;
  }
  SEMRANK_RETURN_IF_ERROR(AddEvents(options, run));
  SEMRANK_RETURN_IF_ERROR(AddDataFiles(options.data, run));
  run["--valid_candidates"] = options.data.valid_judged_only ? "judged" : "all";
  if (options.data.valid_halves) run["--valid_halves"] = true;
  run["--early_stopping"] = static_cast<int>(options.early_stopping);
  run["--biases"] = options.tower.biases;
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    run["--ssi_init_scale"] = options.ssi.init_scale;
  }
  // The limit decides whether pairs are streamed, and then their order.
  run[kMemoryLimit] = MemoryLimit(options.data);
  // Members are sorted by name, so equal runs are equal texts.
  return run.dump();
}

absl::Status CheckSameRun(TrainOptions options, const v1::ModelConfig& config,
                          Communicator& processes) {
  if (processes.is_alone()) return absl::OkStatus();
  // Only the first process has these: the others do not validate.
  options.data.valid_queries.clear();
  options.data.valid_docs.clear();
  options.data.valid_qrels.clear();
  options.data.valid_halves = false;
  // An error of one process must reach all of them before they compare: the
  // others would wait for its fingerprint.
  const absl::StatusOr<std::string> run = DescribeRun(options, config);
  SEMRANK_RETURN_IF_ERROR(processes.Agree(run.status()));
  return processes.CheckSame(BytesFingerprint(*run).lo,
                             "settings or training files");
}

std::int64_t MemoryLimitOfCheckpoint(const std::string& model_dir) {
  const auto metadata = ReadMetadata(CheckpointPath(model_dir));
  if (!metadata.ok() || !metadata->contains(kIdentity)) return 0;
  const json run = json::parse(metadata->at(kIdentity), nullptr, false);
  if (!run.is_object() || !run.contains(kMemoryLimit)) return 0;
  const json& limit = run[kMemoryLimit];
  return limit.is_number_integer() ? limit.get<std::int64_t>() : 0;
}

Checkpoint::Checkpoint(const CheckpointOptions& options,
                       const std::string& model_dir, std::string identity)
    : options_(options),
      path_(CheckpointPath(model_dir)),
      identity_(std::move(identity)),
      last_written_(std::chrono::steady_clock::now()) {}

bool Checkpoint::Exists() const {
  std::error_code error;
  return std::filesystem::exists(path_, error);
}

// Either limit alone is enough: time bounds what a crash costs, batches make a
// test repeatable.
bool Checkpoint::IsDue() {
  ++batches_since_;
  if (options_.batches > 0 && batches_since_ >= options_.batches) return true;
  if (options_.every == absl::ZeroDuration()) return false;
  const auto passed = std::chrono::steady_clock::now() - last_written_;
  return absl::FromChrono(passed) >= options_.every;
}

absl::Status Checkpoint::Write(const RunHistory& history, ModelTrainer& trainer,
                               const TensorCopies& best) {
  // A write that fails counts too, so that it is not repeated after the next
  // batch.
  last_written_ = std::chrono::steady_clock::now();
  batches_since_ = 0;
  const std::vector<TensorView> tensors = Tensors(trainer, best);
  SafetensorsMetadata metadata = {{kHistory, FormatHistory(history)},
                                  {kIdentity, identity_}};
  SEMRANK_ASSIGN_OR_RETURN(metadata[kChecksum], Checksum(tensors, metadata));
  return WriteSafetensors(path_, tensors, metadata);
}

absl::StatusOr<RunHistory> Checkpoint::Restore(ModelTrainer& trainer,
                                               TensorCopies& best) const {
  SEMRANK_ASSIGN_OR_RETURN(const auto file, LoadedFile::Read(path_));
  SEMRANK_ASSIGN_OR_RETURN(const Content content, ReadContent(*file, path_));
  SEMRANK_RETURN_IF_ERROR(
      CheckIdentity(path_, content.metadata.at(kIdentity), identity_));
  absl::StatusOr<RunHistory> history =
      ParseHistory(content.metadata.at(kHistory));
  if (!history.ok()) {
    return Damaged(path_, std::string(history.status().message()));
  }
  const std::vector<StateTensor> state = trainer.State();
  // All tensors are checked before the first is copied: a run never continues
  // with a mixture of old and new weights.
  SEMRANK_RETURN_IF_ERROR(CheckState(path_, state, content.tensors));
  SEMRANK_ASSIGN_OR_RETURN(
      const std::vector<TensorView> best_views,
      FindBest(path_, *history, trainer.Weights(), content.tensors));
  for (const StateTensor& tensor : state) {
    std::copy_n(content.tensors.at(std::string(kState) + tensor.name).data,
                tensor.values.size(), tensor.values.data());
  }
  best.Assign(best_views);
  return history;
}

bool Checkpoint::IsOwn() const {
  const auto metadata = ReadMetadata(path_);
  if (!metadata.ok()) return false;
  const auto identity = metadata->find(kIdentity);
  return identity != metadata->end() && identity->second == identity_;
}

std::optional<RunHistory> Checkpoint::ReadHistory() const {
  const auto metadata = ReadMetadata(path_);
  if (!metadata.ok() || !metadata->contains(kHistory)) return std::nullopt;
  auto history = ParseHistory(metadata->at(kHistory));
  return history.ok() ? std::optional(*std::move(history)) : std::nullopt;
}

absl::Status Checkpoint::Remove() const {
  // Another run may have replaced it, if the lock could not be taken.
  const auto history = ReadHistory();
  if (!IsOwn() && !(history && history->refused)) return absl::OkStatus();
  if (std::remove(path_.c_str()) != 0) {
    return ErrnoStatus(errno, "remove", path_);
  }
  return SyncDirectory(std::filesystem::path(path_).parent_path());
}

}  // namespace semrank
