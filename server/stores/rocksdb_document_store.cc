#include "server/stores/rocksdb_document_store.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

constexpr const char* kSecretKey = "secret";
// The time between two attempts to open a database again.
constexpr std::chrono::seconds kOpeningInterval(1);

// Names in the folder of a store (rocksdb_document_store.h).
constexpr const char* kDatabase = "rocksdb";
constexpr std::string_view kUnfinished = "unfinished-";
constexpr const char* kFormatFile = "FORMAT";
constexpr const char* kFolderFormatLine = "semrank store 1\n";
static_assert(kStoreFormat == 1);
constexpr std::size_t kMaxFormatBytes = 256;

// Returns OK if a store may be created in `path`: it has only what file systems
// put there themselves, and what a start that was killed left.
absl::Status CheckNoFilesOfOthers(const std::string& path) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(path, error);
  if (error) return ErrnoStatus(error.value(), "open", path);
  for (const auto& entry : entries) {
    const std::string file = entry.path().filename();
    if (file == "lost+found" || file == kFormatFile ||
        file.starts_with(kUnfinished)) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrFormat(
        "the folder is not a semrank store and holds \"%s\"", file));
  }
  return absl::OkStatus();
}

absl::Status CheckFormat(const std::string& path) {
  const std::string file = path + "/" + kFormatFile;
  SEMRANK_ASSIGN_OR_RETURN(const std::string line,
                           ReadFile(file, kMaxFormatBytes));
  if (line == kFolderFormatLine) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s says \"%s\" and this program knows \"%s\"; nothing was changed", file,
      absl::CHexEscape(line), absl::CHexEscape(kFolderFormatLine)));
}

// Creates the database under another name and renames it once it is complete,
// so a start that is killed leaves nothing that looks damaged. The next start
// ignores what is left.
absl::Status CreateFolder(
    const std::string& path, const std::string& database,
    const std::function<absl::Status(const std::string&)>& create) {
  std::error_code error;
  std::filesystem::create_directory(path, error);
  if (error) return ErrnoStatus(error.value(), "create", path);
  SEMRANK_RETURN_IF_ERROR(CheckNoFilesOfOthers(path));
  std::string folder = absl::StrFormat("%s/%sXXXXXX", path, kUnfinished);
  if (mkdtemp(folder.data()) == nullptr) {
    return ErrnoStatus(errno, "create a folder in", path);
  }
  SEMRANK_RETURN_IF_ERROR(create(folder));
  // Before the rename, so that a database never is there without its format.
  SEMRANK_RETURN_IF_ERROR(
      ReplaceFile(path + "/" + kFormatFile, kFolderFormatLine));
  // Failing because another server was faster is no error: there is a database.
  if (rename(folder.c_str(), database.c_str()) != 0 && errno != ENOTEMPTY &&
      errno != EEXIST) {
    return ErrnoStatus(errno, "rename", folder);
  }
  // Before this a crash of the machine could undo the rename.
  return SyncDirectory(path);
}

// Returns the database's folder in `path`; without one, creates it by
// `create(folder)`. Creates `path` too, whose parent must exist. Fails with
// FailedPrecondition if there are other files, or another format.
absl::StatusOr<std::string> StoreFolder(
    const std::string& path,
    const std::function<absl::Status(const std::string& folder)>& create) {
  std::string database = path + "/" + kDatabase;
  std::error_code unknown;
  if (!std::filesystem::exists(database, unknown)) {
    SEMRANK_RETURN_IF_ERROR(CreateFolder(path, database, create));
  }
  // This is checked after a creation too: another server may have been faster.
  SEMRANK_RETURN_IF_ERROR(CheckFormat(path));
  return database;
}

}  // namespace

RocksDbDocumentStore::RocksDbDocumentStore(const Options& options,
                                           std::string folder)
    : name_("rocksdb:" + options.path),
      folder_(std::move(folder)),
      max_vector_bytes_(options.max_vector_bytes) {}

absl::StatusOr<std::unique_ptr<RocksDbDocumentStore>>
RocksDbDocumentStore::Open(const Options& options) {
  absl::StatusOr<std::string> folder =
      StoreFolder(options.path, [&options](const std::string& unfinished) {
        return Create(options, unfinished);
      });
  std::unique_ptr<RocksDbDocumentStore> store(
      new RocksDbDocumentStore(options, folder.value_or("")));
  SEMRANK_RETURN_IF_ERROR(store->Named(folder.status()));
  // Calls would open the database too, but a store that cannot be used must end
  // the start.
  const auto database = store->Database();
  SEMRANK_RETURN_IF_ERROR(database.status());
  SEMRANK_RETURN_IF_ERROR(store->Named(store->LoadSecret(**database)));
  return store;
}

// Creates a complete database: with its families and its secret.
absl::Status RocksDbDocumentStore::Create(const Options& options,
                                          const std::string& folder) {
  SEMRANK_ASSIGN_OR_RETURN(
      const auto database,
      RocksDbDatabase::Open(folder, options.max_vector_bytes, /*create=*/true));
  const Fingerprinter::Secret secret = Fingerprinter::RandomSecret();
  rocksdb::WriteBatch batch;
  batch.Put(database->secret(), kSecretKey,
            {reinterpret_cast<const char*>(secret.data()), secret.size()});
  return database->Write(batch, /*sync=*/true);
}

