#include "client/bulk/background_writer.h"

#include <utility>

#include "model/base/status_macros.h"

namespace semrank {

BackgroundWriter::BackgroundWriter(ResumableFile& file)
    : file_(file), thread_([this] { WriteTasks(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  task_or_stop_.NotifyOne();
  thread_.join();
}

absl::Status BackgroundWriter::Append(Piece& piece) {
  SEMRANK_RETURN_IF_ERROR(Enqueue({.piece = std::move(piece)}));
  piece = Piece();
  MutexLock lock(mutex_);
  if (spare_.empty()) return absl::OkStatus();
  piece = std::move(spare_.back());
  spare_.pop_back();
  return absl::OkStatus();
}

absl::Status BackgroundWriter::Checkpoint(
    const nlohmann::ordered_json& progress) {
  return Enqueue({.checkpoint = progress});
}

absl::Status BackgroundWriter::Finish() {
  MutexLock lock(mutex_);
  while (!tasks_.empty()) task_done_.Wait(mutex_);
  return status_;
}

absl::Status BackgroundWriter::Enqueue(Task task) {
  {
    MutexLock lock(mutex_);
    while (tasks_.size() >= kMaxWaiting) task_done_.Wait(mutex_);
    SEMRANK_RETURN_IF_ERROR(status_);
    tasks_.push_back(std::move(task));
  }
  task_or_stop_.NotifyOne();
  return absl::OkStatus();
}

void BackgroundWriter::WriteTasks() {
  mutex_.Lock();
  while (true) {
    while (tasks_.empty() && !stop_) task_or_stop_.Wait(mutex_);
    if (tasks_.empty()) break;
    absl::Status status = status_;
    // Others only append to the deque, so the reference stays valid.
    Task& task = tasks_.front();
    if (status.ok()) {
      mutex_.Unlock();
      status = Write(task);
      mutex_.Lock();
    }
    status_ = std::move(status);
    if (!task.checkpoint.has_value()) {
      task.piece.rows.Clear();
      task.piece.ids.clear();
      spare_.push_back(std::move(task.piece));
    }
    tasks_.pop_front();
    task_done_.NotifyOne();
  }
  mutex_.Unlock();
}

absl::Status BackgroundWriter::Write(const Task& task) {
  if (task.checkpoint.has_value()) return file_.Checkpoint(*task.checkpoint);
  for (const std::string& part : task.piece.rows.parts()) {
    SEMRANK_RETURN_IF_ERROR(file_.Append(part, ""));
  }
  return file_.Append("", task.piece.ids);
}

}  // namespace semrank
