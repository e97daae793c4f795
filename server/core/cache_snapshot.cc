#include "server/core/cache_snapshot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/file_replacement.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "SRVCACHE";
constexpr std::uint32_t kEnd = 0xffffffff;
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
constexpr std::size_t kInsertedVectors = 256;
// What no server that wrote a file could have been over.
constexpr std::uint32_t kMaxModels = 1 << 16;
constexpr std::uint32_t kMaxIdentityBytes = 1 << 10;
constexpr std::uint32_t kMaxDim = 1 << 20;

struct SnapshotModel {
  std::string identity;
  std::uint32_t dim = 0;
};

struct SnapshotHeader {
  Fingerprinter::Secret secret = {};
  std::vector<SnapshotModel> models;
};

struct RecordStart {
  std::uint32_t model = kEnd;
  std::uint32_t side = 0;
};

class SnapshotWriter {
 public:
  SnapshotWriter(FileReplacement file, absl::FunctionRef<bool()> stop)
      : file_(std::move(file)), stop_(stop) {}

  absl::Status Write(std::string_view bytes) {
    buffer_.append(bytes);
    return buffer_.size() < kBufferBytes ? absl::OkStatus() : Flush();
  }
  template <typename Value>
  absl::Status WriteValue(const Value& value) {
    return Write({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  absl::Status Finish() {
    SEMRANK_RETURN_IF_ERROR(Flush());
    SEMRANK_RETURN_IF_ERROR(WriteValue(checksum_.Digest()));
    SEMRANK_RETURN_IF_ERROR(Flush());
    return file_.Commit();
  }

 private:
  absl::Status Flush() {
    if (stop_()) return absl::CancelledError("stopped before it was whole");
    checksum_.Add(buffer_);
    SEMRANK_RETURN_IF_ERROR(file_.Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }

  FileReplacement file_;
  const absl::FunctionRef<bool()> stop_;
  BytesFingerprinter checksum_;
  std::string buffer_;
};

class SnapshotReader {
 public:
  explicit SnapshotReader(const FileDescriptor& file)
      : file_(file), buffer_(kBufferBytes) {}

  absl::Status Read(void* to, std::size_t size) {
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
  template <typename Value>
  absl::Status ReadValue(Value& value) {
    return Read(&value, sizeof(value));
  }
  // The checksum of what was read so far comes next, and nothing after it.
  absl::Status CheckEnd() {
    const Fingerprint want = checksum_.Digest();
    Fingerprint checksum;
    SEMRANK_RETURN_IF_ERROR(ReadValue(checksum));
    if (checksum != want) return Damaged("has another checksum");
    SEMRANK_RETURN_IF_ERROR(FillBuffer());
    return begin_ == end_ ? absl::OkStatus() : Damaged("goes on after its end");
  }
  const std::string& path() const { return file_.path(); }
  absl::Status Damaged(std::string_view what) const {
    return absl::DataLossError(
        absl::StrFormat("cache snapshot %s %s", file_.path(), what));
  }

 private:
  absl::Status FillBuffer() {
    if (begin_ < end_) return absl::OkStatus();
    begin_ = 0;
    SEMRANK_ASSIGN_OR_RETURN(end_, file_.Read(buffer_.data(), buffer_.size()));
    return absl::OkStatus();
  }

  const FileDescriptor& file_;
  BytesFingerprinter checksum_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

absl::Status NotASnapshot(const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrFormat("%s is not a cache snapshot", path));
}

// From its beginning; another one's file is left unread.
absl::Status CheckMagic(const FileDescriptor& file) {
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

absl::Status Rewind(const FileDescriptor& file) {
  if (lseek(file.get(), 0, SEEK_SET) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "seek in", file.path());
}

// Whatever else lies at `path` is somebody's, and stays.
absl::Status CheckReplaceable(const std::string& path) {
  const absl::StatusOr<FileDescriptor> file =
      FileDescriptor::Open(path, O_RDONLY | O_NONBLOCK);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  SEMRANK_RETURN_IF_ERROR(file.status());
  return CheckMagic(*file);
}

absl::StatusOr<SnapshotHeader> ReadHeader(SnapshotReader& reader) {
  SnapshotHeader header;
  char magic[kMagic.size()];
  std::uint32_t format = 0;
  std::uint32_t num_models = 0;
  SEMRANK_RETURN_IF_ERROR(reader.ReadValue(magic));
  SEMRANK_RETURN_IF_ERROR(reader.ReadValue(format));
  if (format != kCacheSnapshotFormat) {
    return absl::FailedPreconditionError(
        absl::StrFormat("cache snapshot %s has format %d; this server reads "
                        "format %d",
                        reader.path(), format, kCacheSnapshotFormat));
  }
  SEMRANK_RETURN_IF_ERROR(reader.ReadValue(num_models));
  SEMRANK_RETURN_IF_ERROR(reader.ReadValue(header.secret));
  if (num_models > kMaxModels) return reader.Damaged("has too many models");
  for (std::uint32_t i = 0; i < num_models; ++i) {
    SnapshotModel& model = header.models.emplace_back();
    std::uint32_t identity_bytes = 0;
    SEMRANK_RETURN_IF_ERROR(reader.ReadValue(identity_bytes));
    if (identity_bytes > kMaxIdentityBytes) {
      return reader.Damaged("has a model of too long an identity");
    }
    model.identity.resize(identity_bytes);
    SEMRANK_RETURN_IF_ERROR(reader.Read(model.identity.data(), identity_bytes));
    SEMRANK_RETURN_IF_ERROR(reader.ReadValue(model.dim));
    if (model.dim == 0 || model.dim > kMaxDim) {
      return reader.Damaged("has a model of too many numbers");
    }
  }
  return header;
}

using VisitRecord = absl::FunctionRef<void(
    std::uint32_t model, Side side, Fingerprint text, std::span<const float>)>;

// Everything after the header, to the end of the file. Returns the number of
// records; what is wrong at the end shows after all were visited.
absl::StatusOr<std::int64_t> ReadRecords(SnapshotReader& reader,
                                         const SnapshotHeader& header,
                                         VisitRecord visit) {
  std::vector<float> vector;
  for (std::int64_t num_records = 0;; ++num_records) {
    RecordStart start;
    SEMRANK_RETURN_IF_ERROR(reader.ReadValue(start));
    if (start.model == kEnd) {
      std::int64_t written = 0;
      SEMRANK_RETURN_IF_ERROR(reader.ReadValue(written));
      if (written != num_records) return reader.Damaged("misses records");
      SEMRANK_RETURN_IF_ERROR(reader.CheckEnd());
      return num_records;
    }
    if (start.model >= header.models.size() || start.side > 1) {
      return reader.Damaged("has a record of no model or side");
    }
    Fingerprint text;
    SEMRANK_RETURN_IF_ERROR(reader.ReadValue(text));
    vector.resize(header.models[start.model].dim);
    SEMRANK_RETURN_IF_ERROR(
        reader.Read(vector.data(), vector.size() * sizeof(float)));
    visit(start.model, start.side == 0 ? Side::kQuery : Side::kDocument, text,
          vector);
  }
}

// Collects vectors of one model, so that the cache takes many in one go.
class Inserter {
 public:
  explicit Inserter(DocumentVectorCache& cache) : cache_(cache) {}
  ~Inserter() { Flush(); }
  Inserter(const Inserter&) = delete;
  Inserter& operator=(const Inserter&) = delete;

  void Add(const VectorKey& key, std::span<const float> vector) {
    if (keys_.size() == kInsertedVectors ||
        (!keys_.empty() && keys_.back().model != key.model)) {
      Flush();
    }
    keys_.push_back(key);
    rows_.insert(rows_.end(), vector.begin(), vector.end());
  }

 private:
  void Flush() {
    if (keys_.empty()) return;
    cache_.Insert(keys_, static_cast<int>(rows_.size() / keys_.size()),
                  rows_.data());
    keys_.clear();
    rows_.clear();
  }

  DocumentVectorCache& cache_;
  std::vector<VectorKey> keys_;
  std::vector<float> rows_;
};

// For each model of the file the one that is served, or null.
std::vector<const ServedModel*> MatchModels(
    std::span<const ServedModelPtr> served, const SnapshotHeader& header) {
  std::vector<const ServedModel*> matches;
  for (const SnapshotModel& model : header.models) {
    const auto match =
        std::ranges::find_if(served, [&](const ServedModelPtr& candidate) {
          return candidate->model->version().identity == model.identity &&
                 candidate->model->embedding_dim() ==
                     static_cast<int>(model.dim);
        });
    matches.push_back(match == served.end() ? nullptr : match->get());
  }
  return matches;
}

absl::Status WriteHeader(SnapshotWriter& writer,
                         const Fingerprinter::Secret& secret,
                         std::span<const ServedModelPtr> models) {
  SEMRANK_RETURN_IF_ERROR(writer.Write(kMagic));
  SEMRANK_RETURN_IF_ERROR(writer.WriteValue(kCacheSnapshotFormat));
  SEMRANK_RETURN_IF_ERROR(
      writer.WriteValue(static_cast<std::uint32_t>(models.size())));
  SEMRANK_RETURN_IF_ERROR(writer.WriteValue(secret));
  for (const ServedModelPtr& served : models) {
    const std::string& identity = served->model->version().identity;
    SEMRANK_RETURN_IF_ERROR(
        writer.WriteValue(static_cast<std::uint32_t>(identity.size())));
    SEMRANK_RETURN_IF_ERROR(writer.Write(identity));
    SEMRANK_RETURN_IF_ERROR(writer.WriteValue(
        static_cast<std::uint32_t>(served->model->embedding_dim())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::int64_t> WriteCacheSnapshot(
    const std::string& path, const Fingerprinter::Secret& secret,
    std::span<const ServedModelPtr> models, const DocumentVectorCache& cache,
    absl::FunctionRef<bool()> stop) {
  std::vector<ServedModelPtr> written(models.begin(), models.end());
  std::erase_if(written, [](const ServedModelPtr& served) {
    return served->model->embedding_dim() == 0;
  });
  SEMRANK_RETURN_IF_ERROR(CheckReplaceable(path));
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file,
                           FileReplacement::Create(path, 0600));
  SnapshotWriter writer(std::move(file), stop);
  SEMRANK_RETURN_IF_ERROR(WriteHeader(writer, secret, written));
  std::int64_t num_records = 0;
  const auto write = [&](const VectorKey& key,
                         std::span<const float> vector) -> absl::Status {
    const auto model = std::ranges::find(
        written, key.model, [](const auto& served) { return served->number; });
    if (model == written.end()) return absl::OkStatus();
    ++num_records;
    SEMRANK_RETURN_IF_ERROR(writer.WriteValue(
        RecordStart{static_cast<std::uint32_t>(model - written.begin()),
                    key.side == Side::kQuery ? 0u : 1u}));
    SEMRANK_RETURN_IF_ERROR(writer.WriteValue(key.text));
    return writer.Write(
        {reinterpret_cast<const char*>(vector.data()), vector.size_bytes()});
  };
  SEMRANK_RETURN_IF_ERROR(cache.ForEach(write));
  SEMRANK_RETURN_IF_ERROR(writer.WriteValue(RecordStart{}));
  SEMRANK_RETURN_IF_ERROR(writer.WriteValue(num_records));
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  return num_records;
}

absl::StatusOr<CacheSnapshot> CacheSnapshot::Open(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(FileDescriptor file,
                           FileDescriptor::Open(path, O_RDONLY | O_NONBLOCK));
  SEMRANK_RETURN_IF_ERROR(CheckMagic(file));
  SEMRANK_RETURN_IF_ERROR(Rewind(file));
  CacheSnapshot snapshot(std::move(file));
  SnapshotReader reader(snapshot.file_);
  SEMRANK_ASSIGN_OR_RETURN(const SnapshotHeader header, ReadHeader(reader));
  SEMRANK_ASSIGN_OR_RETURN(snapshot.num_vectors_,
                           ReadRecords(reader, header,
                                       [](std::uint32_t, Side, Fingerprint,
                                          std::span<const float>) {}));
  snapshot.secret_ = header.secret;
  return snapshot;
}

absl::StatusOr<std::int64_t> CacheSnapshot::Restore(
    std::span<const ServedModelPtr> models, DocumentVectorCache& cache) const {
  SEMRANK_RETURN_IF_ERROR(Rewind(file_));
  SnapshotReader reader(file_);
  SEMRANK_ASSIGN_OR_RETURN(const SnapshotHeader header, ReadHeader(reader));
  if (header.secret != secret_) return reader.Damaged("has changed meanwhile");
  const std::vector<const ServedModel*> matches = MatchModels(models, header);
  const std::size_t entries_before = cache.GetStats().num_entries;
  absl::Status status;
  {
    Inserter inserter(cache);
    status = ReadRecords(
                 reader, header,
                 [&](std::uint32_t model, Side side, Fingerprint text,
                     std::span<const float> vector) {
                   if (matches[model] == nullptr) return;
                   inserter.Add({matches[model]->number, side, text}, vector);
                 })
                 .status();
  }
  if (!status.ok()) {
    cache.DropModelsExcept({});
    return status;
  }
  return static_cast<std::int64_t>(cache.GetStats().num_entries) -
         static_cast<std::int64_t>(entries_before);
}

}  // namespace semrank
