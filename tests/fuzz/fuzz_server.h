// The parts of a server with a tiny model and an empty catalog, in this
// process, for fuzzers of requests.
#ifndef SEMRANK_TESTS_FUZZ_FUZZ_SERVER_H_
#define SEMRANK_TESTS_FUZZ_FUZZ_SERVER_H_

#include <memory>

#include "server/catalog/sync/synced_catalog.h"
#include "server/requests/server_parts.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/support/memory_source.h"
#include "tests/support/tiny_model.h"

namespace semrank {

class FuzzServer {
 public:
  FuzzServer() {
    folder_.Put(1, MakeTinyModel({.lexical_weight = 0.3}));
    FUZZ_CHECK(models_.Refresh().ok());
    FUZZ_CHECK(
        catalog_.update.Follow([this] { return models_.current(); }).ok());
    lifecycle_.Advance(Lifecycle::State::kServing);
  }
  const ServerParts& parts() const { return parts_; }

 private:
  static constexpr Limits kLimits = {.max_texts_per_request = 100};

  Metrics metrics_;
  Lifecycle lifecycle_;
  Admission admission_{1'000};
  MemoryFolder folder_;
  ModelStore models_{{{folder_.Source("tiny")}}, &metrics_};
  const std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(1 << 20).value();
  const TextEmbedder embedder_{cache_.get(), &metrics_};
  SyncedCatalog catalog_{
      1'000, {.limits = kLimits, .embedder = &embedder_, .metrics = &metrics_}};
  const RankingEngine ranking_{kLimits, &embedder_, &metrics_,
                               &catalog_.documents};
  const EmbeddingEngine embedding_{kLimits, &embedder_, &metrics_};
  WorkerPool workers_{1};
  const ServerParts parts_ = {.ranking = &ranking_,
                              .embedding = &embedding_,
                              .catalog_writer = &catalog_.writer,
                              .catalog_searcher = &catalog_.searcher,
                              .models = &models_,
                              .lifecycle = &lifecycle_,
                              .admission = &admission_,
                              .workers = &workers_,
                              .loader = &workers_,
                              .metrics = &metrics_};
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_FUZZ_FUZZ_SERVER_H_
