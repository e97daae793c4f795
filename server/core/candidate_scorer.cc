#include "server/core/candidate_scorer.h"

#include "model/base/status_macros.h"
#include "server/core/errors.h"
#include "server/core/given_vectors.h"
#include "server/core/sparse_scores.h"
#include "server/core/vector_encoding.h"

namespace semrank {

CandidateScorer::CandidateScorer(const Limits& limits,
                                 const TextEmbedder& embedder,
                                 const ServedModel& served,
                                 const Caller& caller, ScoredCandidates& scored,
                                 RankResult& result)
    : limits_(limits),
      embedder_(embedder),
      served_(served),
      caller_(caller),
      scratch_(ThreadScratch()),
      scored_(scored),
      result_(result) {}

absl::Status CandidateScorer::BeginWith(std::string_view query) {
  StageClock clock;
  scored_.candidates.clear();
  scored_.scores.clear();
  scored_.query.Clear();
  const absl::Status valid = scored_.query.Add(query);
  if (!valid.ok()) return InvalidUtf8("query", valid);
  result_.times[Stage::kParse] += clock.Lap();
  scored_.query_row.resize(served_.model->embedding_dim());
  return embedder_.Embed(served_, Side::kQuery, scored_.query, caller_,
                         scratch_.embedder, scored_.query_row.data(),
                         result_.times);
}

absl::Status CandidateScorer::ScoreTitles(
    std::span<const std::string_view> titles, std::uint32_t first) {
  const int dim = served_.model->embedding_dim();
  StageClock clock;
  const std::size_t first_row = scored_.candidates.size();
  SEMRANK_RETURN_IF_ERROR(AddTitles(titles, first));
  const std::size_t num_rows = scored_.candidates.size() - first_row;
  scratch_.rows.resize(num_rows * dim);
  result_.times[Stage::kParse] += clock.Lap();
  SEMRANK_RETURN_IF_ERROR(embedder_.FindOrEmbedDocuments(
      served_, scratch_.texts, caller_, scratch_.embedder, scratch_.rows.data(),
      result_.cache, result_.times));
  clock.Lap();
  scored_.scores.resize(scored_.candidates.size());
  const std::span<float> scores = std::span(scored_.scores).subspan(first_row);
  ScoreMatrix(scored_.query_row.data(), scratch_.rows.data(), dim, scores);
  AddSparseScores(*served_.model, scored_.query[0], scratch_.texts, scores);
  result_.times[Stage::kScore] += clock.Lap();
  return absl::OkStatus();
}

absl::Status CandidateScorer::AddTitles(
    std::span<const std::string_view> titles, std::uint32_t first) {
  scratch_.texts.Clear();
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const auto candidate = static_cast<std::uint32_t>(first + i);
    if (IsTooLong(titles[i], limits_)) {
      result_.problems.push_back(
          {candidate, TextTooLong(ItemName("titles", candidate),
                                  titles[i].size(), limits_.max_text_bytes)});
      continue;
    }
    const absl::Status valid = scratch_.texts.Add(titles[i]);
    if (!valid.ok()) return InvalidUtf8(ItemName("titles", candidate), valid);
    scored_.candidates.push_back(candidate);
  }
  return absl::OkStatus();
}

void CandidateScorer::ScoreVectors(std::string_view vectors,
                                   std::uint32_t first) {
  if (vectors.empty()) return;
  const int dim = served_.model->embedding_dim();
  const bool cosine = served_.model->config().tower() != v1::TOWER_KIND_SSI;
  StageClock clock;
  const std::size_t row_bytes = dim * sizeof(float);
  scratch_.rows.resize(dim);
  for (std::size_t i = 0; i < vectors.size() / row_bytes; ++i) {
    const auto candidate = static_cast<std::uint32_t>(first + i);
    DecodeFloat32(vectors.substr(i * row_bytes, row_bytes), scratch_.rows);
    if (!(cosine ? ScaleToUnitLength(scratch_.rows)
                 : HasUsableValues(scratch_.rows))) {
      result_.problems.push_back(
          {candidate, FieldError("BAD_VECTOR", ItemName("vectors", i),
                                 "holds NaN, infinity or a number beyond "
                                 "what can be scored")});
      continue;
    }
    scored_.candidates.push_back(candidate);
    ScoreMatrix(scored_.query_row.data(), scratch_.rows.data(), dim,
                {&scored_.scores.emplace_back(), 1});
  }
  result_.times[Stage::kScore] += clock.Lap();
}

}  // namespace semrank
