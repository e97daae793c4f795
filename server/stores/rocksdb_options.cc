#include "server/stores/rocksdb_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <memory>

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

}  // namespace

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

std::vector<rocksdb::ColumnFamilyDescriptor> StoreFamilies(
    std::int64_t max_vector_bytes) {
  const Cache cache = rocksdb::NewLRUCache(std::size_t{64} << 20);
  return {{rocksdb::kDefaultColumnFamilyName, FamilyOptions(cache)},
          {"vectors", VectorFamilyOptions(cache, max_vector_bytes)},
          {"documents", DocumentFamilyOptions(cache)}};
}

}  // namespace semrank
