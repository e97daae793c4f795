// Finds the best documents of the catalog for a query. The search is exact: it
// returns what scoring every document returns.
//
//   Promise  a document's score has the same bits as the one that Rank returns.
//            The search sees the catalog as it was when the search began.
//   Work     is done in slices (work_slice.h). A slice scans 65,536 documents,
//            which takes about half a millisecond, or 16,384 under an SSI model
//            with words; a quarter of them for up to 16 searches at once. Idle
//            workers run slices of the same search, and all searches in flight
//            share their passes over memory (shared_scan.h).
//   Permits  one for the query and one for each 64 documents, which cost about
//            as much as embedding one text; with SSI's words for each 16. At
//            most a quarter of --max_inflight_texts, so that the search of a
//            large catalog leaves room for other requests.
//   Threads  all methods are thread-safe, but one search runs one slice at a
//            time.
#ifndef SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SEARCHER_H_
#define SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SEARCHER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/known_features.h"
#include "server/base/caller.h"
#include "server/base/limits.h"
#include "server/base/metrics.h"
#include "server/base/work_slice.h"
#include "server/catalog/search/scan_query.h"
#include "server/catalog/search/shared_scan.h"
#include "server/catalog/store/document_catalog.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

struct SearchInput {
  std::string_view query = {};
  std::uint32_t top_k = 0;   // required, at least 1
  std::uint32_t offset = 0;  // the number of best documents to skip
  std::optional<float> min_score = {};
  std::span<const DocumentKeyView> excluded = {};
  TagFilter filter = {};
  // Documents that the query names come first (name_match.h).
  bool name_match = true;
  ModelParts parts = ModelParts::kBoth;
  bool with_parts = false;  // fill SearchResult::cosines
  // The model whose vectors are searched; empty and 0 = the catalog's.
  std::string_view model_name = {};
  std::int64_t model_version = 0;
};

struct SearchResult {
  // The catalog as it is searched; the slots of the hits are slots of this.
  CatalogSnapshot snapshot;
  std::vector<CatalogHit> hits;
  // One for each hit, with_parts only; 0 under SSI, which has no cosines.
  struct Cosines {
    float semantic = 0;
    float lexical = 0;
  };
  std::vector<Cosines> cosines;
  KnownFeatures query_known;
  std::uint64_t num_documents_searched = 0;
  PhaseTimes times;
};

// The state of a search between two slices, initially empty. The search's input
// and result must outlive it.
struct SearchState {
  // Other threads use the state until Stop has returned.
  ~SearchState() {
    if (scan != nullptr) scan->Stop();
  }

  std::optional<SlotFilter> filter;
  std::string name_text;  // the query as a name
  std::optional<NameQuery> name;
  LexicalBatch entries;
  std::optional<LexicalQuery> lexical;
  BagBatch bag;
  SparseScorer::Scratch scratch;
  std::optional<SparseScorer::PreparedQuery> words;
  TextBatch text;
  std::vector<float> row;  // the query's vector, [embedding_dim]
  std::optional<ScanQuery> query;
  std::shared_ptr<SharedScan> scan;
};

// Checks that `model`, whose vectors the catalog has (null = none yet), is the
// one that a request asks for. Returns InvalidArgument, NotFound or
// Unavailable.
absl::Status CheckCatalogModel(std::string_view name, std::int64_t version,
                               const ServedModelPtr& model);

class CatalogSearcher {
 public:
  // All pointers must outlive the searcher.
  CatalogSearcher(const Limits& limits, const DocumentCatalog* catalog,
                  const TextEmbedder* embedder, Metrics* metrics)
      : limits_(limits),
        catalog_(*catalog),
        embedder_(*embedder),
        metrics_(*metrics) {}

  // Takes the snapshot, and returns the number of permits that the search
  // needs.
  std::int64_t Begin(SearchResult& result) const;
  // Makes the checks that need no work, after Begin. Returns InvalidArgument,
  // NotFound for a model whose vectors the catalog does not have, or
  // Unavailable before the first model.
  absl::Status Check(const SearchInput& input,
                     const SearchResult& result) const;

  // Runs one slice, after Check; `result` is complete after kDone. `helpers`
  // must outlive the search; null = none. Returns InvalidArgument for a query
  // that is not UTF-8, and DeadlineExceeded or Cancelled when no client waits;
  // after an error no further slice may be run.
  absl::StatusOr<Progress> RunSlice(const SearchInput& input,
                                    const Caller& caller, WorkerPool* helpers,
                                    SearchState& state,
                                    SearchResult& result) const;

 private:
  absl::Status Prepare(const SearchInput& input, const Caller& caller,
                       WorkerPool* helpers, SearchState& state,
                       SearchResult& result) const;

  const Limits limits_;
  const DocumentCatalog& catalog_;
  const TextEmbedder& embedder_;
  Metrics& metrics_;
  // A shared pointer, because helper threads may outlive the searcher.
  const std::shared_ptr<ScanGroup> scans_ = std::make_shared<ScanGroup>();
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_SEARCH_CATALOG_SEARCHER_H_