// Any call may find the database frozen. A call that is its only user closes it
// and opens it again; others fail rather than wait.
absl::StatusOr<std::shared_ptr<RocksDbDatabase>>
RocksDbDocumentStore::Database() {
  std::shared_ptr<RocksDbDatabase> frozen;
  {
    MutexLock lock(mutex_);
    if (database_ != nullptr) {
      last_error_ = database_->State();
      if (last_error_.ok()) return database_;
      // Other calls still use the database, whose files are locked until they
      // end.
      if (database_.use_count() > 1) return Named(last_error_);
      SEMRANK_RETURN_IF_ERROR(Named(CheckRoom(folder_, 0)));
    }
    if (is_opening_ || Clock::now() < next_opening_) return Named(last_error_);
    is_opening_ = true;
    frozen = std::move(database_);
  }
  // RocksDB locks its files, so the frozen database must be closed before it is
  // opened again. mutex_ is not held, since replaying the log takes seconds.
  frozen.reset();
  absl::StatusOr<std::shared_ptr<RocksDbDatabase>> opened =
      RocksDbDatabase::Open(folder_, max_vector_bytes_, /*create=*/false);
  MutexLock lock(mutex_);
  is_opening_ = false;
  if (opened.ok()) return database_ = *std::move(opened);
  last_error_ = opened.status();
  next_opening_ = Clock::now() + kOpeningInterval;
  return Named(last_error_);
}

absl::Status RocksDbDocumentStore::LoadSecret(const RocksDbDatabase& database) {
  std::string bytes;
  SEMRANK_RETURN_IF_ERROR(FromRocksDb(
      database.db().Get({}, database.secret(), kSecretKey, &bytes)));
  Fingerprinter::Secret secret;
  if (bytes.size() != secret.size()) {
    return absl::DataLossError(absl::StrFormat(
        "the secret has %d bytes, not %d", bytes.size(), secret.size()));
  }
  std::memcpy(secret.data(), bytes.data(), secret.size());
  fingerprint_ = std::make_unique<const Fingerprinter>(secret);
  return absl::OkStatus();
}

absl::StatusOr<DocumentStore::Found> RocksDbDocumentStore::FindVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts,
    absl::Duration time_limit, float* rows, std::span<std::uint8_t> found) {
  std::ranges::fill(found, std::uint8_t{0});
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  const VectorKeys keys(*fingerprint_, space, normalized_texts);
  std::vector<rocksdb::Slice> slices;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    slices.emplace_back(keys[i]);
  }
  // PinnableSlice views a block of the cache in place of copying the vector.
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  rocksdb::ReadOptions options;
  // RocksDB's deadlines are microseconds since 1970 by its own clock.
  options.deadline =
      std::chrono::microseconds(database->db().GetEnv()->NowMicros()) +
      absl::ToChronoMicroseconds(time_limit);
  database->db().MultiGet(options, database->vectors(), keys.size(),
                          slices.data(), values.data(), statuses.data());
  for (const rocksdb::Status& status : statuses) {
    // A failed read is an error and no miss: the caller then bypasses the
    // store.
    if (!status.ok() && !status.IsNotFound()) return Named(FromRocksDb(status));
  }
  Found result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok()) continue;
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    const bool good = ReadVectorValue(keys[i], values[i].ToStringView(), row);
    found[i] = good ? 1 : 0;
    ++(good ? result.num_found : result.num_refused);
  }
  return result;
}

absl::Status RocksDbDocumentStore::WriteVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts, const float* rows) {
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  const VectorKeys keys(*fingerprint_, space, normalized_texts);
  rocksdb::WriteBatch batch;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    batch.Put(database->vectors(), keys[i], VectorValue(keys[i], row));
  }
  // Not synced: vectors that a crash loses can be computed again.
  return Named(database->Write(batch, /*sync=*/false));
}

absl::Status RocksDbDocumentStore::PutDocuments(
    std::span<const StoredDocument> documents) {
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  rocksdb::WriteBatch batch;
  for (const StoredDocument& document : documents) {
    const std::string key = DocumentKeyBytes(document.key);
    batch.Put(database->documents(), key, DocumentValue(key, document));
  }
  // A sync, because an acknowledged document must survive a crash.
  return Named(database->Write(batch, /*sync=*/true));
}

absl::Status RocksDbDocumentStore::DeleteDocuments(
    std::span<const DocumentKeyView> keys) {
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  rocksdb::WriteBatch batch;
  for (const DocumentKeyView& key : keys) {
    batch.Delete(database->documents(), DocumentKeyBytes(key));
  }
  return Named(database->Write(batch, /*sync=*/true));
}

absl::Status RocksDbDocumentStore::LoadDocuments(const VisitDocument& visit) {
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  rocksdb::ReadOptions options;
  // Documents are read once and must not evict what other calls need.
  options.fill_cache = false;
  options.readahead_size = std::size_t{2} << 20;
  const std::unique_ptr<rocksdb::Iterator> entry(
      database->db().NewIterator(options, database->documents()));
  std::vector<float> vector;
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    const absl::StatusOr<StoredDocument> document = ReadDocument(
        entry->key().ToStringView(), entry->value().ToStringView(), vector);
    if (!document.ok()) return Named(document.status());
    SEMRANK_RETURN_IF_ERROR(visit(*document));
  }
  return Named(FromRocksDb(entry->status()));
}

}  // namespace semrank
