// A document store in a folder of this machine, by RocksDB.
//
//   Layout   PATH/FORMAT says that the folder is a store and of which format;
//            PATH/rocksdb is the database, with column families for vectors,
//            documents and the secret. A folder with other files is refused and
//            never written to.
//   Durable  documents are on disk when the call returns; concurrent writers
//            share one sync. Vectors survive the end of the process, not of the
//            machine.
//   Memory   64 MiB of blocks, indexes and filters, and up to 64 MiB that is
//            not in files yet.
//   Disk     vectors take max_vector_bytes; then the oldest are dropped, a file
//            of about 32 MiB at a time. Documents are not limited.
//   Full     writes are refused before the disk is full, and after a failed one
//            until the database can be opened again (rocksdb_database.h). What
//            was acknowledged stays.
//   Errors   those of DocumentStore. FailedPrecondition from Open: other files,
//            another format, or another process.
#ifndef SEMRANK_SERVER_STORES_ROCKSDB_DOCUMENT_STORE_H_
#define SEMRANK_SERVER_STORES_ROCKSDB_DOCUMENT_STORE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "model/base/fingerprint.h"
#include "model/base/mutex.h"
#include "server/stores/document_store.h"
#include "server/stores/rocksdb_database.h"

namespace semrank {

class RocksDbDocumentStore : public DocumentStore {
 public:
  struct Options {
    std::string path;
    std::int64_t max_vector_bytes = std::int64_t{4} << 30;
  };

  // Creates the folder if there is none; its parent must exist.
  static absl::StatusOr<std::unique_ptr<RocksDbDocumentStore>> Open(
      const Options& options);

  const std::string& name() const override { return name_; }
  // Checks the time limit between two reads of the disk.
  absl::StatusOr<Found> FindVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      absl::Duration time_limit, float* rows,
      std::span<std::uint8_t> found) override;
  absl::Status WriteVectors(const VectorSpace& space,
                            std::span<const std::string_view> normalized_texts,
                            const float* rows) override;
  // Puts all documents or none.
  absl::Status PutDocuments(std::span<const StoredDocument> documents) override;
  absl::Status DeleteDocuments(std::span<const DocumentKeyView> keys) override;
  absl::Status LoadDocuments(const VisitDocument& visit) override;

 private:
  // The wall clock may be set back by hours, which would close the store for
  // as long.
  using Clock = std::chrono::steady_clock;

  RocksDbDocumentStore(const Options& options, std::string folder);

  // Creates a database in `folder`, and closes it.
  static absl::Status Create(const Options& options, const std::string& folder);
  // Returns the open database; opens a frozen one again once there is room.
  absl::StatusOr<std::shared_ptr<RocksDbDatabase>> Database();
  absl::Status LoadSecret(const RocksDbDatabase& database);

  const std::string name_;
  const std::string folder_;
  const std::int64_t max_vector_bytes_;
  // Open sets it.
  std::unique_ptr<const Fingerprinter> fingerprint_;

  Mutex mutex_;
  std::shared_ptr<RocksDbDatabase> database_ ABSL_GUARDED_BY(mutex_);
  bool is_opening_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status last_error_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point next_opening_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_ROCKSDB_DOCUMENT_STORE_H_
