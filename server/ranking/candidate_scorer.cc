#include "server/ranking/candidate_scorer.h"

#include <algorithm>

#include "model/base/status_macros.h"
#include "model/text/normalizer.h"
#include "server/base/errors.h"
#include "server/base/vector_encoding.h"

namespace semrank {
// A scorer lives for one slice in one thread, so it may use the thread's
// scratch. What must survive the slice is in `scored` and `result`.
CandidateScorer::CandidateScorer(const Options& options,
                                 ScoredCandidates& scored, RankResult& result)
    : options_(options),
      context_{options.served, options.caller, result.times},
      scratch_(ThreadSliceScratch()),
      scored_(scored),
      result_(result) {}

absl::Status CandidateScorer::BeginWith(const RankInput& input) {
  // `scored` may be the thread's, with the content of its last request.
  scored_.candidates.clear();
  scored_.scores.clear();
  scored_.parts.Clear();
  scored_.name.reset();
  scored_.names.clear();
  scored_.filter.reset();
  if (!input.filter.empty()) scored_.filter.emplace(input.filter);
  SEMRANK_RETURN_IF_ERROR(
      options_.embedder.FindOrEmbedQuery(context_, input.query, scored_.query));
  scored_.part_scorer.Begin(*options_.served.model, input.scored_parts(),
                            scored_.query.entries);
  return ReadWords(input);
}

// The cache may have had the query's vector, so its words are not known yet.
absl::Status CandidateScorer::ReadWords(const RankInput& input) {
  Stopwatch clock;
  const TwoTowerModel& model = *options_.served.model;
  scratch_.normalized.Clear();
  absl::Status valid =
      scratch_.normalized.Add(input.query, model.normalizer_version());
  if (valid.ok()) {
    result_.query_known =
        CountKnownFeatures(model.featurizer(), scratch_.normalized[0]);
    if (input.name_match) valid = NormalizeName(input.query, scored_.name_text);
  }
  if (!valid.ok()) return InvalidUtf8("query", valid);
  if (input.name_match) scored_.name.emplace(input.query, scored_.name_text);
  result_.times[Phase::kParse] += clock.Lap();
  return absl::OkStatus();
}

absl::Status CandidateScorer::ScoreTitles(
    std::span<const std::string_view> titles, std::uint32_t first) {
  if (titles.empty()) return absl::OkStatus();
  Stopwatch clock;
  const std::size_t first_row = scored_.candidates.size();
  SelectTitles(titles, first);
  // Titles that are too long get no row, so candidates[i] has the number in the
  // request of row i. A model without vectors leaves the scores at 0.
  scored_.scores.resize(scored_.candidates.size());
  const std::span<float> scores = std::span(scored_.scores).subspan(first_row);
  const auto candidates = std::span(scored_.candidates).subspan(first_row);
  const auto on_invalid = [&](std::size_t i, const absl::Status& error) {
    return InvalidUtf8(ItemName("titles", candidates[i]), error);
  };
  // Cached titles are not normalised, except where their words are needed.
  if (options_.served.model->sparse_scorer() != nullptr) {
    SEMRANK_RETURN_IF_ERROR(NormalizeTexts(on_invalid));
  }
  if (scored_.name.has_value()) MatchTitles();
  result_.times[Phase::kParse] += clock.Lap();
  std::vector<std::uint32_t>& embedded = result_.cache.embedded;
  const std::size_t num_embedded = embedded.size();
  // This records its stages itself, so `clock` is restarted after it.
  SEMRANK_RETURN_IF_ERROR(options_.embedder.FindOrEmbedDocuments(
      context_, scratch_.texts, on_invalid, OutputsTo(scores), result_.cache));
  // Maps the embedder's indices, which count the texts of this slice, to
  // candidate indices of the request.
  for (std::uint32_t& place : std::span(embedded).subspan(num_embedded)) {
    place = candidates[place];
  }
  clock.Lap();
  AddSparseScores(*options_.served.model, scored_.query.text,
                  scratch_.normalized, scores);
  scored_.part_scorer.Score(scratch_.lexical, scores, scored_.parts);
  result_.times[Phase::kScore] += clock.Lap();
  return absl::OkStatus();
}

void CandidateScorer::SelectTitles(std::span<const std::string_view> titles,
                                   std::uint32_t first) {
  scratch_.texts.clear();
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const auto candidate = static_cast<std::uint32_t>(first + i);
    if (IsTooLong(titles[i], options_.limits)) {
      result_.problems.push_back(
          {candidate,
           TextTooLong(ItemName("titles", candidate), titles[i].size(),
                       options_.limits.max_text_bytes)});
      continue;
    }
    scratch_.texts.push_back(titles[i]);
    scored_.candidates.push_back(candidate);
  }
}

