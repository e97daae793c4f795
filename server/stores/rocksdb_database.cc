#include "server/stores/rocksdb_database.h"

#include <errno.h>
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_descriptor.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// Twice what the tables in memory may take: before its log is deleted, a table
// is also in a file.
constexpr std::uint64_t kReservedBytes = std::uint64_t{128} << 20;

using Cache = std::shared_ptr<rocksdb::Cache>;

rocksdb::ColumnFamilyOptions FamilyOptions(const Cache& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // Otherwise indexes and filters would grow outside the cache, without bound.
  table.cache_index_and_filter_blocks = true;
  // 10 bits a key: about 1 % of the missing vectors cost a read.
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.write_buffer_size = std::size_t{32} << 20;
  return options;
}

rocksdb::ColumnFamilyOptions VectorFamilyOptions(const Cache& cache,
                                                 std::int64_t max_bytes) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  // FIFO compaction deletes the oldest tables when all of them together are
  // larger than max_table_files_size. allow_compaction merges small ones, since
  // a look-up tests the filter of every table.
  // Vectors are nearly random bits, which do not compress.
  options.compression = rocksdb::kNoCompression;
  options.compaction_style = rocksdb::kCompactionStyleFIFO;
  options.compaction_options_fifo.max_table_files_size =
      static_cast<std::uint64_t>(max_bytes);
  options.compaction_options_fifo.allow_compaction = true;
  return options;
}

rocksdb::ColumnFamilyOptions DocumentFamilyOptions(const Cache& cache) {
  rocksdb::ColumnFamilyOptions options = FamilyOptions(cache);
  // Unlike vectors, titles and payloads compress well, and LZ4 costs little.
  options.compression = rocksdb::kLZ4Compression;
  return options;
}

rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env, bool create) {
  rocksdb::DBOptions options;
  options.env = env;
  // Never creates one by itself: over files whose list was lost, that would
  // begin a new database.
  options.create_if_missing = create;
  options.create_missing_column_families = create;
  options.error_if_exists = create;
  // A crash leaves at most an unfinished record at the end of the log. Damage
  // before the end is an error: skipping it would silently lose documents.
  options.wal_recovery_mode =
      rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.track_and_verify_wals_in_manifest = true;
  options.db_write_buffer_size = std::size_t{64} << 20;
  options.max_total_wal_size = std::size_t{256} << 20;
  // FIFO compaction requires it; there are only few files, since they are
  // large.
  options.max_open_files = -1;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  // RocksDB would keep 1,000 text logs of any size.
  options.keep_log_file_num = 2;
  options.max_log_file_size = std::size_t{1} << 20;
  return options;
}

// The default family has the secret. The families share one cache.
std::vector<rocksdb::ColumnFamilyDescriptor> StoreFamilies(
    std::int64_t max_vector_bytes) {
  const Cache cache = rocksdb::NewLRUCache(std::size_t{64} << 20);
  return {{rocksdb::kDefaultColumnFamilyName, FamilyOptions(cache)},
          {"vectors", VectorFamilyOptions(cache, max_vector_bytes)},
          {"documents", DocumentFamilyOptions(cache)}};
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

absl::Status FromRocksDb(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return {CodeOf(status), status.ToString()};
}

absl::Status CheckRoom(const std::string& folder, std::size_t num_bytes) {
  struct statvfs disk;
  if (statvfs(folder.c_str(), &disk) != 0) {
    return ErrnoStatus(errno, "look for room in", folder);
  }
  const std::uint64_t free = disk.f_bavail * disk.f_frsize;
  // Twice, for a log and a table. On a small disk the reserve is a sixteenth,
  // so that it does not take all of it.
  const std::uint64_t needed =
      2 * num_bytes + std::min<std::uint64_t>(
                          kReservedBytes, disk.f_blocks * disk.f_frsize / 16);
  if (free >= needed) return absl::OkStatus();
  constexpr double kMiB = 1 << 20;
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the disk is full: %.1f MiB are free, and writing needs %.1f MiB",
      static_cast<double>(free) / kMiB, static_cast<double>(needed) / kMiB));
}

RocksDbDatabase::RocksDbDatabase(std::string folder)
    : folder_(std::move(folder)),
      files_(FreezingFileSystem::Create()),
      env_(rocksdb::NewCompositeEnv(files_)) {}

absl::StatusOr<std::shared_ptr<RocksDbDatabase>> RocksDbDatabase::Open(
    const std::string& folder, std::int64_t max_vector_bytes, bool create) {
  const std::shared_ptr<RocksDbDatabase> opened(new RocksDbDatabase(folder));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(DatabaseOptions(opened->env_.get(), create), folder,
                        StoreFamilies(max_vector_bytes), &handles, &database);
  if (status.ok()) {
    opened->db_.reset(database);
    opened->secret_.reset(handles[0]);
    opened->vectors_.reset(handles[1]);
    opened->documents_.reset(handles[2]);
  }
  // RocksDB has no code for these two.
  if (status.ToString().find("for lock: ") != std::string::npos) {
    return absl::FailedPreconditionError(status.ToString());
  }
  if (status.ToString().find("/LOCK:") != std::string::npos) {
    return absl::FailedPreconditionError(
        "another process has it open; each server needs a store of its own, or "
        "Redis");
  }
  // After a failed write, files that look damaged may only be incomplete.
  SEMRANK_RETURN_IF_ERROR(opened->State());
  // A missing file is an I/O error for RocksDB, but damage for a store.
  if (!status.ok()) {
    const absl::StatusCode code = CodeOf(status);
    return absl::Status(code == absl::StatusCode::kUnavailable
                            ? absl::StatusCode::kDataLoss
                            : code,
                        status.ToString());
  }
  return opened;
}

absl::Status RocksDbDatabase::Write(rocksdb::WriteBatch& batch, bool sync) {
  SEMRANK_RETURN_IF_ERROR(CheckRoom(folder_, batch.GetDataSize()));
  rocksdb::WriteOptions options;
  // Without a sync a write survives the end of the process, not of the machine.
  options.sync = sync;
  // RocksDB groups writers that wait, so that they share one sync.
  const rocksdb::Status written = db_->Write(options, &batch);
  // Once frozen, RocksDB reports success for what was not written.
  SEMRANK_RETURN_IF_ERROR(State());
  return FromRocksDb(written);
}

absl::Status RocksDbDatabase::State() const {
  if (!files_->frozen()) return absl::OkStatus();
  return absl::UnavailableError(files_->error().ToString());
}

}  // namespace semrank
