#include "server/core/ranking_engine.h"

#include <cmath>
#include <string>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/core/errors.h"
#include "server/core/given_vectors.h"
#include "server/core/sparse_scores.h"
#include "server/core/vector_encoding.h"

namespace semrank {
namespace {

// What a thread keeps after a request; a larger matrix is given back.
constexpr std::size_t kMaxKeptFloats = std::size_t{4} << 20;

absl::Status InvalidUtf8(std::string_view field, const absl::Status& cause) {
  return FieldError("INVALID_UTF8", field, ToStd(cause.message()));
}

std::string ItemName(std::string_view field, std::size_t index) {
  return absl::StrFormat("%s[%d]", field, index);
}

absl::Status CheckQuery(std::string_view query, const Limits& limits) {
  if (query.empty()) return FieldError("EMPTY_QUERY", "query", "is empty");
  if (query.size() > static_cast<std::size_t>(limits.max_text_bytes)) {
    return TextTooLong("query", query.size(), limits.max_text_bytes);
  }
  return absl::OkStatus();
}

// Number of rows in `bytes`.
absl::StatusOr<std::size_t> CountVectors(const TwoTowerModel& model,
                                         std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (model.sparse_scorer() != nullptr) {
    return FieldError("INVALID_FIELD", "vectors",
                      "are not all of this model's score, which needs the "
                      "words of the titles too; send titles");
  }
  const int dim = model.embedding_dim();
  const std::size_t row_bytes = dim * sizeof(float);
  if (bytes.size() % row_bytes != 0) {
    return FieldError(
        "BAD_VECTOR", "vectors",
        absl::StrFormat("%d bytes are no whole number of vectors of %d float32",
                        bytes.size(), dim),
        {{"value", std::to_string(bytes.size())},
         {"embedding_dim", std::to_string(dim)}});
  }
  return bytes.size() / row_bytes;
}

absl::Status CheckHasVectors(const TwoTowerModel& model) {
  if (model.embedding_dim() > 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "model",
                    absl::StrFormat("%s has no vectors: it scores pairs of "
                                    "texts by their words alone",
                                    model.version().name));
}

}  // namespace

// Row r of `rows` is the vector of candidate candidates[r]: titles without a
// problem first, then given vectors.
struct RankingEngine::Scratch {
  TextBatch query;
  TextBatch texts;
  std::vector<std::uint32_t> candidates;
  std::vector<float> query_row;
  std::vector<float> rows;
  std::vector<float> scores;
  TextEmbedder::Scratch embedder;
};

RankingEngine::Scratch& RankingEngine::ThreadScratch() {
  thread_local Scratch scratch;
  if (scratch.rows.capacity() > kMaxKeptFloats) scratch = Scratch();
  return scratch;
}

RankingEngine::RankingEngine(const Limits& limits, DocumentVectorCache* cache,
                             Metrics* metrics)
    : limits_(limits), metrics_(metrics), embedder_(cache, metrics) {}

absl::Status RankingEngine::CheckRank(const ServedModel& served,
                                      const RankInput& input) const {
  SEMRANK_RETURN_IF_ERROR(CheckQuery(input.query, limits_));
  SEMRANK_ASSIGN_OR_RETURN(const std::size_t num_vectors,
                           CountVectors(*served.model, input.vectors));
  const std::size_t num_candidates = input.titles.size() + num_vectors;
  if (num_candidates == 0) {
    return FieldError("NO_CANDIDATES", "titles",
                      "the request has no candidate");
  }
  if (num_candidates >
      static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts("titles", num_candidates,
                        limits_.max_texts_per_request);
  }
  if (input.min_score.has_value() && std::isnan(*input.min_score)) {
    return FieldError("INVALID_FIELD", "min_score", "is NaN");
  }
  return absl::OkStatus();
}

absl::Status RankingEngine::CheckEmbed(const EmbedInput& input) const {
  if (input.texts.empty()) {
    return FieldError("NO_TEXTS", "texts", "the request has no text");
  }
  if (input.texts.size() >
      static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts("texts", input.texts.size(),
                        limits_.max_texts_per_request);
  }
  for (std::size_t i = 0; i < input.texts.size(); ++i) {
    if (input.texts[i].size() >
        static_cast<std::size_t>(limits_.max_text_bytes)) {
      return TextTooLong(ItemName("texts", i), input.texts[i].size(),
                         limits_.max_text_bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status RankingEngine::Rank(const ServedModel& served,
                                 const RankInput& input, const Caller& caller,
                                 RankResult& result) const {
  result.times = {};
  result.cache = {};
  result.problems.clear();
  const absl::Status status =
      RankStages(served, input, caller, ThreadScratch(), result);
  RecordTimes(result.times);
  return status;
}

absl::Status RankingEngine::RankStages(const ServedModel& served,
                                       const RankInput& input,
                                       const Caller& caller, Scratch& scratch,
                                       RankResult& result) const {
  SEMRANK_RETURN_IF_ERROR(CheckRank(served, input));
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  const int dim = served.model->embedding_dim();
  StageClock clock;
  scratch.query.Clear();
  const absl::Status valid_query = scratch.query.Add(input.query);
  if (!valid_query.ok()) return InvalidUtf8("query", valid_query);
  SEMRANK_RETURN_IF_ERROR(AddTitles(input, scratch, result.problems));
  const std::size_t num_titles = scratch.candidates.size();
  scratch.rows.resize(num_titles * dim + input.vectors.size() / sizeof(float));
  AddVectors(input, *served.model, scratch, result.problems);
  result.times[Stage::kParse] += clock.Lap();

  SEMRANK_RETURN_IF_ERROR(embedder_.FindOrEmbedDocuments(
      served, scratch.texts, caller, scratch.embedder, scratch.rows.data(),
      result.cache, result.times));
  scratch.query_row.resize(dim);
  SEMRANK_RETURN_IF_ERROR(embedder_.Embed(
      served, Side::kQuery, scratch.query, caller, scratch.embedder,
      scratch.query_row.data(), result.times));

  clock.Lap();
  scratch.scores.resize(scratch.candidates.size());
  ScoreMatrix(scratch.query_row.data(), scratch.rows.data(), dim,
              scratch.scores);
  AddSparseScores(*served.model, scratch.query[0], scratch.texts,
                  scratch.scores);
  RankScores(scratch.scores, input.top_k, result.ranking);
  // Cutting the sorted list after top_k leaves what cutting before it leaves.
  if (input.min_score.has_value()) {
    std::erase_if(result.ranking, [&](const RankedDocument& document) {
      return document.score < *input.min_score;
    });
  }
  for (RankedDocument& document : result.ranking) {
    document.index = scratch.candidates[document.index];
  }
  result.times[Stage::kScore] += clock.Lap();
  return absl::OkStatus();
}

absl::Status RankingEngine::AddTitles(
    const RankInput& input, Scratch& scratch,
    std::vector<CandidateProblem>& problems) const {
  scratch.texts.Clear();
  scratch.candidates.clear();
  for (std::uint32_t i = 0; i < input.titles.size(); ++i) {
    const std::string_view title = input.titles[i];
    if (title.size() > static_cast<std::size_t>(limits_.max_text_bytes)) {
      problems.push_back({i, TextTooLong(ItemName("titles", i), title.size(),
                                         limits_.max_text_bytes)});
      continue;
    }
    const absl::Status valid = scratch.texts.Add(title);
    if (!valid.ok()) return InvalidUtf8(ItemName("titles", i), valid);
    scratch.candidates.push_back(i);
  }
  return absl::OkStatus();
}

void RankingEngine::AddVectors(const RankInput& input,
                               const TwoTowerModel& model, Scratch& scratch,
                               std::vector<CandidateProblem>& problems) {
  const int dim = model.embedding_dim();
  const std::size_t row_bytes = dim * sizeof(float);
  const bool cosine = model.config().tower() != v1::TOWER_KIND_SSI;
  if (input.vectors.empty()) return;
  for (std::size_t i = 0; i < input.vectors.size() / row_bytes; ++i) {
    const auto candidate = static_cast<std::uint32_t>(input.titles.size() + i);
    const std::span<float> row(
        scratch.rows.data() + scratch.candidates.size() * dim, dim);
    DecodeFloat32(input.vectors.substr(i * row_bytes, row_bytes), row);
    if (!(cosine ? ScaleToUnitLength(row) : HasUsableValues(row))) {
      problems.push_back(
          {candidate, FieldError("BAD_VECTOR", ItemName("vectors", i),
                                 "holds NaN, infinity or a number beyond "
                                 "what can be scored")});
      continue;
    }
    scratch.candidates.push_back(candidate);
  }
}

absl::Status RankingEngine::Embed(const ServedModel& served,
                                  const EmbedInput& input, const Caller& caller,
                                  EmbedResult& result) const {
  result.times = {};
  result.cache = {};
  const absl::Status status =
      EmbedStages(served, input, caller, ThreadScratch(), result);
  RecordTimes(result.times);
  return status;
}

absl::Status RankingEngine::EmbedStages(const ServedModel& served,
                                        const EmbedInput& input,
                                        const Caller& caller, Scratch& scratch,
                                        EmbedResult& result) const {
  SEMRANK_RETURN_IF_ERROR(CheckEmbed(input));
  SEMRANK_RETURN_IF_ERROR(CheckHasVectors(*served.model));
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  StageClock clock;
  scratch.texts.Clear();
  for (std::size_t i = 0; i < input.texts.size(); ++i) {
    const absl::Status valid = scratch.texts.Add(input.texts[i]);
    if (!valid.ok()) return InvalidUtf8(ItemName("texts", i), valid);
  }
  result.vectors.resize(input.texts.size() * served.model->embedding_dim());
  result.times[Stage::kParse] += clock.Lap();
  if (input.side == Side::kDocument) {
    return embedder_.FindOrEmbedDocuments(
        served, scratch.texts, caller, scratch.embedder, result.vectors.data(),
        result.cache, result.times);
  }
  result.cache.misses = static_cast<std::uint32_t>(input.texts.size());
  return embedder_.Embed(served, input.side, scratch.texts, caller,
                         scratch.embedder, result.vectors.data(), result.times);
}

void RankingEngine::RecordTimes(const StageTimes& times) const {
  for (const Stage stage :
       {Stage::kParse, Stage::kCache, Stage::kEmbed, Stage::kScore}) {
    if (times[stage] > absl::ZeroDuration()) {
      metrics_->RecordStage(stage, times[stage]);
    }
  }
}

}  // namespace semrank
