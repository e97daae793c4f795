#include "server/core/rocksdb_document_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "server/core/store_records.h"

namespace semrank {
namespace {

constexpr const char* kVectors = "vectors";
constexpr const char* kDocuments = "documents";
constexpr const char* kSecretKey = "secret";
constexpr const char* kDatabase = "/rocksdb";
constexpr std::string_view kUnfinished = "unfinished-";
constexpr const char* kFormatFile = "FORMAT";
// kStoreFormat is the number.
constexpr const char* kFormatLine = "semrank store 1\n";
static_assert(kStoreFormat == 1);
constexpr std::size_t kMaxFormatBytes = 256;

rocksdb::DBOptions DatabaseOptions(bool create) {
  rocksdb::DBOptions options;
  // Never by itself: over files that have lost their list it would make a new
  // database.
  options.create_if_missing = create;
  options.create_missing_column_families = create;
  options.error_if_exists = create;
  // A log that is damaged before its end would lose documents in silence.
  options.wal_recovery_mode =
      rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.track_and_verify_wals_in_manifest = true;
  options.db_write_buffer_size = std::size_t{64} << 20;
  options.max_total_wal_size = std::size_t{256} << 20;
  // What FIFO compaction asks for; files are large, so there are few.
  options.max_open_files = -1;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.keep_log_file_num = 2;
  options.max_log_file_size = std::size_t{1} << 20;
  return options;
}

rocksdb::ColumnFamilyOptions FamilyOptions(
    const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // Otherwise indexes and filters would grow beside the cache, unbounded.
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = std::size_t{32} << 20;
  return options;
}

rocksdb::ColumnFamilyOptions VectorFamilyOptions(
    const std::shared_ptr<rocksdb::Cache>& cache, std::int64_t max_bytes) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  // Random bits do not get smaller.
  options.compression = rocksdb::kNoCompression;
  options.compaction_style = rocksdb::kCompactionStyleFIFO;
  options.compaction_options_fifo.max_table_files_size =
      static_cast<std::uint64_t>(max_bytes);
  options.compaction_options_fifo.allow_compaction = true;
  return options;
}

rocksdb::ColumnFamilyOptions DocumentFamilyOptions(
    const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  options.compression = rocksdb::kLZ4Compression;
  return options;
}

rocksdb::Slice ToSlice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// OK when a store may be made in `path`: nothing is there but what file systems
// put there themselves and what a start that was killed left.
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
        "the folder is no semrank store and holds \"%s\"", file));
  }
  return absl::OkStatus();
}

absl::Status CheckFormat(const std::string& path) {
  const std::string file = path + "/" + kFormatFile;
  SEMRANK_ASSIGN_OR_RETURN(const std::string line,
                           ReadFile(file, kMaxFormatBytes));
  if (line == kFormatLine) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s says \"%s\" and this program knows \"%s\"; nothing was changed", file,
      absl::CHexEscape(line), absl::CHexEscape(kFormatLine)));
}

absl::StatusCode CodeOf(const rocksdb::Status& status) {
  if (status.IsCorruption() || status.IsNotFound())
    return absl::StatusCode::kDataLoss;
  if (status.IsTimedOut()) return absl::StatusCode::kDeadlineExceeded;
  if (status.IsNoSpace() || status.IsMemoryLimit()) {
    return absl::StatusCode::kResourceExhausted;
  }
  return absl::StatusCode::kUnavailable;
}

}  // namespace

RocksDbDocumentStore::RocksDbDocumentStore(const std::string& path)
    : name_("rocksdb:" + path) {}

RocksDbDocumentStore::~RocksDbDocumentStore() = default;

absl::StatusOr<std::unique_ptr<RocksDbDocumentStore>>
RocksDbDocumentStore::Open(const Options& options) {
  std::unique_ptr<RocksDbDocumentStore> store(
      new RocksDbDocumentStore(options.path));
  std::error_code unknown;
  if (!std::filesystem::exists(options.path + kDatabase, unknown)) {
    SEMRANK_RETURN_IF_ERROR(store->Named(Create(options)));
  }
  SEMRANK_RETURN_IF_ERROR(store->Named(CheckFormat(options.path)));
  SEMRANK_RETURN_IF_ERROR(store->Named(store->OpenDatabase(
      options.path + kDatabase, options.max_vector_bytes, /*create=*/false)));
  SEMRANK_RETURN_IF_ERROR(store->LoadSecret());
  return store;
}

// The database is made under another name and renamed once it holds all that
// Open asks for, so a start that is killed leaves nothing that looks damaged.
absl::Status RocksDbDocumentStore::Create(const Options& options) {
  std::error_code error;
  std::filesystem::create_directory(options.path, error);
  if (error) return ErrnoStatus(error.value(), "create", options.path);
  SEMRANK_RETURN_IF_ERROR(CheckNoFilesOfOthers(options.path));
  std::string folder =
      absl::StrFormat("%s/%sXXXXXX", options.path, kUnfinished);
  if (mkdtemp(folder.data()) == nullptr) {
    return ErrnoStatus(errno, "create a folder in", options.path);
  }
  {
    RocksDbDocumentStore store(options.path);
    SEMRANK_RETURN_IF_ERROR(
        store.OpenDatabase(folder, options.max_vector_bytes, /*create=*/true));
    const Fingerprinter::Secret secret = Fingerprinter::RandomSecret();
    rocksdb::WriteBatch batch;
    batch.Put(store.default_.get(), kSecretKey,
              {reinterpret_cast<const char*>(secret.data()), secret.size()});
    SEMRANK_RETURN_IF_ERROR(store.Write(batch, /*sync=*/true));
  }
  SEMRANK_RETURN_IF_ERROR(
      ReplaceFile(options.path + "/" + kFormatFile, kFormatLine));
  // Fails when another server was faster; then there is one all the same.
  if (rename(folder.c_str(), (options.path + kDatabase).c_str()) != 0 &&
      errno != ENOTEMPTY && errno != EEXIST) {
    return ErrnoStatus(errno, "rename", folder);
  }
  return SyncDirectory(options.path);
}

