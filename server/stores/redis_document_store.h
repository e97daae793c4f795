// A document store in Redis, which replicas share.
//
//   Layout   "semrank:store" has the format and the secret; "semrank:v:<key>" a
//            vector each, which expires after 30 days or is evicted by Redis
//            (maxmemory-policy volatile-*); "semrank:documents" is a hash with
//            all documents, which never expires; "semrank:changes" is the log
//            of their changes (redis_change_log.h).
//   Find     one MGET for all texts and "semrank:store": after a FLUSHALL the
//            secret is restored, unless another replica was faster.
//   Sharing  replicas find each other's vectors at once. LoadDocuments reads
//            all documents; a transaction writes each later put or delete
//            together with its entry in the log.
//   Memory   a full Redis refuses puts. Deletes make room: where the log can
//            get no more entries they delete the log, after which every server
//            reads all documents again.
//   Durable  as Redis is configured: with appendfsync always, when a call
//            returns.
//   Names    are resolved at the start, when the store is probed, and after a
//            failure by the thread that reads the change log; never for a
//            request.
//   Time     FindVectors has a limit, which includes connecting. Every other
//            call has Options::timeout for each round trip.
//   Errors   those of DocumentStore. FailedPrecondition: another format.
//            PermissionDenied: user, password or rights.
#ifndef SEMRANK_SERVER_STORES_REDIS_DOCUMENT_STORE_H_
#define SEMRANK_SERVER_STORES_REDIS_DOCUMENT_STORE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/fingerprint.h"
#include "model/base/mutex.h"
#include "model/redis/redis_client.h"
#include "model/redis/redis_url.h"
#include "server/stores/document_store.h"

namespace semrank {

class RedisDocumentStore : public DocumentStore {
 public:
  struct Options {
    RedisUrl url;
    absl::Duration timeout = absl::Seconds(1);
    int max_connections = 16;
    RedisResolver resolve = FirstAddress;
  };

  // Does not connect yet.
  explicit RedisDocumentStore(const Options& options);

  const std::string& name() const override { return name_; }
  absl::StatusOr<Found> FindVectors(
      const VectorSpace& space,
      std::span<const std::string_view> normalized_texts,
      absl::Duration time_limit, float* rows,
      std::span<std::uint8_t> found) override;
  absl::Status WriteVectors(const VectorSpace& space,
                            std::span<const std::string_view> normalized_texts,
                            const float* rows) override;
  // Puts a thousand at a time, so an error may leave the first thousands.
  absl::Status PutDocuments(std::span<const StoredDocument> documents) override;
  // Runs a script, so that no other server's put comes in between. Not logged.
  absl::Status ReplaceVectors(
      std::span<const StoredDocument> documents) override;
  absl::Status DeleteDocuments(std::span<const DocumentKeyView> keys) override;
  // Unavailable if the connection breaks before the last document.
  absl::Status LoadDocuments(const VisitDocument& visit) override;
  std::unique_ptr<ChangeLog> OpenChangeLog() override;

 private:
  using Deadline = RedisConnection::Deadline;
  using Replies = std::vector<RedisReply>;
  using FingerprinterPtr = std::shared_ptr<const Fingerprinter>;

  // Executes all or none, with no other client's command in between.
  absl::Status CallTransaction(std::vector<RedisCommand> commands);
  Deadline UsualDeadline() const {
    return RedisPool::DeadlineIn(options_.timeout);
  }
  // Makes the secret of the store that of this process, or the reverse if the
  // store has none.
  absl::StatusOr<FingerprinterPtr> AgreeOnSecret(Deadline deadline);
  // Makes the secret in the reply, of "semrank:store", that of this process.
  absl::StatusOr<FingerprinterPtr> Adopt(const redisReply& reply);
  FingerprinterPtr fingerprint() const;

  const Options options_;
  const std::string name_;
  RedisPool pool_;
  mutable Mutex mutex_;
  // The content of "semrank:store", or what to write to it if it is empty.
  std::string header_ ABSL_GUARDED_BY(mutex_);
  // Null until AgreeOnSecret has succeeded.
  FingerprinterPtr fingerprint_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_REDIS_DOCUMENT_STORE_H_
