#include "server/stores/rocksdb_document_store.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "server/stores/change_log.h"
#include "server/stores/store_folder.h"
#include "server/stores/store_records.h"

namespace semrank {
namespace {

constexpr const char* kSecretKey = "secret";
// Between two attempts to open a database again.
constexpr absl::Duration kOpeningInterval = absl::Seconds(1);

rocksdb::Slice ToSlice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view ToView(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

}  // namespace

RocksDbDocumentStore::RocksDbDocumentStore(const Options& options,
                                           std::string folder)
    : name_("rocksdb:" + options.path),
      folder_(std::move(folder)),
      max_vector_bytes_(options.max_vector_bytes) {}

RocksDbDocumentStore::~RocksDbDocumentStore() = default;

absl::StatusOr<std::unique_ptr<RocksDbDocumentStore>>
RocksDbDocumentStore::Open(const Options& options) {
  absl::StatusOr<std::string> folder =
      StoreFolder(options.path, [&options](const std::string& unfinished) {
        return Create(options, unfinished);
      });
  std::unique_ptr<RocksDbDocumentStore> store(
      new RocksDbDocumentStore(options, folder.value_or("")));
  SEMRANK_RETURN_IF_ERROR(store->Named(folder.status()));
  // Opened here although calls would do it: a store that cannot be used must
  // end the start.
  const auto database = store->Database();
  SEMRANK_RETURN_IF_ERROR(database.status());
  SEMRANK_RETURN_IF_ERROR(store->Named(store->LoadSecret(**database)));
  return store;
}

// With all that Open asks for.
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

// Any call may find the database frozen. The one that finds itself its only
// user closes it and opens it again; others fail instead of waiting.
absl::StatusOr<std::shared_ptr<RocksDbDatabase>>
RocksDbDocumentStore::Database() {
  std::shared_ptr<RocksDbDatabase> frozen;
  {
    MutexLock lock(mutex_);
    if (database_ != nullptr) {
      last_error_ = database_->State();
      if (last_error_.ok()) return database_;
      // Its files are locked until the last call has left it.
      if (database_.use_count() > 1) return Named(last_error_);
      SEMRANK_RETURN_IF_ERROR(Named(CheckRoom(folder_, 0)));
    }
    if (is_opening_ || absl::Now() < next_opening_) return Named(last_error_);
    is_opening_ = true;
    frozen = std::move(database_);
  }
  // Without the lock: a log takes seconds to read.
  frozen.reset();
  absl::StatusOr<std::shared_ptr<RocksDbDatabase>> opened =
      RocksDbDatabase::Open(folder_, max_vector_bytes_, /*create=*/false);
  MutexLock lock(mutex_);
  is_opening_ = false;
  if (opened.ok()) return database_ = *std::move(opened);
  last_error_ = opened.status();
  next_opening_ = absl::Now() + kOpeningInterval;
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
    slices.push_back(ToSlice(keys[i]));
  }
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  rocksdb::ReadOptions options;
  // RocksDB's deadlines are times of its own clock, in microseconds since 1970.
  options.deadline =
      std::chrono::microseconds(database->db().GetEnv()->NowMicros()) +
      absl::ToChronoMicroseconds(time_limit);
  database->db().MultiGet(options, database->vectors(), keys.size(),
                          slices.data(), values.data(), statuses.data());
  for (const rocksdb::Status& status : statuses) {
    // A read that fails is no miss: the caller must bypass the store.
    if (!status.ok() && !status.IsNotFound()) return Named(FromRocksDb(status));
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
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  const VectorKeys keys(*fingerprint_, space, normalized_texts);
  rocksdb::WriteBatch batch;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::span row(rows + i * space.dim, std::size_t(space.dim));
    batch.Put(database->vectors(), ToSlice(keys[i]), VectorValue(keys[i], row));
  }
  // Vectors can be computed again, so no request waits for the disk.
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
  // Synced before it is acknowledged: it must survive a crash of the machine.
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

absl::Status RocksDbDocumentStore::LoadDocuments(
    const std::function<absl::Status(const StoredDocument&)>& visit) {
  SEMRANK_ASSIGN_OR_RETURN(const auto database, Database());
  rocksdb::ReadOptions options;
  // Each document is read once and must not displace what calls need.
  options.fill_cache = false;
  options.readahead_size = std::size_t{2} << 20;
  const std::unique_ptr<rocksdb::Iterator> entry(
      database->db().NewIterator(options, database->documents()));
  std::vector<float> vector;
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    const absl::StatusOr<StoredDocument> document =
        ReadDocument(ToView(entry->key()), ToView(entry->value()), vector);
    if (!document.ok()) return Named(document.status());
    SEMRANK_RETURN_IF_ERROR(visit(*document));
  }
  return Named(FromRocksDb(entry->status()));
}

std::unique_ptr<ChangeLog> RocksDbDocumentStore::OpenChangeLog() {
  return nullptr;
}

}  // namespace semrank
