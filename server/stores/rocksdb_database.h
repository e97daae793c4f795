// One opening of the store's RocksDB database, and how it is set up: bounded
// memory, bounded vectors, no damage that passes unnoticed, and a full disk
// that ends no process.
//
//   Full     a write is refused while the disk has less than 128 MiB free, or
//            a sixteenth of a smaller file system: what RocksDB holds in memory
//            must still get to the disk. The first write that fails all the
//            same freezes the database (freezing_file_system.h): what was
//            written before is there when it is opened again.
//   Threads  thread-safe.
//   Errors   without the store's name. FailedPrecondition from Open: another
//            process has it. DataLoss: damage. ResourceExhausted: no room.
//            Unavailable: frozen.
#ifndef SEMRANK_SERVER_STORES_ROCKSDB_DATABASE_H_
#define SEMRANK_SERVER_STORES_ROCKSDB_DATABASE_H_

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/stores/freezing_file_system.h"

namespace semrank {

absl::Status FromRocksDb(const rocksdb::Status& status);

// Ok while the disk of `folder` has room for a write of `num_bytes`.
absl::Status CheckRoom(const std::string& folder, std::size_t num_bytes);

class RocksDbDatabase {
 public:
  // `create`: makes a new database, where there must be none; otherwise opens
  // the one that is there, and never makes one.
  static absl::StatusOr<std::shared_ptr<RocksDbDatabase>> Open(
      const std::string& folder, std::int64_t max_vector_bytes, bool create);

  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* secret() const { return secret_.get(); }
  rocksdb::ColumnFamilyHandle* vectors() const { return vectors_.get(); }
  rocksdb::ColumnFamilyHandle* documents() const { return documents_.get(); }

  absl::Status Write(rocksdb::WriteBatch& batch, bool sync);

  // Ok until a write has failed; then why it did. To be opened again.
  absl::Status State() const;

 private:
  explicit RocksDbDatabase(std::string folder);

  const std::string folder_;
  // Each before what uses it: the families go first.
  const std::shared_ptr<FreezingFileSystem> files_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> secret_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> vectors_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> documents_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_ROCKSDB_DATABASE_H_
