#include "server/vectors/cache_snapshot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "model/base/file_io.h"
#include "model/base/file_replacement.h"
#include "model/base/status_macros.h"
#include "server/vectors/cache_snapshot_file.h"

namespace semrank {
namespace {

constexpr std::size_t kInsertedVectors = 256;

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
  return CheckSnapshotMagic(*file);
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
    SnapshotRecordStart start;
    SEMRANK_RETURN_IF_ERROR(reader.ReadValue(start));
    if (start.model == kSnapshotEnd) {
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

SnapshotHeader HeaderOf(const Fingerprinter::Secret& secret,
                        std::span<const ServedModelPtr> models) {
  SnapshotHeader header = {.secret = secret, .models = {}};
  for (const ServedModelPtr& served : models) {
    header.models.push_back(
        {.identity = served->model->version().identity,
         .dim = static_cast<std::uint32_t>(served->model->embedding_dim())});
  }
  return header;
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
  SEMRANK_RETURN_IF_ERROR(writer.WriteHeader(HeaderOf(secret, written)));
  std::int64_t num_records = 0;
  const auto write = [&](const VectorKey& key,
                         std::span<const float> vector) -> absl::Status {
    const auto model = std::ranges::find(
        written, key.model, [](const auto& served) { return served->number; });
    if (model == written.end()) return absl::OkStatus();
    ++num_records;
    SEMRANK_RETURN_IF_ERROR(writer.WriteValue(
        SnapshotRecordStart{static_cast<std::uint32_t>(model - written.begin()),
                            key.side == Side::kQuery ? 0u : 1u}));
    SEMRANK_RETURN_IF_ERROR(writer.WriteValue(key.text));
    return writer.Write(
        {reinterpret_cast<const char*>(vector.data()), vector.size_bytes()});
  };
  SEMRANK_RETURN_IF_ERROR(cache.ForEach(write));
  SEMRANK_RETURN_IF_ERROR(writer.WriteValue(SnapshotRecordStart{}));
  SEMRANK_RETURN_IF_ERROR(writer.WriteValue(num_records));
  SEMRANK_RETURN_IF_ERROR(writer.Finish());
  return num_records;
}

absl::StatusOr<CacheSnapshot> CacheSnapshot::Open(const std::string& path) {
  SEMRANK_ASSIGN_OR_RETURN(FileDescriptor file,
                           FileDescriptor::Open(path, O_RDONLY | O_NONBLOCK));
  SEMRANK_RETURN_IF_ERROR(CheckSnapshotMagic(file));
  SEMRANK_RETURN_IF_ERROR(Rewind(file));
  CacheSnapshot snapshot(std::move(file));
  SnapshotReader reader(snapshot.file_);
  SEMRANK_ASSIGN_OR_RETURN(const SnapshotHeader header, reader.ReadHeader());
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
  SEMRANK_ASSIGN_OR_RETURN(const SnapshotHeader header, reader.ReadHeader());
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
