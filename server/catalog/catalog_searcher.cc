#include "server/catalog/catalog_searcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/vectors/text_batch.h"

namespace semrank {
namespace {

constexpr std::uint32_t kDefaultTopK = 10;
constexpr std::int64_t kDocumentsPerPermit = 64;
constexpr std::int64_t kMaxShareOfPermits = 4;  // a quarter

// Not before the first model.
bool ReadsTitles(const DocumentCatalog::Snapshot& snapshot) {
  const ServedModelPtr served = snapshot.model();
  return served != nullptr && served->model->sparse_scorer() != nullptr;
}

}  // namespace

absl::Status CheckCatalogModel(std::string_view name, std::int64_t version,
                               const ServedModelPtr& model) {
  if (model == nullptr) {
    return MakeError(absl::StatusCode::kUnavailable, "NO_MODEL",
                     "no model has been published yet");
  }
  if (version < 0) {
    return FieldError("INVALID_FIELD", "model.version",
                      absl::StrFormat("%d is negative", version));
  }
  const ModelVersion& own = model->model->version();
  const bool same_name = name.empty() || name == own.name;
  const bool same_version = version == 0 || version == own.version;
  if (same_name && same_version) return absl::OkStatus();
  return MakeError(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
                   absl::StrFormat("the catalog has vectors of %s version %d "
                                   "only",
                                   own.name, own.version));
}

std::int64_t CatalogSearcher::Begin(SearchResult& result) const {
  result.snapshot = catalog_.TakeSnapshot();
  const auto num_documents =
      static_cast<std::int64_t>(result.snapshot.num_documents());
  const std::int64_t cost = ReadsTitles(result.snapshot)
                                ? num_documents
                                : num_documents / kDocumentsPerPermit;
  return 1 + std::min(cost, limits_.max_inflight_texts / kMaxShareOfPermits);
}

absl::Status CatalogSearcher::Check(const SearchInput& input,
                                    const SearchResult& result) const {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(input.query, limits_));
  if (input.top_k > limits_.max_top_k) {
    return FieldError("INVALID_FIELD", "top_k",
                      absl::StrFormat("%d is over the limit of %d "
                                      "(--max_top_k)",
                                      input.top_k, limits_.max_top_k),
                      {{"value", std::to_string(input.top_k)},
                       {"limit", std::to_string(limits_.max_top_k)},
                       {"flag", "max_top_k"}});
  }
  if (input.min_score.has_value() && std::isnan(*input.min_score)) {
    return FieldError("INVALID_FIELD", "min_score", "is NaN");
  }
  if (input.excluded.size() >
      static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts("exclude_ids", input.excluded.size(),
                        limits_.max_texts_per_request);
  }
  return CheckCatalogModel(input.model_name, input.model_version,
                           result.snapshot.model());
}

absl::Status CatalogSearcher::Prepare(const SearchInput& input,
                                      const Caller& caller, WorkerPool* helpers,
                                      SearchState& state,
                                      SearchResult& result) const {
  StageClock clock;
  state.text.Clear();
  const absl::Status valid = state.text.Add(input.query);
  if (!valid.ok()) return InvalidUtf8("query", valid);
  for (const DocumentKeyView& key : input.excluded) {
    const auto slot = result.snapshot.Find(key);
    if (slot.has_value()) state.query.excluded_slots.insert(*slot);
  }
  result.times[Stage::kParse] += clock.Lap();
  const ServedModelPtr served = result.snapshot.model();
  state.row.resize(served->model->embedding_dim());
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({*served, caller, result.times},
                                          Side::kQuery, state.text,
                                          state.row.data()));
  state.query.text = state.text[0];
  state.query.row = state.row.data();
  result.num_documents_searched =
      result.snapshot.num_documents() - state.query.excluded_slots.size();
  state.scan = SharedScanOwner(std::make_shared<SharedScan>(
      &result.snapshot, &state.query,
      SharedScan::Options{
          .top_k = input.top_k == 0 ? kDefaultTopK : input.top_k,
          .min_score =
              input.min_score.value_or(-std::numeric_limits<float>::infinity()),
          .piece_slots = static_cast<std::size_t>(
              kSliceTexts *
              (ReadsTitles(result.snapshot) ? 1 : kDocumentsPerPermit))}));
  if (helpers != nullptr) state.scan->AskForHelp(*helpers);
  return absl::OkStatus();
}

absl::StatusOr<Progress> CatalogSearcher::RunSlice(const SearchInput& input,
                                                   const Caller& caller,
                                                   WorkerPool* helpers,
                                                   SearchState& state,
                                                   SearchResult& result) const {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  if (!state.scan) {
    SEMRANK_RETURN_IF_ERROR(Prepare(input, caller, helpers, state, result));
  }
  StageClock clock;
  state.scan->ScanNext();
  const bool done = state.scan->is_all_taken();
  if (done) {
    // Helpers finish what they are scanning: at most a slice each.
    state.scan->Stop();
    result.hits = state.scan->TakeHits();
  }
  result.times[Stage::kScore] += clock.Lap();
  if (!done) return Progress::kMore;
  metrics_.CountSearch(
      static_cast<std::int64_t>(result.num_documents_searched));
  RecordStages(result.times, metrics_);
  return Progress::kDone;
}

}  // namespace semrank
