#include "client/bulk/resumable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"

// The files of a run, while it runs: PATH.partial with the rows,
// PATH.ids.partial with the ids if the format has them, PATH.state. The state
// counts the bytes that are on disk; whatever follows them in the other files
// is cut off when the next run opens them. At the end both lose ".partial", and
// the state is removed.
namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// A state has some hundred bytes; a mistyped --state must not read a large
// file.
constexpr std::size_t kMaxStateBytes = std::size_t{1} << 20;
constexpr int kStateFormat = 1;

std::string PartialName(const std::string& path) { return path + ".partial"; }
std::string IdsName(const std::string& path) { return path + ".ids"; }
std::string StateName(const std::string& path) { return path + ".state"; }

absl::Status MustStartOver(const std::string& name, std::string_view why,
                           const std::string& state_name) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: %s; remove %s to start over", name, why, state_name));
}

std::optional<std::int64_t> Count(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return {};
  const auto count = found->get<std::int64_t>();
  return count < 0 ? std::nullopt : std::optional(count);
}

bool AllOf(const Json& object, bool (*good)(const Json&)) {
  if (!object.is_object()) return false;
  for (const Json& value : object) {
    if (!good(value)) return false;
  }
  return true;
}

std::optional<ResumableState> ParseState(const std::string& text) {
  const Json json = Json::parse(text, /*cb=*/nullptr,
                                /*allow_exceptions=*/false);
  if (!json.is_object() || Count(json, "format") != kStateFormat) return {};
  const auto num_bytes = Count(json, "num_bytes");
  const auto num_id_bytes = Count(json, "num_id_bytes");
  if (!num_bytes || !num_id_bytes || !json.contains("what") ||
      !json.contains("progress")) {
    return {};
  }
  ResumableState state{.identity = json["what"],
                       .progress = json["progress"],
                       .num_bytes = *num_bytes,
                       .num_id_bytes = *num_id_bytes};
  // Later code reads these values without checks, and a user may have edited
  // the file.
  const bool good =
      AllOf(state.identity,
            [](const Json& value) { return value.is_string(); }) &&
      AllOf(state.progress, [](const Json& value) {
        return value.is_number_integer() && value.get<std::int64_t>() >= 0;
      });
  return good ? std::optional(std::move(state)) : std::nullopt;
}

// Opens `name`, a file that belongs to `path`, and truncates it to `size`
// bytes.
absl::StatusOr<FileDescriptor> OpenPartial(const std::string& path,
                                           const std::string& name,
                                           std::int64_t size) {
  SEMRANK_ASSIGN_OR_RETURN(
      FileDescriptor file,
      // No link, which could redirect the writes, and no wait for a pipe's
      // reader.
      FileDescriptor::Open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
  // Two writers would interleave their rows. The kernel releases the lock even
  // after a kill.
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: another process is writing it", name));
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<std::size_t> size_now,
                           file.RegularFileSize());
  if (!size_now.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: not a regular file", name));
  }
  if (static_cast<std::int64_t>(*size_now) < size) {
    return MustStartOver(
        PartialName(path),
        absl::StrFormat("%s has %d bytes, of %d that were written", name,
                        *size_now, size),
        StateName(path));
  }
  // Rows after the last checkpoint may be incomplete, and will be written
  // again.
  if (ftruncate(file.get(), size) != 0) {
    return ErrnoStatus(errno, "truncate", name);
  }
  if (lseek(file.get(), size, SEEK_SET) < 0) {
    return ErrnoStatus(errno, "seek in", name);
  }
  return file;
}

absl::Status CheckIdentity(const std::string& name, const Json& identity,
                           const Json& before, const std::string& state_name) {
  // The message names the first difference: usually there is one.
  for (const auto& [key, value] : identity.items()) {
    const std::string now = value.get<std::string>();
    const auto found = before.find(key);
    const std::string then =
        found == before.end() ? "" : found->get<std::string>();
    if (now == then) continue;
    return MustStartOver(
        name,
        absl::StrFormat("started with %s %s, which is %s now", key,
                        then.empty() ? "(none)" : then, now),
        state_name);
  }
  return absl::OkStatus();
}

