// A store in a folder of this machine, by RocksDB.
//
//   Layout   PATH as store_folder.h has it: vectors, documents and the secret
//            in column families of their own.
//   Durable  documents are on disk when the call returns; writers that come
//            together share one sync. Vectors survive the end of the process,
//            not of the machine.
//   Memory   64 MiB of blocks, indexes and filters, up to 64 MiB not yet in
//            files.
//   Disk     vectors take max_vector_bytes, then the oldest leave, a file of
//            about 32 MiB at a time; documents take what they take.
//   Errors   as DocumentStore. FailedPrecondition from Open: another format or
//            another process.
#ifndef SEMRANK_SERVER_STORES_ROCKSDB_DOCUMENT_STORE_H_
#define SEMRANK_SERVER_STORES_ROCKSDB_DOCUMENT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "model/base/fingerprint.h"
#include "server/stores/document_store.h"

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Status;
class WriteBatch;
}  // namespace rocksdb

namespace semrank {

class RocksDbDocumentStore : public DocumentStore {
 public:
  struct Options {
    std::string path;
    std::int64_t max_vector_bytes = std::int64_t{4} << 30;
  };

  // Makes the folder, whose parent must exist, when there is none.
  static absl::StatusOr<std::unique_ptr<RocksDbDocumentStore>> Open(
      const Options& options);
  ~RocksDbDocumentStore() override;
  RocksDbDocumentStore(const RocksDbDocumentStore&) = delete;
  RocksDbDocumentStore& operator=(const RocksDbDocumentStore&) = delete;

  const std::string& name() const override { return name_; }
  // The time limit is looked at between two reads of the disk.
  absl::StatusOr<Found> FindVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      absl::Duration time_limit, float* rows,
      std::span<std::uint8_t> found) override;
  absl::Status WriteVectors(const VectorSpace& space,
                            std::span<const std::string_view> normalized_texts,
                            const float* rows) override;
  // All or none.
  absl::Status PutDocuments(std::span<const StoredDocument> documents) override;
  absl::Status DeleteDocuments(std::span<const DocumentKeyView> keys) override;
  absl::Status LoadDocuments(
      const std::function<absl::Status(const StoredDocument&)>& visit) override;

 private:
  explicit RocksDbDocumentStore(const std::string& path);

  // A database in `folder`, closed again.
  static absl::Status Create(const Options& options, const std::string& folder);
  absl::Status OpenDatabase(const std::string& folder,
                            std::int64_t max_vector_bytes, bool create);
  absl::Status LoadSecret();
  absl::Status Write(rocksdb::WriteBatch& batch, bool sync);
  // With this store's name.
  absl::Status ToStatus(const rocksdb::Status& status) const;
  absl::Status Named(const absl::Status& status) const;

  const std::string name_;
  // Families before the database.
  std::unique_ptr<rocksdb::DB> database_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> default_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> vectors_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> documents_;
  // Const once open.
  std::unique_ptr<const Fingerprinter> fingerprint_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_ROCKSDB_DOCUMENT_STORE_H_
