#include "server/models/model_slot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// Two mutexes. load_mutex_ is held through a whole load, which takes seconds,
// and keeps loads of one slot apart. mutex_ guards what requests read and is
// held for a copy only, so no request ever waits for a load.

// Normalised texts. The empty one has no features, so its vector must be zero.
constexpr std::array<std::string_view, 4> kSelfTestTexts = {
    "", "a", "semantic ranking", "letter trigrams of a somewhat longer title"};
// Lengths come from float32 sums over at most a few thousand numbers.
constexpr double kLengthTolerance = 1e-3;

// A vector must have length 1 or 0 before rounding, unless `any_length`.
absl::Status CheckVector(std::span<const float> vector,
                         VectorPrecision precision, bool any_length) {
  double length_squared = 0;
  for (const float value : vector) {
    if (!std::isfinite(value)) {
      return absl::DataLossError("self-test: a vector holds NaN or infinity");
    }
    length_squared += double{value} * value;
  }
  const double length = std::sqrt(length_squared);
  const double tolerance = kLengthTolerance + LengthError(precision, vector);
  if (!any_length && length != 0 && std::abs(length - 1) > tolerance) {
    return absl::DataLossError(
        absl::StrFormat("self-test: a vector has length %g, not 1", length));
  }
  return absl::OkStatus();
}

absl::Status SelfTestSide(const TwoTowerModel& model, Side side) {
  const std::size_t dim = model.embedding_dim();
  const VectorPrecision precision = model.row_format().precision;
  // SSI scores by dot products of vectors that it does not normalise.
  const bool any_length = model.config().tower() == v1::TOWER_KIND_SSI;
  EmbedScratch scratch;
  std::vector<float> batch(kSelfTestTexts.size() * dim);
  std::vector<float> alone(dim);
  // The batch comes first and `alone` uses the same scratch, so the test also
  // finds an output that depends on what a scratch held before.
  model.EmbedTexts(side, kSelfTestTexts, scratch, batch.data());
  for (std::size_t i = 0; i < kSelfTestTexts.size(); ++i) {
    const std::span<const float> row(batch.data() + i * dim, dim);
    SEMRANK_RETURN_IF_ERROR(CheckVector(row, precision, any_length));
    model.EmbedTexts(side, std::span(kSelfTestTexts).subspan(i, 1), scratch,
                     alone.data());
    // To the bit: cached vectors come from any batch, and a request must not
    // depend on its neighbours.
    if (!std::ranges::equal(alone, row)) {
      return absl::DataLossError(
          "self-test: a text has another vector alone than in a batch");
    }
  }
  return absl::OkStatus();
}

// Beyond this number the records of the oldest versions are removed, which
// bounds the memory and the listing of a server that runs for months.
constexpr std::size_t kMaxRecords = 100;

// Whether a failed load fails again until the files change. Other errors are
// the system's, as too few descriptors or a network file system that does not
// answer, and end while the files stay as they are.
bool IsFaultOfFiles(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsFailedPrecondition(status) ||
         absl::IsUnimplemented(status) || absl::IsInvalidArgument(status);
}

bool Contains(const std::vector<std::int64_t>& versions, std::int64_t version) {
  return std::ranges::binary_search(versions, version);
}

absl::Status NoSuchVersion(std::string_view name, std::int64_t version,
                           const std::vector<std::int64_t>& found) {
  return MakeError(
      absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
      absl::StrFormat("there is no version %d of model %s (found %s)", version,
                      name,
                      found.empty() ? "none" : absl::StrJoin(found, ", ")),
      {{"field", "model.version"}, {"version", std::to_string(version)}});
}

}  // namespace

absl::Status SelfTest(const TwoTowerModel& model) {
  SEMRANK_RETURN_IF_ERROR(SelfTestSide(model, Side::kQuery));
  return SelfTestSide(model, Side::kDocument);
}

ModelSlot::ModelSlot(ModelSource source, std::int64_t pinned_version,
                     Hooks hooks)
    : source_(std::move(source)),
      hooks_(std::move(hooks)),
      pinned_version_(pinned_version) {}

ServedModelPtr ModelSlot::current() const {
  MutexLock lock(mutex_);
  return current_;
}

std::int64_t ModelSlot::CountRejected() const {
  return source_.num_rejected == nullptr ? 0 : source_.num_rejected();
}