absl::Status Rename(const std::string& path) {
  return std::rename(PartialName(path).c_str(), path.c_str()) == 0
             ? absl::OkStatus()
             : ErrnoStatus(errno, "rename to", path);
}

}  // namespace

absl::StatusOr<std::optional<ResumableState>> ReadStateFile(
    const std::string& name) {
  const auto text = ReadFile(name, kMaxStateBytes);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  SEMRANK_RETURN_IF_ERROR(text.status());
  std::optional<ResumableState> state = ParseState(*text);
  if (state.has_value()) return state;
  return absl::FailedPreconditionError(
      absl::StrFormat("%s is damaged; remove it to start over", name));
}

absl::Status WriteStateFile(const std::string& name,
                            const ResumableState& state) {
  const Json json = {{"format", kStateFormat},
                     {"what", state.identity},
                     {"progress", state.progress},
                     {"num_bytes", state.num_bytes},
                     {"num_id_bytes", state.num_id_bytes}};
  return ReplaceFile(name, json.dump(/*indent=*/1, ' ', /*ensure_ascii=*/true,
                                     Json::error_handler_t::replace) +
                               "\n");
}

absl::Status CheckStateFile(const std::string& name,
                            const ResumableState& state, const Json& identity) {
  return CheckIdentity(name, identity, state.identity, name);
}

std::vector<std::string> ResumableFileNames(const std::string& path) {
  return {path, PartialName(path), IdsName(path), PartialName(IdsName(path)),
          StateName(path)};
}

absl::StatusOr<std::optional<ResumableState>> ReadResumableState(
    const std::string& path) {
  return ReadStateFile(StateName(path));
}

absl::StatusOr<std::unique_ptr<ResumableFile>> ResumableFile::Open(
    const std::string& path, bool with_ids, std::string_view header,
    const Json& identity, const std::optional<ResumableState>& state) {
  SEMRANK_RETURN_IF_ERROR(CheckReplaceable(path));
  if (state.has_value()) {
    SEMRANK_RETURN_IF_ERROR(CheckIdentity(PartialName(path), identity,
                                          state->identity, StateName(path)));
  }
  const ResumableState from =
      state.value_or(ResumableState{.identity = identity});
  SEMRANK_ASSIGN_OR_RETURN(
      FileDescriptor rows,
      OpenPartial(path, PartialName(path), from.num_bytes));
  std::optional<FileDescriptor> ids;
  if (with_ids) {
    SEMRANK_ASSIGN_OR_RETURN(
        FileDescriptor opened,
        OpenPartial(path, PartialName(IdsName(path)), from.num_id_bytes));
    ids.emplace(std::move(opened));
  }
  std::unique_ptr<ResumableFile> file(new ResumableFile(
      path, std::move(rows), std::move(ids), from, state.has_value()));
  if (!state.has_value()) SEMRANK_RETURN_IF_ERROR(file->Append(header, ""));
  return file;
}

ResumableFile::~ResumableFile() {
  if (has_checkpoint_) return;
  unlink(rows_.path().c_str());
  if (ids_.has_value()) unlink(ids_->path().c_str());
}

// Bytes count as soon as they are written; Checkpoint makes the counts durable.
absl::Status ResumableFile::Append(std::string_view rows,
                                   std::string_view ids) {
  SEMRANK_RETURN_IF_ERROR(rows_.Write(rows));
  state_.num_bytes += static_cast<std::int64_t>(rows.size());
  if (!ids_.has_value()) return absl::OkStatus();
  state_.num_id_bytes += static_cast<std::int64_t>(ids.size());
  return ids_->Write(ids);
}

