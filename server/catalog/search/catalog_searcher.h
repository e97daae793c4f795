// Finds the best documents of the catalog for a query: exact, every document is
// scored.
//
//   Promise  a document's score is to the last bit the one that Rank gives it.
//            The catalog is searched as it was when the search began.
//   Work     slice by slice (work_slice.h); a slice scores 65,536 documents,
//            about half a millisecond, or of an SSI model with words 16,384, or
//            a quarter of them for up to 16 searches at once. Idle workers run
//            slices of the same search; all searches in flight share their
//            passes over memory (shared_scan.h).
//   Permits  one for the query and one for each 64 documents, which is about
//            what embedding one text costs; with SSI's words for each 16.
//            At most a quarter of --max_inflight_texts, so that no catalog is
//            so large that its search keeps all other requests out.
//   Threads  every method, from any thread; RunSlice of one search by one
//            thread at a time.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SEARCHER_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SEARCHER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/caller.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/work_slice.h"
#include "server/catalog/search/catalog_scan.h"
#include "server/catalog/search/shared_scan.h"
#include "server/catalog/store/document_catalog.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

struct SearchInput {
  std::string_view query = {};
  std::uint32_t top_k = 0;   // 0 = 10
  std::uint32_t offset = 0;  // of the best that are passed over
  std::optional<float> min_score = {};
  std::span<const DocumentKeyView> excluded = {};
  TagFilter filter = {};
  // Documents that the query names come first (name_match.h).
  bool name_match = true;
  Parts parts = Parts::kBoth;
  bool with_parts = false;  // fill SearchResult::cosines
  // Whose vectors. Empty and 0 = the catalog's model.
  std::string_view model_name = {};
  std::int64_t model_version = 0;
};

struct SearchResult {
  // What is searched; the hits' slots are of it.
  CatalogSnapshot snapshot;
  std::vector<CatalogHit> hits;
  // Of each hit, if asked for; under SSI, whose parts are no cosines, 0.
  struct Cosines {
    float semantic = 0;
    float lexical = 0;
  };
  std::vector<Cosines> cosines;
  std::uint64_t num_documents_searched = 0;
  StageTimes times;
};

// How far a search has come between two slices; begins empty. Its input and
// result must outlive it.
struct SearchState {
  ScanQuery query;
  std::optional<SlotFilter> filter;
  std::optional<NameQuery> name;
  LexicalBatch entries;
  std::optional<LexicalQuery> lexical;
  BagBatch bag;
  SparseScorer::Scratch scratch;
  std::optional<SparseScorer::PreparedQuery> words;
  TextBatch text;
  std::vector<float> row;
  // Last, so that it goes first.
  SharedScanOwner scan;
};

// Whether `model`, whose vectors the catalog has (null = none yet), is the one
// that a request asks for: InvalidArgument, NotFound or Unavailable if not.
absl::Status CheckCatalogModel(std::string_view name, std::int64_t version,
                               const ServedModelPtr& model);

class CatalogSearcher {
 public:
  // All outlive the searcher.
  CatalogSearcher(const Limits& limits, const DocumentCatalog* catalog,
                  const TextEmbedder* embedder, Metrics* metrics)
      : limits_(limits),
        catalog_(*catalog),
        embedder_(*embedder),
        metrics_(*metrics) {}

  // Takes the snapshot; returns the permits that its search takes.
  std::int64_t Begin(SearchResult& result) const;
  // After Begin: what can be refused before any work. InvalidArgument; NotFound
  // for a model whose vectors the catalog does not have; Unavailable before the
  // first model.
  absl::Status Check(const SearchInput& input,
                     const SearchResult& result) const;

  // After both. One slice; `result` is complete after kDone. `helpers` (may be
  // null) must outlive the search.
  absl::StatusOr<Progress> RunSlice(const SearchInput& input,
                                    const Caller& caller, WorkerPool* helpers,
                                    SearchState& state,
                                    SearchResult& result) const;

 private:
  absl::Status Prepare(const SearchInput& input, const Caller& caller,
                       WorkerPool* helpers, SearchState& state,
                       SearchResult& result) const;
  void PrepareWords(const SearchInput& input, const TwoTowerModel& model,
                    SearchState& state) const;

  const Limits limits_;
  const DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  Metrics& metrics_;
  // Of all searches. Shared with helpers, which may come after the end.
  const std::shared_ptr<ScanGroup> scans_ = std::make_shared<ScanGroup>();
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SEARCHER_H_
