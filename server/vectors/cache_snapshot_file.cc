#include "server/vectors/cache_snapshot_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/vectors/cache_snapshot.h"

namespace semrank {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "SRVCACHE";
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
// What no server that wrote a file could have been over.
constexpr std::uint32_t kMaxModels = 1 << 16;
constexpr std::uint32_t kMaxIdentityBytes = 1 << 10;
constexpr std::uint32_t kMaxDim = 1 << 20;

absl::Status NotASnapshot(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrFormat("%s is not a cache snapshot", path));
}

}  // namespace

absl::Status SnapshotWriter::WriteHeader(const SnapshotHeader& header) {
  SEMRANK_RETURN_IF_ERROR(Write(kMagic));
  SEMRANK_RETURN_IF_ERROR(WriteValue(kCacheSnapshotFormat));
  SEMRANK_RETURN_IF_ERROR(
      WriteValue(static_cast<std::uint32_t>(header.models.size())));
  SEMRANK_RETURN_IF_ERROR(WriteValue(header.secret));
  for (const SnapshotModel& model : header.models) {
    SEMRANK_RETURN_IF_ERROR(
        WriteValue(static_cast<std::uint32_t>(model.identity.size())));
    SEMRANK_RETURN_IF_ERROR(Write(model.identity));
    SEMRANK_RETURN_IF_ERROR(WriteValue(model.dim));
  }
  return absl::OkStatus();
}

absl::Status SnapshotWriter::Write(std::string_view bytes) {
  buffer_.append(bytes);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status SnapshotWriter::Finish() {
  SEMRANK_RETURN_IF_ERROR(Flush());
  SEMRANK_RETURN_IF_ERROR(WriteValue(checksum_.Digest()));
  SEMRANK_RETURN_IF_ERROR(Flush());
  return file_.Commit();
}

absl::Status SnapshotWriter::Flush() {
  if (stop_()) return absl::CancelledError("stopped before it was whole");
  checksum_.Add(buffer_);
  SEMRANK_RETURN_IF_ERROR(file_.Write(buffer_));
  buffer_.clear();
  return absl::OkStatus();
}

SnapshotReader::SnapshotReader(const FileDescriptor& file)
    : file_(file), buffer_(kBufferBytes) {}

absl::StatusOr<SnapshotHeader> SnapshotReader::ReadHeader() {
  SnapshotHeader header;
  char magic[kMagic.size()];
  std::uint32_t format = 0;
  std::uint32_t num_models = 0;
  SEMRANK_RETURN_IF_ERROR(ReadValue(magic));
  SEMRANK_RETURN_IF_ERROR(ReadValue(format));
  if (format != kCacheSnapshotFormat) {
    return absl::FailedPreconditionError(
        absl::StrFormat("cache snapshot %s has format %d; this server reads "
                        "format %d",
                        file_.path(), format, kCacheSnapshotFormat));
  }
  SEMRANK_RETURN_IF_ERROR(ReadValue(num_models));
  SEMRANK_RETURN_IF_ERROR(ReadValue(header.secret));
  if (num_models > kMaxModels) return Damaged("has too many models");
  for (std::uint32_t i = 0; i < num_models; ++i) {
    SnapshotModel& model = header.models.emplace_back();
    std::uint32_t identity_bytes = 0;
    SEMRANK_RETURN_IF_ERROR(ReadValue(identity_bytes));
    if (identity_bytes > kMaxIdentityBytes) {
      return Damaged("has a model of too long an identity");
    }
    model.identity.resize(identity_bytes);
    SEMRANK_RETURN_IF_ERROR(Read(model.identity.data(), identity_bytes));
    SEMRANK_RETURN_IF_ERROR(ReadValue(model.dim));
    if (model.dim == 0 || model.dim > kMaxDim) {
      return Damaged("has a model of too many numbers");
    }
  }
  return header;
}

absl::Status SnapshotReader::Read(void* to, std::size_t size) {
  char* const bytes = static_cast<char*>(to);
  for (std::size_t filled = 0; filled < size;) {
    SEMRANK_RETURN_IF_ERROR(FillBuffer());
    if (begin_ == end_) return Damaged("ends too early");
    const std::size_t count = std::min(size - filled, end_ - begin_);
    std::memcpy(bytes + filled, buffer_.data() + begin_, count);
    begin_ += count;
    filled += count;
  }
  checksum_.Add({bytes, size});
  return absl::OkStatus();
}

absl::Status SnapshotReader::CheckEnd() {
  const Fingerprint want = checksum_.Digest();
  Fingerprint checksum;
  SEMRANK_RETURN_IF_ERROR(ReadValue(checksum));
  if (checksum != want) return Damaged("has another checksum");
  SEMRANK_RETURN_IF_ERROR(FillBuffer());
  return begin_ == end_ ? absl::OkStatus() : Damaged("goes on after its end");
}

absl::Status SnapshotReader::Damaged(std::string_view what) const {
  return absl::DataLossError(
      absl::StrFormat("cache snapshot %s %s", file_.path(), what));
}

absl::Status SnapshotReader::FillBuffer() {
  if (begin_ < end_) return absl::OkStatus();
  begin_ = 0;
  SEMRANK_ASSIGN_OR_RETURN(end_, file_.Read(buffer_.data(), buffer_.size()));
  return absl::OkStatus();
}

absl::Status CheckSnapshotMagic(const FileDescriptor& file) {
  SEMRANK_ASSIGN_OR_RETURN(const std::optional<std::size_t> size,
                           file.RegularFileSize());
  if (!size.has_value()) return NotASnapshot(file.path());
  char magic[kMagic.size()];
  SEMRANK_ASSIGN_OR_RETURN(const std::size_t count,
                           file.Read(magic, sizeof(magic)));
  if (std::string_view(magic, count) != kMagic) {
    return NotASnapshot(file.path());
  }
  return absl::OkStatus();
}

}  // namespace semrank
