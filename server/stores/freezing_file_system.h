// The file system of a RocksDB database, which freezes at the first write that
// fails.
//
// The packaged RocksDB 7.8 ends the process by an assertion when it touches a
// file again after a failed write, as its background threads do on a full disk.
// So RocksDB never sees the failure: from then on nothing that it writes,
// renames or deletes reaches the disk, and every call seems to succeed. The
// disk has what a crash would have left there. The owner refuses what was
// written since, closes the database, and opens it again.
//
//   Threads  all methods are thread-safe.
#ifndef SEMRANK_SERVER_STORES_FREEZING_FILE_SYSTEM_H_
#define SEMRANK_SERVER_STORES_FREEZING_FILE_SYSTEM_H_

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "model/base/mutex.h"

namespace semrank {

class FreezingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  static std::shared_ptr<FreezingFileSystem> Create();

  static const char* kClassName() { return "FreezingFileSystem"; }
  const char* Name() const override { return kClassName(); }

  bool frozen() const { return frozen_.load(std::memory_order_acquire); }
  // The error that froze the files; OK before that.
  rocksdb::IOStatus error() const;

  // Freezes the files if `status` is an error, and returns OK.
  rocksdb::IOStatus Freeze(rocksdb::IOStatus status);

 protected:
  FreezingFileSystem() : FileSystemWrapper(FileSystem::Default()) {}

 private:
  mutable Mutex mutex_;
  rocksdb::IOStatus error_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> frozen_ = false;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_FREEZING_FILE_SYSTEM_H_