// Requests no rows, because the cache scores vectors where they lie.
VectorRows CandidateScorer::OutputsTo(std::span<float> scores) {
  VectorRows rows = {.query_row = scored_.query.row.data(),
                     .scores = scores.data()};
  // The embedder then leaves the lexical entries of cached titles alone.
  if (!scored_.part_scorer.needs_lexical()) return rows;
  scratch_.lexical.resize(scores.size());
  rows.query = &scored_.part_scorer.query();
  rows.lexical = scratch_.lexical.data();
  return rows;
}

absl::Status CandidateScorer::NormalizeTexts(
    TextEmbedder::OnInvalidText on_invalid) {
  scratch_.normalized.Clear();
  for (std::size_t i = 0; i < scratch_.texts.size(); ++i) {
    const absl::Status valid = scratch_.normalized.Add(
        scratch_.texts[i], options_.served.model->normalizer_version());
    if (!valid.ok()) return on_invalid(i, valid);
  }
  return absl::OkStatus();
}

absl::Status CandidateScorer::ScoreDocuments(const RankInput& input,
                                             std::size_t first,
                                             std::size_t last) {
  if (first == last) return absl::OkStatus();
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(options_.caller));
  Stopwatch clock;
  // All slices use one snapshot, or one ranking could mix two states of the
  // catalog.
  if (options_.catalog != nullptr && !result_.catalog.snapshot) {
    result_.catalog.snapshot = options_.catalog->TakeSnapshot();
  }
  const std::size_t first_row = scored_.candidates.size();
  SEMRANK_RETURN_IF_ERROR(FindDocuments(input, first, last));
  scored_.scores.resize(scored_.candidates.size());
  result_.times[Phase::kCache] += clock.Lap();
  return ScoreFound(input, first_row);
}

absl::Status CandidateScorer::FindDocuments(const RankInput& input,
                                            std::size_t first,
                                            std::size_t last) {
  const CatalogSnapshot& snapshot = result_.catalog.snapshot;
  std::vector<std::uint32_t>& slots = result_.catalog.slots;
  slots.resize(last, RankedCatalog::kNoSlot);
  if (options_.catalog != nullptr) {
    // Documents [0, num_ids) are known by number, the others by name.
    const std::size_t num_ids = input.ids.size();
    const auto number = std::min(first, num_ids);
    const auto last_number = std::min(last, num_ids);
    snapshot.FindAll(input.ids.subspan(number, last_number - number),
                     std::span(slots).subspan(number));
    // `slots` ends with the slice, which may be before the first name.
    const auto name = std::max(first, num_ids);
    if (name < last) {
      snapshot.FindAll(input.document_ids.subspan(name - num_ids, last - name),
                       std::span(slots).subspan(name));
    }
  }
  // Makes room for all of them, and shrinks it at the end.
  std::vector<std::uint32_t>& candidates = scored_.candidates;
  std::size_t num_candidates = candidates.size();
  candidates.resize(num_candidates + last - first);
  for (std::size_t i = first; i < last; ++i) {
    const auto candidate = static_cast<std::uint32_t>(input.titles.size() + i);
    if (slots[i] == RankedCatalog::kNoSlot) {
      SEMRANK_RETURN_IF_ERROR(AddNotFound(input, i, candidate));
    } else if (!scored_.filter.has_value() ||
               scored_.filter->Keeps(snapshot.record(slots[i]).packed_tags())) {
      candidates[num_candidates++] = candidate;
    }
  }
  candidates.resize(num_candidates);
  return absl::OkStatus();
}

absl::Status CandidateScorer::AddNotFound(const RankInput& input, std::size_t i,
                                          std::uint32_t candidate) {
  const bool by_number = i < input.ids.size();
  const std::size_t place = by_number ? i : i - input.ids.size();
  // The caller reads the error, so it has the field and the place that the
  // caller used.
  const std::string field = ItemName(by_number ? "ids" : "document_ids", place);
  // Names that are found need no check: every key in the catalog is UTF-8.
  if (!by_number) {
    SEMRANK_RETURN_IF_ERROR(CheckUtf8(field, input.document_ids[place]));
  }
  result_.problems.push_back({candidate, DocumentNotFound(field)});
  return absl::OkStatus();
}

