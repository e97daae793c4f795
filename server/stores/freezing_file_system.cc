#include "server/stores/freezing_file_system.h"

#include <utility>

namespace semrank {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// Accepts every write and keeps nothing but its size. RocksDB writes to such a
// file once the database is frozen.
class LostFile : public FSWritableFile {
 public:
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&,
                  IODebugContext*) override {
    size_ += data.size();
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override {
    return size_;
  }

 private:
  std::uint64_t size_ = 0;
};

// Overrides every call that may write. RocksDB decides by its options which of
// the two Append it calls.
class FreezingFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FreezingFile(std::unique_ptr<FSWritableFile> file, FreezingFileSystem* owner)
      : FSWritableFileOwnerWrapper(std::move(file)), owner_(*owner) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    return Try([&] { return target()->Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& checksum,
                  IODebugContext* debug) override {
    return Try(
        [&] { return target()->Append(data, options, checksum, debug); });
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    return Try([&] { return target()->Truncate(size, options, debug); });
  }
  // Closes a frozen file too, to free its descriptor.
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return owner_.Freeze(target()->Close(options, debug));
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return Try([&] { return target()->Flush(options, debug); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Try([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Try([&] { return target()->Fsync(options, debug); });
  }
  IOStatus RangeSync(std::uint64_t offset, std::uint64_t size,
                     const IOOptions& options, IODebugContext* debug) override {
    return Try(
        [&] { return target()->RangeSync(offset, size, options, debug); });
  }

 private:
  // A frozen file reports success, or RocksDB would touch it again.
  template <typename Call>
  IOStatus Try(const Call& call) {
    return owner_.frozen() ? IOStatus::OK() : owner_.Freeze(call());
  }

  FreezingFileSystem& owner_;
};

// Syncs of a folder are writes too: they make a new file survive a crash.
class FreezingDirectory : public rocksdb::FSDirectoryWrapper {
 public:
  FreezingDirectory(std::unique_ptr<FSDirectory> folder,
                    FreezingFileSystem* owner)
      : FSDirectoryWrapper(std::move(folder)), owner_(*owner) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return owner_.Freeze(FSDirectoryWrapper::Fsync(options, debug));
  }
  IOStatus FsyncWithDirOptions(
      const IOOptions& options, IODebugContext* debug,
      const rocksdb::DirFsyncOptions& reason) override {
    return owner_.Freeze(
        FSDirectoryWrapper::FsyncWithDirOptions(options, debug, reason));
  }

 private:
  FreezingFileSystem& owner_;
};

// Overrides the calls that write; reads go to the wrapped file system as they
// are.
class FreezingFiles final : public FreezingFileSystem {
 public:
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file,
                           IODebugContext* debug) override {
    return OpenToWrite(file, [&](auto* opened) {
      return target()->NewWritableFile(name, options, opened, debug);
    });
  }
  IOStatus ReopenWritableFile(const std::string& name,
                              const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file,
                              IODebugContext* debug) override {
    return OpenToWrite(file, [&](auto* opened) {
      return target()->ReopenWritableFile(name, options, opened, debug);
    });
  }
  IOStatus ReuseWritableFile(const std::string& name,
                             const std::string& old_name,
                             const FileOptions& options,
                             std::unique_ptr<FSWritableFile>* file,
                             IODebugContext* debug) override {
    return OpenToWrite(file, [&](auto* opened) {
      return target()->ReuseWritableFile(name, old_name, options, opened,
                                         debug);
    });
  }
  // The wrapped file system would open the log by itself, past this one.
  IOStatus NewLogger(const std::string& name, const IOOptions& options,
                     std::shared_ptr<rocksdb::Logger>* logger,
                     IODebugContext* debug) override {
    // NOLINTNEXTLINE(bugprone-parent-virtual-call): as the comment says.
    return FileSystem::NewLogger(name, options, logger, debug);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* folder,
                        IODebugContext* debug) override {
    std::unique_ptr<FSDirectory> opened;
    IOStatus status = target()->NewDirectory(name, options, &opened, debug);
    if (!status.ok()) return status;
    *folder = std::make_unique<FreezingDirectory>(std::move(opened), this);
    return IOStatus::OK();
  }
  // RocksDB deletes a log once its table is written. In a frozen database that
  // table never reached the disk, so the log must stay for the next opening.
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    return frozen() ? IOStatus::OK()
                    : target()->DeleteFile(name, options, debug);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to,
                      const IOOptions& options,
                      IODebugContext* debug) override {
    return frozen() ? IOStatus::OK()
                    : target()->RenameFile(from, to, options, debug);
  }
  IOStatus LinkFile(const std::string& from, const std::string& to,
                    const IOOptions& options, IODebugContext* debug) override {
    return frozen() ? IOStatus::OK()
                    : target()->LinkFile(from, to, options, debug);
  }
  IOStatus Truncate(const std::string& name, std::size_t size,
                    const IOOptions& options, IODebugContext* debug) override {
    return frozen() ? IOStatus::OK()
                    : Freeze(target()->Truncate(name, size, options, debug));
  }

 private:
  // Sets `file` to the file that `open` opens, or once frozen to a LostFile.
  template <typename Open>
  IOStatus OpenToWrite(std::unique_ptr<FSWritableFile>* file,
                       const Open& open) {
    std::unique_ptr<FSWritableFile> opened;
    if (!frozen()) {
      IOStatus status = open(&opened);
      // These two are answers that RocksDB reacts to, and no failed writes.
      if (status.IsNotFound() || status.IsNotSupported()) return status;
      // A file that cannot be created is a failed write too.
      Freeze(std::move(status));
    }
    // Frozen before, by this call, or by another thread.
    if (frozen()) opened = std::make_unique<LostFile>();
    *file = std::make_unique<FreezingFile>(std::move(opened), this);
    return IOStatus::OK();
  }
};

}  // namespace

std::shared_ptr<FreezingFileSystem> FreezingFileSystem::Create() {
  return std::make_shared<FreezingFiles>();
}

IOStatus FreezingFileSystem::error() const {
  MutexLock lock(mutex_);
  return error_;
}

IOStatus FreezingFileSystem::Freeze(IOStatus status) {
  if (status.ok()) return status;
  MutexLock lock(mutex_);
  // The first error is the cause; later ones follow from it. It is set before
  // the flag, so that no thread sees the flag without it.
  if (!frozen()) error_ = std::move(status);
  frozen_.store(true, std::memory_order_release);
  return IOStatus::OK();
}

}  // namespace semrank