absl::Status RocksDbDocumentStore::OpenDatabase(const std::string& folder,
                                                std::int64_t max_vector_bytes,
                                                bool create) {
  const std::shared_ptr<rocksdb::Cache> cache =
      rocksdb::NewLRUCache(std::size_t{64} << 20);
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, FamilyOptions(cache)},
      {kVectors, VectorFamilyOptions(cache, max_vector_bytes)},
      {kDocuments, DocumentFamilyOptions(cache)}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      DatabaseOptions(create), folder, families, &handles, &database);
  // RocksDB has no code for it.
  if (status.ToString().find("/LOCK:") != std::string::npos) {
    return absl::FailedPreconditionError(
        "another process has it open; each server needs a store of its own, or "
        "Redis");
  }
  // Nor for all damage: a file that is missing is an I/O error.
  if (!status.ok()) {
    const absl::StatusCode code = CodeOf(status);
    return {code == absl::StatusCode::kUnavailable ? absl::StatusCode::kDataLoss
                                                   : code,
            status.ToString()};
  }
  database_.reset(database);
  default_.reset(handles[0]);
  vectors_.reset(handles[1]);
  documents_.reset(handles[2]);
  return absl::OkStatus();
}

absl::Status RocksDbDocumentStore::LoadSecret() {
  std::string bytes;
  SEMRANK_RETURN_IF_ERROR(
      ToStatus(database_->Get({}, default_.get(), kSecretKey, &bytes)));
  Fingerprinter::Secret secret;
  if (bytes.size() != secret.size()) {
    return Named(absl::DataLossError(absl::StrFormat(
        "the secret has %d bytes, not %d", bytes.size(), secret.size())));
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
  const VectorKeys keys(*fingerprint_, space, normalized_texts);
  std::vector<rocksdb::Slice> slices;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    slices.push_back(ToSlice(keys[i]));
  }
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  rocksdb::ReadOptions options;
  options.deadline =
      std::chrono::microseconds(database_->GetEnv()->NowMicros()) +
      absl::ToChronoMicroseconds(time_limit);
  database_->MultiGet(options, vectors_.get(), keys.size(), slices.data(),
                      values.data(), statuses.data());
  for (const rocksdb::Status& status : statuses) {
    if (!status.ok() && !status.IsNotFound()) return ToStatus(status);
  }
  Found result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok()) continue;
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    const bool good = ReadVectorValue(keys[i], ToView(values[i]), row);
    found[i] = good ? 1 : 0;
    ++(good ? result.num_found : result.num_refused);
  }
  return result;
}

absl::Status RocksDbDocumentStore::WriteVectors(
    const VectorSpace& space,
    std::span<const std::string_view> normalized_texts, const float* rows) {
  const VectorKeys keys(*fingerprint_, space, normalized_texts);
  rocksdb::WriteBatch batch;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    batch.Put(vectors_.get(), ToSlice(keys[i]), VectorValue(keys[i], row));
  }
  return Write(batch, /*sync=*/false);
}

absl::Status RocksDbDocumentStore::PutDocuments(
    std::span<const StoredDocument> documents) {
  rocksdb::WriteBatch batch;
  for (const StoredDocument& document : documents) {
    const std::string key = DocumentKeyBytes(document.key);
    batch.Put(documents_.get(), key, DocumentValue(key, document));
  }
  return Write(batch, /*sync=*/true);
}

absl::Status RocksDbDocumentStore::DeleteDocuments(
    std::span<const DocumentKeyView> keys) {
  rocksdb::WriteBatch batch;
  for (const DocumentKeyView& key : keys) {
    batch.Delete(documents_.get(), DocumentKeyBytes(key));
  }
  return Write(batch, /*sync=*/true);
}

absl::Status RocksDbDocumentStore::LoadDocuments(
    const std::function<absl::Status(const StoredDocument&)>& visit) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = std::size_t{2} << 20;
  const std::unique_ptr<rocksdb::Iterator> entry(
      database_->NewIterator(options, documents_.get()));
  std::vector<float> vector;
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    const absl::StatusOr<StoredDocument> document =
        ReadDocument(ToView(entry->key()), ToView(entry->value()), vector);
    if (!document.ok()) return Named(document.status());
    SEMRANK_RETURN_IF_ERROR(visit(*document));
  }
  return ToStatus(entry->status());
}

absl::Status RocksDbDocumentStore::Write(rocksdb::WriteBatch& batch,
                                         bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  return ToStatus(database_->Write(options, &batch));
}

absl::Status RocksDbDocumentStore::ToStatus(
    const rocksdb::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  return Named(absl::Status(CodeOf(status), status.ToString()));
}

absl::Status RocksDbDocumentStore::Named(const absl::Status& status) const {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  return {status.code(), absl::StrFormat("%s: %s", name_, message)};
}

}  // namespace semrank
