// Lets a new model answer for the catalog: embeds every document anew, beside
// the old vectors, which answer until the new ones are complete.
//
//   Work     in the calling thread, 256 documents at a time. Documents that are
//            put during it bring both models' vectors. The model that answered
//            before the present one embeds only what was put since.
//   Store    gets the new vectors as they are made, so that the next start
//            finds them; those that a rollback found in memory, after it
//            answers. If it refuses some, the update continues without it: they
//            can be computed again.
//   Threads  Follow by one thread at a time; the others from any.
#ifndef SEMRANK_SERVER_CATALOG_SYNC_CATALOG_MODEL_UPDATE_H_
#define SEMRANK_SERVER_CATALOG_SYNC_CATALOG_MODEL_UPDATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/base/caller.h"
#include "server/catalog/store/document_catalog.h"
#include "server/models/served_model.h"
#include "server/stores/document_store.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

class CatalogModelUpdate final : private Caller {
 public:
  struct Status {
    // Documents that the next model has embedded, and of how many; 0 and 0 when
    // none is on its way.
    std::uint64_t num_embedded = 0;
    std::uint64_t num_documents = 0;
  };

  // All outlive the update; `store` may be null.
  CatalogModelUpdate(DocumentCatalog* catalog, const TextEmbedder* embedder,
                     DocumentStore* store = nullptr)
      : catalog_(*catalog), embedder_(*embedder), store_(store) {}

  // Returns once the catalog answers with current(), which may change while
  // this works; null = with what it has. Cancelled after Stop; then, and after
  // any other error, the old model still answers.
  absl::Status Follow(const std::function<ServedModelPtr()>& current);
  // Why the store did not take all of the last update's vectors; OK = it did.
  // For the thread of Follow.
  const absl::Status& store_status() const { return store_status_; }
  // Makes Follow return soon, now and in later calls.
  void Stop() { stop_ = true; }

  Status GetStatus() const { return {num_embedded_, num_documents_}; }

 private:
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return stop_; }

  // False when current() is another model now.
  absl::StatusOr<bool> Embed(const ServedModelPtr& model,
                             const std::function<ServedModelPtr()>& current);
  // Documents, by slot, of the next batch from slot `first` on, which becomes
  // the slot to continue with.
  std::vector<std::uint32_t> NextBatch(
      const CatalogSnapshot& snapshot, std::size_t& first,
      const std::function<bool(CommitNumber created)>& wanted) const;
  absl::Status EmbedBatch(const ServedModelPtr& model,
                          const CatalogSnapshot& snapshot,
                          std::span<const std::uint32_t> slots);
  // Of the documents that were not embedded, because they have been kept since
  // `commit`. Ends early when current() is another model.
  absl::Status WriteKept(CommitNumber commit,
                         const std::function<ServedModelPtr()>& current);
  void WriteToStore(const CatalogSnapshot& snapshot, const ServedModel& served,
                    std::span<const std::uint32_t> slots, const float* rows,
                    std::span<const std::size_t> current_slots);

  DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  DocumentStore* const store_;
  absl::Status store_status_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> num_embedded_ = 0;
  std::atomic<std::uint64_t> num_documents_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SYNC_CATALOG_MODEL_UPDATE_H_