// Documents whose vectors the catalog has for this model are scored in place,
// with the same bits as by title. During a reload, or for another model than
// the catalog's, their titles go through the cache and the tower.
absl::Status CandidateScorer::ScoreFound(const RankInput& input,
                                         std::size_t first_row) {
  const std::span candidates = std::span(scored_.candidates).subspan(first_row);
  if (candidates.empty()) return absl::OkStatus();
  const std::span<float> scores = std::span(scored_.scores).subspan(first_row);
  const CatalogSnapshot& snapshot = result_.catalog.snapshot;
  const TwoTowerModel& model = *options_.served.model;
  const ServedModelPtr own = snapshot.model();
  // Versions with the same content have the same number, so also a version that
  // was loaded again finds its vectors.
  const bool has_vectors =
      own != nullptr && own->number == options_.served.number;
  const auto slot_of = [&](std::uint32_t candidate) {
    return result_.catalog.slots[candidate - input.titles.size()];
  };
  // Titles are read only if needed, since each is a cache miss of the CPU.
  scratch_.texts.clear();
  if (!has_vectors || model.sparse_scorer() != nullptr) {
    for (const std::uint32_t candidate : candidates) {
      scratch_.texts.push_back(snapshot.record(slot_of(candidate)).title());
    }
  }
  if (scored_.name.has_value()) {
    for (const std::uint32_t candidate : candidates) {
      const std::uint32_t slot = slot_of(candidate);
      scored_.names.push_back(
          scored_.name->Match(snapshot.names(slot), snapshot.record(slot)));
    }
  }
  // Does not happen, since the catalog accepts only UTF-8.
  const auto on_invalid = [](std::size_t, const absl::Status& error) {
    return error;
  };
  if (model.sparse_scorer() != nullptr) {
    SEMRANK_RETURN_IF_ERROR(NormalizeTexts(on_invalid));
  }
  if (!has_vectors) {
    // Not added to the result, whose cache_hits and cache_misses count the
    // request's titles only.
    CacheUse use;
    SEMRANK_RETURN_IF_ERROR(options_.embedder.FindOrEmbedDocuments(
        context_, scratch_.texts, on_invalid, OutputsTo(scores), use));
  }
  Stopwatch clock;
  if (has_vectors && scored_.part_scorer.needs_lexical()) {
    FindCatalogCosines(candidates, input.titles.size());
  }
  if (has_vectors && model.embedding_dim() > 0) {
    // Thread-local like the scratch, so that it does not allocate.
    thread_local std::vector<std::uint32_t> slots;
    slots.resize(candidates.size());
    std::ranges::transform(candidates, slots.begin(), slot_of);
    snapshot.Score(scored_.query.row, slots, scores);
  }
  AddSparseScores(model, scored_.query.text, scratch_.normalized, scores);
  scored_.part_scorer.Score(scratch_.lexical, scores, scored_.parts);
  result_.times[Phase::kScore] += clock.Lap();
  return absl::OkStatus();
}

void CandidateScorer::MatchTitles() {
  for (const std::string_view title : scratch_.texts) {
    // The embedder refuses invalid titles, which have no name.
    scored_.names.push_back(scored_.name->MatchTexts(/*id=*/"", title));
  }
}

// By the rows that the catalog keeps, which saves splitting titles into
// n-grams.
void CandidateScorer::FindCatalogCosines(
    std::span<const std::uint32_t> candidates, std::size_t first_document) {
  thread_local LexicalBatch entries;
  entries.Clear();
  scratch_.lexical.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint32_t slot =
        result_.catalog.slots[candidates[i] - first_document];
    result_.catalog.snapshot.sparse_rows()->AppendTo(slot, entries);
    scratch_.lexical.push_back(
        scored_.part_scorer.query().Cosine(entries[static_cast<int>(i)]));
  }
}

// All vectors are scored in the last slice, since each costs one dot product.
void CandidateScorer::ScoreVectors(std::string_view vectors,
                                   std::uint32_t first) {
  if (vectors.empty()) return;
  const int dim = options_.served.model->embedding_dim();
  // SSI's score is a dot product of vectors of any length.
  const bool cosine =
      options_.served.model->config().tower() != v1::TOWER_KIND_SSI;
  const VectorPrecision precision =
      options_.served.model->row_format().precision;
  Stopwatch clock;
  const std::size_t row_bytes = dim * sizeof(float);
  scratch_.rows.resize(dim);
  for (std::size_t i = 0; i < vectors.size() / row_bytes; ++i) {
    const auto candidate = static_cast<std::uint32_t>(first + i);
    DecodeFloat32(vectors.substr(i * row_bytes, row_bytes), scratch_.rows);
    if (!(cosine ? ScaleToUnitLength(precision, scratch_.rows)
                 : HasUsableValues(scratch_.rows))) {
      result_.problems.push_back(
          {candidate, FieldError("BAD_VECTOR", ItemName("vectors", i),
                                 "holds NaN, infinity or a number beyond "
                                 "what can be scored")});
      continue;
    }
    scored_.candidates.push_back(candidate);
    const std::span<float> score(&scored_.scores.emplace_back(), 1);
    // For cosine models ScaleToUnitLength has rounded the row as the vectors of
    // titles are rounded, so equal vectors have equal scores.
    ScoreMatrix(scored_.query.row.data(), scratch_.rows.data(), dim, score);
    // RankingEngine::Check refuses vectors where a lexical part is scored.
    scored_.part_scorer.Score(scratch_.lexical, score, scored_.parts);
    if (scored_.name.has_value()) scored_.names.push_back(NameMatch::kNone);
  }
  result_.times[Phase::kScore] += clock.Lap();
}

}  // namespace semrank