absl::Status ModelSlot::Refresh() {
  MutexLock load_lock(load_mutex_);
  return RefreshLocked();
}

absl::StatusOr<bool> ModelSlot::SwitchTo(std::int64_t version) {
  MutexLock load_lock(load_mutex_);
  // Only this thread can change the current model while it holds load_mutex_.
  const ServedModelPtr before = current();
  if (version == 0) {
    {
      MutexLock lock(mutex_);
      pinned_version_ = 0;
    }
    SEMRANK_RETURN_IF_ERROR(RefreshLocked());
    return current() != before;
  }
  const bool is_current =
      before != nullptr && before->model->version().version == version;
  // An operator asked for it, so it is loaded even if it failed before and has
  // not changed.
  if (!is_current) {
    SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> versions,
                             source_.list());
    if (!Contains(versions, version)) {
      return NoSuchVersion(name(), version, versions);
    }
    SEMRANK_RETURN_IF_ERROR(Load(version));
  }
  // The version is pinned after the load, so that a failure leaves the choice
  // as it was.
  MutexLock lock(mutex_);
  pinned_version_ = version;
  return !is_current;
}

absl::Status ModelSlot::RefreshLocked() {
  std::int64_t pinned = 0;
  {
    MutexLock lock(mutex_);
    pinned = pinned_version_;
  }
  const ServedModelPtr now = current();
  const std::int64_t now_version =
      now == nullptr ? 0 : now->model->version().version;
  // A pinned version stays as it was loaded, also when its folder changes.
  if (pinned != 0 && pinned == now_version) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(const std::vector<std::int64_t> versions,
                           source_.list());
  if (pinned != 0) {
    return Contains(versions, pinned) ? Try(pinned)
                                      : NoSuchVersion(name(), pinned, versions);
  }
  absl::Status best_failure;
  absl::Status incomplete;
  // Versions are tried from the highest down to the current one; the first that
  // loads is served.
  for (auto next = versions.rbegin(); next != versions.rend(); ++next) {
    const std::int64_t version = *next;
    // The current version is tried too, in case its folder was replaced.
    if (version < now_version) break;
    // This asks before Try: if the manifest is written in between, the version
    // that Try found incomplete must not count as a complete one that failed.
    const bool is_complete = source_.is_complete(version);
    const absl::Status status = Try(version);
    // The failure of a better version is reported although a lesser one serves.
    // Update keeps the first error.
    if (status.ok()) break;
    (is_complete ? best_failure : incomplete).Update(status);
  }
  // While something is served, a version that is being written is no error.
  if (current() != nullptr || !best_failure.ok()) return best_failure;
  SEMRANK_RETURN_IF_ERROR(incomplete);
  return MakeError(
      absl::StatusCode::kNotFound, "NO_MODEL",
      absl::StrFormat("there is no version of model %s yet", name()));
}

absl::Status ModelSlot::Try(std::int64_t version) {
  const std::string stamp = source_.stamp(version);
  {
    MutexLock lock(mutex_);
    const auto known = records_.find(version);
    if (known != records_.end() &&
        (known->second.state == ModelState::kFailed ||
         known->second.state == ModelState::kServing)) {
      Record& record = known->second;
      // Two looks must find the same stamp: a folder that is still being copied
      // would fail once for each look, and each failure is logged and counted.
      const bool holds_still = std::exchange(record.seen_stamp, stamp) == stamp;
      if (record.tried_stamp == stamp || !holds_still) return record.failure;
    }
  }
  return Load(version);
}

absl::Status ModelSlot::NoteIncomplete(std::int64_t version) {
  const absl::Status status = MakeError(
      absl::StatusCode::kUnavailable, "NO_MODEL",
      absl::StrFormat("version %d of model %s is being written: it has no "
                      "manifest yet",
                      version, name()));
  {
    MutexLock lock(mutex_);
    // Every look comes here, and only the first one is worth a log line.
    if (!std::exchange(records_[version].failure, status).ok()) return status;
  }
  hooks_.loaded({.name = name(),
                 .version = version,
                 .status = status,
                 .incomplete = true});
  return status;
}

