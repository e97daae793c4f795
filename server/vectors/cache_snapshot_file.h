// The bytes of a cache snapshot (cache_snapshot.h has the layout): parts are
// written and read one after another, with the checksum of all before.
//
//   Threads  a reader or writer belongs to one thread.
#ifndef SEMRANK_SERVER_VECTORS_CACHE_SNAPSHOT_FILE_H_
#define SEMRANK_SERVER_VECTORS_CACHE_SNAPSHOT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"
#include "model/base/file_replacement.h"
#include "model/base/fingerprint.h"

namespace semrank {

// In the place of a record's model, after the last record.
inline constexpr std::uint32_t kSnapshotEnd = 0xffffffff;

struct SnapshotModel {
  std::string identity;
  std::uint32_t dim = 0;
};

struct SnapshotHeader {
  Fingerprinter::Secret secret = {};
  std::vector<SnapshotModel> models;
};

struct SnapshotRecordStart {
  std::uint32_t model = kSnapshotEnd;
  std::uint32_t side = 0;
};

class SnapshotWriter {
 public:
  // `stop` is asked before each write to the file.
  SnapshotWriter(FileReplacement file, absl::FunctionRef<bool()> stop)
      : file_(std::move(file)), stop_(stop) {}

  absl::Status WriteHeader(const SnapshotHeader& header);
  absl::Status Write(std::string_view bytes);
  template <typename Value>
  absl::Status WriteValue(const Value& value) {
    return Write({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  // The checksum; then the file takes its place.
  absl::Status Finish();

 private:
  absl::Status Flush();

  FileReplacement file_;
  const absl::FunctionRef<bool()> stop_;
  BytesFingerprinter checksum_;
  std::string buffer_;
};

class SnapshotReader {
 public:
  // `file` outlives the reader.
  explicit SnapshotReader(const FileDescriptor& file);

  absl::StatusOr<SnapshotHeader> ReadHeader();
  absl::Status Read(void* to, std::size_t size);
  template <typename Value>
  absl::Status ReadValue(Value& value) {
    return Read(&value, sizeof(value));
  }
  // The checksum of what was read so far comes next, and nothing after it.
  absl::Status CheckEnd();
  absl::Status Damaged(std::string_view what) const;

 private:
  absl::Status FillBuffer();

  const FileDescriptor& file_;
  BytesFingerprinter checksum_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// FailedPrecondition for what does not begin as a snapshot. Reads from where
// the file stands, and leaves what is no regular file unread.
absl::Status CheckSnapshotMagic(const FileDescriptor& file);

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_CACHE_SNAPSHOT_FILE_H_
