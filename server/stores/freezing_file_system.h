// RocksDB's files, which freeze at the first write that fails.
//
// The packaged RocksDB 7.8 ends the process by an assertion when it touches a
// file again of which a write has failed, as it does in its background threads
// on a full disk. So it does not hear of the failure: from then on nothing it
// writes, renames or deletes reaches the disk, and everything seems to succeed.
// What is on the disk is what a crash would have left there. The owner refuses
// what was written since, closes the database, and opens it again.
//
//   Threads  thread-safe.
#ifndef SEMRANK_SERVER_STORES_FREEZING_FILE_SYSTEM_H_
#define SEMRANK_SERVER_STORES_FREEZING_FILE_SYSTEM_H_

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "model/base/mutex.h"

namespace semrank {

class FreezingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  FreezingFileSystem() : FileSystemWrapper(FileSystem::Default()) {}

  static const char* kClassName() { return "FreezingFileSystem"; }
  const char* Name() const override { return kClassName(); }

  bool frozen() const { return frozen_.load(std::memory_order_acquire); }
  // What failed; OK before.
  rocksdb::IOStatus error() const;

  // `status`, or OK once frozen; an error freezes.
  rocksdb::IOStatus Freeze(rocksdb::IOStatus status);

  rocksdb::IOStatus NewWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(
      const std::string& name, const std::string& old_name,
      const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSWritableFile>* file,
      rocksdb::IODebugContext* debug) override;
  // The wrapped file system would give it a file of its own.
  rocksdb::IOStatus NewLogger(const std::string& name,
                              const rocksdb::IOOptions& options,
                              std::shared_ptr<rocksdb::Logger>* logger,
                              rocksdb::IODebugContext* debug) override {
    return FileSystem::NewLogger(name, options, logger, debug);
  }
  rocksdb::IOStatus NewDirectory(const std::string& name,
                                 const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* folder,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus Truncate(const std::string& name, std::size_t size,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;

 private:
  // The file that `open` gives, or one that forgets what is written.
  template <typename Open>
  rocksdb::IOStatus OpenToWrite(const Open& open,
                                std::unique_ptr<rocksdb::FSWritableFile>* file);

  mutable Mutex mutex_;
  rocksdb::IOStatus error_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> frozen_ = false;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_FREEZING_FILE_SYSTEM_H_