absl::Status ResumableFile::Checkpoint(const Json& progress) {
  // The bytes must be on disk before the state that counts them.
  SEMRANK_RETURN_IF_ERROR(rows_.Sync());
  if (ids_.has_value()) SEMRANK_RETURN_IF_ERROR(ids_->Sync());
  state_.progress = progress;
  const absl::Status status = WriteStateFile(StateName(path_), state_);
  has_checkpoint_ = has_checkpoint_ || status.ok();
  return status;
}

absl::Status ResumableFile::Finish(std::string_view header) {
  if (lseek(rows_.get(), 0, SEEK_SET) < 0) {
    return ErrnoStatus(errno, "seek in", rows_.path());
  }
  SEMRANK_RETURN_IF_ERROR(rows_.Write(header));
  SEMRANK_RETURN_IF_ERROR(rows_.Sync());
  has_checkpoint_ = true;
  // The state goes first: after a crash between the two renames, the next run
  // starts over instead of mixing rows of one run with ids of another.
  SEMRANK_RETURN_IF_ERROR(RemoveFile(StateName(path_)));
  if (ids_.has_value()) {
    SEMRANK_RETURN_IF_ERROR(ids_->Sync());
    SEMRANK_RETURN_IF_ERROR(Rename(IdsName(path_)));
  }
  SEMRANK_RETURN_IF_ERROR(Rename(path_));
  // A rename is durable only once its directory is.
  return SyncParent(path_);
}

// A piece returns to the caller after it is written, so that its megabytes are
// allocated only once.
absl::Status BackgroundWriter::Append(Piece& piece) {
  SEMRANK_RETURN_IF_ERROR(Enqueue({.piece = std::move(piece)}));
  piece = Piece();
  if (spare_.empty()) return absl::OkStatus();
  piece = std::move(spare_.back());
  spare_.pop_back();
  return absl::OkStatus();
}

// A checkpoint waits with the pieces: it must follow those that it counts.
absl::Status BackgroundWriter::Checkpoint(
    const nlohmann::ordered_json& progress) {
  return Enqueue({.checkpoint = progress});
}

absl::Status BackgroundWriter::Finish() {
  SEMRANK_RETURN_IF_ERROR(Start());
  return WaitForWriting();
}

// While the thread writes, Enqueue collects up to kMaxWaiting tasks. Beyond
// that the caller blocks until the thread is done, which bounds the memory.
// Each thread writes a whole batch of tasks.
absl::Status BackgroundWriter::Enqueue(Task task) {
  waiting_.push_back(std::move(task));
  const bool busy =
      written_.valid() &&
      written_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  return busy && waiting_.size() < kMaxWaiting ? absl::OkStatus() : Start();
}

absl::Status BackgroundWriter::Start() {
  SEMRANK_RETURN_IF_ERROR(WaitForWriting());
  writing_.swap(waiting_);
  written_ = std::async(std::launch::async, [this]() -> absl::Status {
    for (const Task& task : writing_) SEMRANK_RETURN_IF_ERROR(Write(task));
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

// The first error stays: after it nothing is written, since a row that is
// missing would shift all that follow.
absl::Status BackgroundWriter::WaitForWriting() {
  if (written_.valid()) status_.Update(written_.get());
  for (Task& task : writing_) {
    if (task.checkpoint.has_value()) continue;
    task.piece.rows.Clear();
    task.piece.ids.clear();
    spare_.push_back(std::move(task.piece));
  }
  writing_.clear();
  return status_;
}

absl::Status BackgroundWriter::Write(const Task& task) {
  if (task.checkpoint.has_value()) return file_.Checkpoint(*task.checkpoint);
  for (const std::string& part : task.piece.rows.parts()) {
    SEMRANK_RETURN_IF_ERROR(file_.Append(part, ""));
  }
  return file_.Append("", task.piece.ids);
}

}  // namespace semrank
