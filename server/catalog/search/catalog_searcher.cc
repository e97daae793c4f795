#include "server/catalog/search/catalog_searcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/normalizer.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"
#include "server/models/model_store.h"
#include "server/vectors/part_scorer.h"

namespace semrank {
namespace {

constexpr std::int64_t kMaxShareOfPermits = 4;  // a quarter
// A slice has several pieces, because a piece that 16 searches share is more
// work than a slice of one search.
constexpr std::size_t kPiecesOfSlice = 4;

// The number of hits that are skipped or returned.
std::uint64_t NumWanted(const SearchInput& input) {
  return std::uint64_t{input.offset} + input.top_k;
}

std::int64_t DocumentsPerPermit(const CatalogSnapshot& snapshot) {
  const ServedModelPtr& served = snapshot.model();
  const bool words =
      served != nullptr && served->model->sparse_scorer() != nullptr;
  // SSI reads the words of every document, since they have no bound.
  return words ? 16 : 64;
}

// How many of the documents that the scan counted are excluded.
std::size_t NumExcluded(const ScanQuery::Input& query) {
  return std::ranges::count_if(query.excluded_slots, [&](std::uint32_t slot) {
    return query.filter == nullptr || query.filter->Keeps(slot);
  });
}

void CountQuality(const SearchResult& result) {
  const ServedModelPtr& served = result.snapshot.model();
  if (served->quality == nullptr) return;
  std::optional<float> top_score;
  if (!result.hits.empty()) top_score = result.hits[0].score;
  served->quality->CountAnswer(
      result.query_known, top_score,
      !result.hits.empty() && result.hits[0].name != NameMatch::kNone);
}

// Computes both cosines again for the hits alone: keeping them for every
// document during the scan would cost more.
void AddCosines(const SearchState& state, SearchResult& result) {
  const CatalogSnapshot& snapshot = result.snapshot;
  const TwoTowerModel& model = *snapshot.model()->model;
  result.cosines.resize(result.hits.size());
  if (model.config().tower() == v1::TOWER_KIND_SSI) return;
  std::vector<std::uint32_t> slots(result.hits.size());
  std::ranges::transform(result.hits, slots.begin(), &CatalogHit::slot);
  std::vector<float> scores(slots.size());
  snapshot.Score(state.row, slots, scores);
  LexicalBatch entries;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    SearchResult::Cosines& cosines = result.cosines[i];
    cosines.semantic = scores[i];
    if (!state.lexical.has_value()) continue;
    snapshot.sparse_rows()->AppendTo(slots[i], entries);
    cosines.lexical = state.lexical->Cosine(entries[static_cast<int>(i)]);
  }
}

// Sets the query's lexical part or words, for models that score these.
void PrepareParts(const SearchInput& input, const TwoTowerModel& model,
                  SearchState& state, ScanQuery::Input& query) {
  query.parts = input.parts;
  if (model.lexical() != nullptr) {
    model.lexical()->AppendText(state.text[0], state.entries);
    state.lexical.emplace().Prepare(state.entries[0]);
    if (input.parts != ModelParts::kSemantic) query.lexical = &*state.lexical;
  }
  if (model.sparse_scorer() != nullptr) {
    const std::string_view text = state.text[0];
    model.WeighTexts({&text, 1}, state.bag);
    query.words = &state.words.emplace(*model.sparse_scorer(), state.bag, 0,
                                       state.scratch);
  }
}

// `sum` names what has the value, for the reader of the message.
absl::Status OverMaxTopK(std::string_view field, std::string_view sum,
                         std::uint64_t value, const Limits& limits) {
  return FieldError(
      "INVALID_FIELD", field,
      absl::StrFormat("%s%d is over the limit of %d (--max_top_k)", sum, value,
                      limits.max_top_k),
      LimitValues(static_cast<std::int64_t>(value), limits.max_top_k,
                  "max_top_k"));
}

}  // namespace

absl::Status CheckCatalogModel(std::string_view name, std::int64_t version,
                               const ServedModelPtr& model) {
  if (model == nullptr) return NoModelYet();
  SEMRANK_RETURN_IF_ERROR(CheckModelVersion(version));
  // The catalog has the vectors of one model only.
  const ModelVersion& own = model->model->version();
  const bool same_name = name.empty() || name == own.name;
  const bool same_version = version == 0 || version == own.version;
  if (same_name && same_version) return absl::OkStatus();
  return MakeError(absl::StatusCode::kNotFound, "MODEL_NOT_FOUND",
                   absl::StrFormat("the catalog has vectors of %s version %d "
                                   "only",
                                   own.name, own.version));
}

