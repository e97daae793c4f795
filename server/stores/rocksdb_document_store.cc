#include "server/stores/rocksdb_document_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/stores/store_folder.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

using Cache = std::shared_ptr<rocksdb::Cache>;

rocksdb::ColumnFamilyOptions FamilyOptions(const Cache& cache) {
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

rocksdb::ColumnFamilyOptions VectorFamilyOptions(const Cache& cache,
                                                 std::int64_t max_bytes) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  // Random bits do not get smaller.
  options.compression = rocksdb::kNoCompression;
  options.compaction_style = rocksdb::kCompactionStyleFIFO;
  options.compaction_options_fifo.max_table_files_size =
      static_cast<std::uint64_t>(max_bytes);
  options.compaction_options_fifo.allow_compaction = true;
  return options;
}

rocksdb::ColumnFamilyOptions DocumentFamilyOptions(const Cache& cache) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  options.compression = rocksdb::kLZ4Compression;
  return options;
}

// How RocksDB is set up: bounded memory, bounded vectors, and no damage that
// passes unnoticed. `create`: make a new database, where there must be none;
// otherwise open the one that is there, and never make one.
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

// The default family (the secret), vectors and documents, in this order; they
// share one cache.
std::vector<rocksdb::ColumnFamilyDescriptor> StoreFamilies(
    std::int64_t max_vector_bytes) {
  const Cache cache = rocksdb::NewLRUCache(std::size_t{64} << 20);
  return {{rocksdb::kDefaultColumnFamilyName, FamilyOptions(cache)},
          {"vectors", VectorFamilyOptions(cache, max_vector_bytes)},
          {"documents", DocumentFamilyOptions(cache)}};
}

constexpr const char* kSecretKey = "secret";

rocksdb::Slice ToSlice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
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
  const absl::StatusOr<std::string> folder =
      StoreFolder(options.path, [&options](const std::string& unfinished) {
        return Create(options, unfinished);
      });
  SEMRANK_RETURN_IF_ERROR(store->Named(folder.status()));
  SEMRANK_RETURN_IF_ERROR(store->Named(store->OpenDatabase(
      *folder, options.max_vector_bytes, /*create=*/false)));
  SEMRANK_RETURN_IF_ERROR(store->LoadSecret());
  return store;
}

// With all that Open asks for.
absl::Status RocksDbDocumentStore::Create(const Options& options,
                                          const std::string& folder) {
  RocksDbDocumentStore store(options.path);
  SEMRANK_RETURN_IF_ERROR(
      store.OpenDatabase(folder, options.max_vector_bytes, /*create=*/true));
  const Fingerprinter::Secret secret = Fingerprinter::RandomSecret();
  rocksdb::WriteBatch batch;
  batch.Put(store.default_.get(), kSecretKey,
            {reinterpret_cast<const char*>(secret.data()), secret.size()});
  return store.Write(batch, /*sync=*/true);
}

absl::Status RocksDbDocumentStore::OpenDatabase(const std::string& folder,
                                                std::int64_t max_vector_bytes,
                                                bool create) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(DatabaseOptions(create), folder,
                        StoreFamilies(max_vector_bytes), &handles, &database);
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
