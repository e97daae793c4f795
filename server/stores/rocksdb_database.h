// An open RocksDB database of a store, set up with bounded memory, bounded
// vectors, no damage that passes unnoticed, and a full disk that ends no
// process.
//
//   Full     a write is refused while the disk has less than 128 MiB free, or a
//            sixteenth of a smaller file system: what RocksDB holds in memory
//            must still reach the disk. If a write fails nevertheless, it
//            freezes the database (freezing_file_system.h): what was written
//            before is there when it is opened again.
//   Threads  all methods are thread-safe.
//   Errors   do not have the store's name. FailedPrecondition from Open:
//            another process has opened it. DataLoss: damage.
//            ResourceExhausted: no room. Unavailable: frozen.
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

// Returns OK if the disk of `folder` has room for a write of `num_bytes`.
absl::Status CheckRoom(const std::string& folder, std::size_t num_bytes);

class RocksDbDatabase {
 public:
  // Creates a new database with `create`, where there must be none; otherwise
  // opens the existing one, and never creates one.
  static absl::StatusOr<std::shared_ptr<RocksDbDatabase>> Open(
      const std::string& folder, std::int64_t max_vector_bytes, bool create);

  rocksdb::DB& db() const { return *db_; }
  rocksdb::ColumnFamilyHandle* secret() const { return secret_.get(); }
  rocksdb::ColumnFamilyHandle* vectors() const { return vectors_.get(); }
  rocksdb::ColumnFamilyHandle* documents() const { return documents_.get(); }

  absl::Status Write(rocksdb::WriteBatch& batch, bool sync);

  // OK until a write fails; then its error, and the database must be opened
  // again.
  absl::Status State() const;

 private:
  explicit RocksDbDatabase(std::string folder);

  const std::string folder_;
  // The order matters: each member uses those before it.
  const std::shared_ptr<FreezingFileSystem> files_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> secret_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> vectors_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> documents_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_ROCKSDB_DATABASE_H_
