// The memory cache in a file, so that a server that starts again finds the
// vectors that the last one had.
//
//   Layout    little-endian, one part after another:
//             magic    "SRVCACHE" (8 bytes)
//             format   kCacheSnapshotFormat (4), number of models (4)
//             secret   of the fingerprints (192)
//             models   for each: bytes of its identity (4), the identity,
//                      numbers of a vector (4)
//             records  for each: model, an index into those (4), side (4),
//                      fingerprint (16), the float32 of the vector
//             end      0xffffffff (4), 0 (4), number of records (8)
//             checksum XXH3-128 of all that (16); nothing follows
//   Secret    who reads the file can make titles that collide, so it is made
//             with mode 0600.
//   Memory    a few hundred KiB, however large the cache is.
//   Threads   free functions and a reader that belongs to one thread; the cache
//             may be in use meanwhile.
#ifndef SEMRANK_SERVER_VECTORS_CACHE_SNAPSHOT_H_
#define SEMRANK_SERVER_VECTORS_CACHE_SNAPSHOT_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "model/base/file_descriptor.h"
#include "model/base/fingerprint.h"
#include "server/models/served_model.h"
#include "server/vectors/document_vector_cache.h"

namespace semrank {

// Changes with the layout; a file of another format is refused.
inline constexpr std::uint32_t kCacheSnapshotFormat = 1;

// Writes the vectors of `models` and returns how many; after a crash at any
// moment `path` is the old file or the whole new one. `stop` is asked now and
// then; true ends it with Cancelled. FailedPrecondition when at `path` there is
// something that is not a snapshot, which is left alone.
absl::StatusOr<std::int64_t> WriteCacheSnapshot(
    const std::string& path, const Fingerprinter::Secret& secret,
    std::span<const ServedModelPtr> models, const DocumentVectorCache& cache,
    absl::FunctionRef<bool()> stop);

class CacheSnapshot {
 public:
  // Reads all of it once and keeps it open. NotFound; FailedPrecondition for
  // what is no snapshot, or of another format; DataLoss for a damaged one. The
  // message names the file.
  static absl::StatusOr<CacheSnapshot> Open(const std::string& path);

  const Fingerprinter::Secret& secret() const { return secret_; }
  std::int64_t num_vectors() const { return num_vectors_; }

  // Puts the vectors of `models` into the cache and returns how many; those of
  // other models are passed over. DataLoss when the file has changed since it
  // was opened: then the cache is emptied.
  absl::StatusOr<std::int64_t> Restore(std::span<const ServedModelPtr> models,
                                       DocumentVectorCache& cache) const;

 private:
  explicit CacheSnapshot(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
  Fingerprinter::Secret secret_ = {};
  std::int64_t num_vectors_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_CACHE_SNAPSHOT_H_