// The number of permits follows from the size of the catalog that is searched,
// so the snapshot is taken before the request waits for them.
std::int64_t CatalogSearcher::Begin(SearchResult& result) const {
  result.snapshot = catalog_.TakeSnapshot();
  const auto num_documents =
      static_cast<std::int64_t>(result.snapshot.num_documents());
  const std::int64_t cost = num_documents / DocumentsPerPermit(result.snapshot);
  // One for the query itself, which passes through the tower.
  return 1 + std::min(cost, limits_.max_inflight_texts / kMaxShareOfPermits);
}

absl::Status CatalogSearcher::Check(const SearchInput& input,
                                    const SearchResult& result) const {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(input.query, limits_));
  if (input.top_k > limits_.max_top_k) {
    return OverMaxTopK("top_k", "", input.top_k, limits_);
  }
  if (input.offset > 0 &&
      NumWanted(input) > static_cast<std::uint64_t>(limits_.max_top_k)) {
    return OverMaxTopK("offset", "offset + top_k = ", NumWanted(input),
                       limits_);
  }
  if (input.min_score.has_value() && std::isnan(*input.min_score)) {
    // Comparisons with NaN are false, so the search would find nothing.
    return FieldError("INVALID_FIELD", "min_score", "is NaN");
  }
  SEMRANK_RETURN_IF_ERROR(input.filter.Check());
  SEMRANK_RETURN_IF_ERROR(CheckCatalogModel(
      input.model_name, input.model_version, result.snapshot.model()));
  return CheckParts(*result.snapshot.model()->model, input.parts);
}

absl::Status CatalogSearcher::Prepare(const SearchInput& input,
                                      const Caller& caller, WorkerPool* helpers,
                                      SearchState& state,
                                      SearchResult& result) const {
  Stopwatch clock;
  state.text.Clear();
  const absl::Status valid = state.text.Add(
      input.query, result.snapshot.model()->model->normalizer_version());
  if (!valid.ok()) return InvalidUtf8("query", valid);
  // The snapshot's model, whose vectors are scanned, and not the one that is
  // current by now.
  const ServedModelPtr served = result.snapshot.model();
  result.query_known =
      CountKnownFeatures(served->model->featurizer(), state.text[0]);
  ScanQuery::Input query;
  // By slot, so that the scan compares numbers in place of keys.
  for (const DocumentKeyView& key : input.excluded) {
    const auto slot = result.snapshot.Find(key);
    if (slot.has_value()) query.excluded_slots.insert(*slot);
  }
  result.times[Phase::kParse] += clock.Lap();
  state.row.resize(served->model->embedding_dim());
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed({*served, caller, result.times},
                                          Side::kQuery, state.text,
                                          state.row.data()));
  PrepareParts(input, *served->model, state, query);
  if (input.name_match) {
    SEMRANK_RETURN_IF_ERROR(NormalizeName(input.query, state.name_text));
    query.name = &state.name.emplace(input.query, state.name_text);
  }
  query.row = state.row.data();
  if (!input.filter.empty()) {
    query.filter = &state.filter.emplace(&result.snapshot, input.filter);
  }
  state.query.emplace(&result.snapshot, std::move(query));
  const auto slice_slots = static_cast<std::size_t>(
      kSliceTexts * DocumentsPerPermit(result.snapshot));
  state.scan = std::make_shared<SharedScan>(
      scans_, &*state.query,
      SharedScan::Options{.top_k = NumWanted(input),
                          .min_score = input.min_score.value_or(
                              -std::numeric_limits<float>::infinity()),
                          .piece_slots = slice_slots / kPiecesOfSlice,
                          .slice_slots = slice_slots});
  // Last, since other threads then read what was set above.
  state.scan->Start(helpers);
  return absl::OkStatus();
}

absl::StatusOr<Progress> CatalogSearcher::RunSlice(const SearchInput& input,
                                                   const Caller& caller,
                                                   WorkerPool* helpers,
                                                   SearchState& state,
                                                   SearchResult& result) const {
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  if (state.scan == nullptr) {
    SEMRANK_RETURN_IF_ERROR(Prepare(input, caller, helpers, state, result));
  }
  Stopwatch clock;
  const bool done = state.scan->RunSlice();
  if (done) {
    state.scan->Stop();
    result.hits = state.scan->TakeHits();
    // The hits to skip are known only now that all of them are in order.
    result.hits.erase(
        result.hits.begin(),
        result.hits.begin() +
            std::min<std::size_t>(input.offset, result.hits.size()));
    if (input.with_parts) AddCosines(state, result);
    // The scan also counts the documents that the caller has excluded.
    result.num_documents_searched =
        state.scan->num_scored() - NumExcluded(state.query->input());
  }
  result.times[Phase::kScore] += clock.Lap();
  // The metrics count a search once, when it is complete.
  if (!done) return Progress::kMore;
  metrics_.CountSearch(
      static_cast<std::int64_t>(result.num_documents_searched));
  // A later page is not a query of its own.
  if (input.offset == 0) CountQuality(result);
  RecordPhases(result.times, metrics_);
  return Progress::kDone;
}

}  // namespace semrank