absl::Status ModelSlot::Load(std::int64_t version) {
  if (!source_.is_complete(version)) return NoteIncomplete(version);
  // The stamp is taken before reading: a file that changes during the load
  // gives another stamp next time, and the version is tried again.
  const std::string stamp = source_.stamp(version);
  const ServedModelPtr before = current();
  const std::int64_t previous_version =
      before == nullptr ? 0 : before->model->version().version;
  const bool is_current = before != nullptr && previous_version == version;
  {
    MutexLock lock(mutex_);
    Record& record = records_[version];
    record.tried_stamp = record.seen_stamp = stamp;
    // A current version stays "serving" while its folder is read again.
    if (!is_current) record.state = ModelState::kLoading;
  }
  absl::StatusOr<std::shared_ptr<const TwoTowerModel>> model =
      source_.load(version);
  absl::Status status = model.status();
  if (status.ok()) status = SelfTest(**model);
  ServedModelPtr served;
  if (status.ok()) {
    // A new number only for a new identity: a version that is read again finds
    // its vectors in the cache.
    const std::uint32_t number = hooks_.number(**model);
    auto quality =
        hooks_.quality == nullptr ? nullptr : hooks_.quality(**model);
    served = std::make_shared<ServedModel>(ServedModel{
        *std::move(model), number, absl::Now(), std::move(quality)});
    Publish(version, served);
  } else {
    // Only the record changes: the server still serves what it served before.
    MutexLock lock(mutex_);
    Record& record = records_[version];
    record.failure = status;
    // No folder has this stamp, so the next look tries the version again.
    if (!IsFaultOfFiles(status)) record.tried_stamp.clear();
    if (!is_current) record.state = ModelState::kFailed;
  }
  // The hook asks for the current models, so mutex_ must not be held.
  hooks_.loaded({name(), version, status, served, previous_version});
  return status;
}

void ModelSlot::Publish(std::int64_t version, ServedModelPtr served) {
  MutexLock lock(mutex_);
  if (current_ != nullptr) {
    records_[current_->model->version().version].state = ModelState::kRetiring;
  }
  Record& record = records_[version];
  record.state = ModelState::kServing;
  record.model = served;
  record.load_time = served->load_time;
  record.failure = absl::OkStatus();
  // `before` in Load still holds the old model, so it is never freed under this
  // mutex, but by Load or by the last request that uses it.
  current_ = std::move(served);
  RemoveOldRecords();
}

// The lowest version is the oldest in practice.
void ModelSlot::RemoveOldRecords() {
  for (auto record = records_.begin();
       records_.size() > kMaxRecords && record != records_.end();) {
    // Retiring ones may go: requests hold the model itself.
    const bool in_use = record->second.state == ModelState::kLoading ||
                        record->second.state == ModelState::kServing;
    record = in_use ? std::next(record) : records_.erase(record);
  }
}

std::vector<ModelStatus> ModelSlot::List() const {
  // When the disk cannot be read, the server still knows what it serves.
  std::vector<ModelStatus> list =
      Describe(source_.list_complete().value_or(std::vector<std::int64_t>()));
  const absl::StatusOr<std::vector<std::int64_t>> on_disk = source_.list();
  // A folder without any version is NotFound.
  if (!on_disk.ok() && !absl::IsNotFound(on_disk.status())) return list;
  std::erase_if(list, [&](const ModelStatus& version) {
    return version.model == nullptr && version.state != ModelState::kLoading &&
           !(on_disk.ok() && Contains(*on_disk, version.version));
  });
  return list;
}

std::vector<ModelStatus> ModelSlot::Describe(
    const std::vector<std::int64_t>& on_disk) const {
  MutexLock lock(mutex_);
  std::vector<ModelStatus> list;
  for (const auto& [version, record] : records_) {
    list.push_back(StatusOf(version, record));
  }
  for (const std::int64_t version : on_disk) {
    if (!records_.contains(version)) list.push_back(StatusOf(version, {}));
  }
  std::ranges::sort(list, std::ranges::greater(), &ModelStatus::version);
  return list;
}

ModelStatus ModelSlot::StatusOf(std::int64_t version,
                                const Record& record) const {
  ModelStatus status;
  status.name = name();
  status.version = version;
  status.state = record.state;
  status.model = record.model.lock();
  // The record's pointer is weak: the listing finds out here that the last
  // request has ended.
  if (record.state == ModelState::kRetiring && status.model == nullptr) {
    status.state = ModelState::kRetired;
  }
  status.load_time = record.load_time;
  status.failure = record.failure;
  status.current = record.state == ModelState::kServing;
  status.pinned = status.current && pinned_version_ == version;
  return status;
}

}  // namespace semrank
