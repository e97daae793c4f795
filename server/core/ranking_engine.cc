#include "server/core/ranking_engine.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/core/errors.h"
#include "server/core/given_vectors.h"
#include "server/core/sparse_scores.h"
#include "server/core/vector_encoding.h"

namespace semrank {
namespace {

// What a thread keeps after a request; a larger matrix is given back.
constexpr std::size_t kMaxKeptFloats = std::size_t{4} << 20;

std::string ItemName(std::string_view field, std::size_t index) {
  return absl::StrFormat("%s[%d]", field, index);
}

bool IsTooLong(std::string_view text, const Limits& limits) {
  return text.size() > static_cast<std::size_t>(limits.max_text_bytes);
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

// The best of the scored candidates.
void Select(const RankInput& input, const RankTurns& turns,
            std::vector<RankedDocument>& ranking) {
  RankScores(turns.scores, input.top_k, ranking);
  // Cutting the sorted list after top_k leaves what cutting before it leaves.
  if (input.min_score.has_value()) {
    std::erase_if(ranking, [&](const RankedDocument& document) {
      return document.score < *input.min_score;
    });
  }
  for (RankedDocument& document : ranking) {
    document.index = turns.candidates[document.index];
  }
}

}  // namespace

absl::Status CheckQuery(std::string_view query, const Limits& limits) {
  if (query.empty()) return FieldError("EMPTY_QUERY", "query", "is empty");
  if (IsTooLong(query, limits)) {
    return TextTooLong("query", query.size(), limits.max_text_bytes);
  }
  return absl::OkStatus();
}

// What a turn needs and the next one, of any request, may overwrite.
struct RankingEngine::Scratch {
  TextBatch texts;
  std::vector<std::uint32_t> items;  // row r of `rows` is text items[r]
  std::vector<float> rows;
  TextEmbedder::Scratch embedder;
  // Of requests that are done in one turn, so that they allocate nothing.
  RankTurns rank;
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
  if (input.texts.size() >
      static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts("texts", input.texts.size(),
                        limits_.max_texts_per_request);
  }
  if (input.skip_bad_texts) return absl::OkStatus();
  if (input.texts.empty()) {
    return FieldError("NO_TEXTS", "texts", "the request has no text");
  }
  for (std::size_t i = 0; i < input.texts.size(); ++i) {
    if (IsTooLong(input.texts[i], limits_)) {
      return TextTooLong(ItemName("texts", i), input.texts[i].size(),
                         limits_.max_text_bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status RankingEngine::Rank(const ServedModel& served,
                                 const RankInput& input, const Caller& caller,
                                 RankResult& result) const {
  RankTurns turns;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                             RankTurn(served, input, caller, turns, result));
    if (progress == Progress::kDone) return absl::OkStatus();
  }
}

absl::StatusOr<Progress> RankingEngine::RankTurn(const ServedModel& served,
                                                 const RankInput& input,
                                                 const Caller& caller,
                                                 RankTurns& turns,
                                                 RankResult& result) const {
  Scratch& scratch = ThreadScratch();
  absl::StatusOr<Progress> progress =
      RankStages(served, input, caller, scratch, turns, result);
  const bool over = !progress.ok() || *progress == Progress::kDone;
  if (over) RecordTimes(result.times);
  return progress;
}

absl::StatusOr<Progress> RankingEngine::RankStages(
    const ServedModel& served, const RankInput& input, const Caller& caller,
    Scratch& scratch, RankTurns& own_turns, RankResult& result) const {
  const std::size_t last =
      TurnEnd(own_turns.next_title, input.titles.size(),
              [&](std::size_t i) { return input.titles[i].size(); });
  const bool one_turn = !own_turns.begun && last == input.titles.size();
  RankTurns& turns = one_turn ? scratch.rank : own_turns;
  if (!own_turns.begun) {
    SEMRANK_RETURN_IF_ERROR(
        BeginRank(served, input, caller, scratch, turns, result));
  }
  SEMRANK_RETURN_IF_ERROR(
      ScoreTitles(served, input, last, caller, scratch, turns, result));
  if (last < input.titles.size()) return Progress::kMore;
  ScoreVectors(input, *served.model, scratch, turns, result);
  StageClock clock;
  Select(input, turns, result.ranking);
  result.times[Stage::kScore] += clock.Lap();
  return Progress::kDone;
}

absl::Status RankingEngine::BeginRank(const ServedModel& served,
                                      const RankInput& input,
                                      const Caller& caller, Scratch& scratch,
                                      RankTurns& turns,
                                      RankResult& result) const {
  result.times = {};
  result.cache = {};
  result.problems.clear();
  SEMRANK_RETURN_IF_ERROR(CheckRank(served, input));
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  StageClock clock;
  turns.begun = true;
  turns.next_title = 0;
  turns.candidates.clear();
  turns.scores.clear();
  turns.query.Clear();
  const absl::Status valid = turns.query.Add(input.query);
  if (!valid.ok()) return InvalidUtf8("query", valid);
  result.times[Stage::kParse] += clock.Lap();
  turns.query_row.resize(served.model->embedding_dim());
  return embedder_.Embed(served, Side::kQuery, turns.query, caller,
                         scratch.embedder, turns.query_row.data(),
                         result.times);
}

absl::Status RankingEngine::ScoreTitles(const ServedModel& served,
                                        const RankInput& input,
                                        std::size_t last, const Caller& caller,
                                        Scratch& scratch, RankTurns& turns,
                                        RankResult& result) const {
  const int dim = served.model->embedding_dim();
  StageClock clock;
  const std::size_t first_row = turns.candidates.size();
  SEMRANK_RETURN_IF_ERROR(
      AddTitles(input, last, scratch, turns, result.problems));
  const std::size_t num_rows = turns.candidates.size() - first_row;
  scratch.rows.resize(num_rows * dim);
  result.times[Stage::kParse] += clock.Lap();
  SEMRANK_RETURN_IF_ERROR(embedder_.FindOrEmbedDocuments(
      served, scratch.texts, caller, scratch.embedder, scratch.rows.data(),
      result.cache, result.times));
  clock.Lap();
  turns.scores.resize(turns.candidates.size());
  const std::span<float> scores = std::span(turns.scores).subspan(first_row);
  ScoreMatrix(turns.query_row.data(), scratch.rows.data(), dim, scores);
  AddSparseScores(*served.model, turns.query[0], scratch.texts, scores);
  result.times[Stage::kScore] += clock.Lap();
  return absl::OkStatus();
}

absl::Status RankingEngine::AddTitles(
    const RankInput& input, std::size_t last, Scratch& scratch,
    RankTurns& turns, std::vector<ItemProblem>& problems) const {
  scratch.texts.Clear();
  for (; turns.next_title < last; ++turns.next_title) {
    const auto i = static_cast<std::uint32_t>(turns.next_title);
    const std::string_view title = input.titles[i];
    if (IsTooLong(title, limits_)) {
      problems.push_back({i, TextTooLong(ItemName("titles", i), title.size(),
                                         limits_.max_text_bytes)});
      continue;
    }
    const absl::Status valid = scratch.texts.Add(title);
    if (!valid.ok()) return InvalidUtf8(ItemName("titles", i), valid);
    turns.candidates.push_back(i);
  }
  return absl::OkStatus();
}

void RankingEngine::ScoreVectors(const RankInput& input,
                                 const TwoTowerModel& model, Scratch& scratch,
                                 RankTurns& turns, RankResult& result) {
  if (input.vectors.empty()) return;
  const int dim = model.embedding_dim();
  const bool cosine = model.config().tower() != v1::TOWER_KIND_SSI;
  StageClock clock;
  const std::size_t row_bytes = dim * sizeof(float);
  scratch.rows.resize(dim);
  for (std::size_t i = 0; i < input.vectors.size() / row_bytes; ++i) {
    const auto candidate = static_cast<std::uint32_t>(input.titles.size() + i);
    DecodeFloat32(input.vectors.substr(i * row_bytes, row_bytes), scratch.rows);
    if (!(cosine ? ScaleToUnitLength(scratch.rows)
                 : HasUsableValues(scratch.rows))) {
      result.problems.push_back(
          {candidate, FieldError("BAD_VECTOR", ItemName("vectors", i),
                                 "holds NaN, infinity or a number beyond "
                                 "what can be scored")});
      continue;
    }
    turns.candidates.push_back(candidate);
    ScoreMatrix(turns.query_row.data(), scratch.rows.data(), dim,
                {&turns.scores.emplace_back(), 1});
  }
  result.times[Stage::kScore] += clock.Lap();
}

absl::Status RankingEngine::Embed(const ServedModel& served,
                                  const EmbedInput& input, const Caller& caller,
                                  EmbedResult& result) const {
  EmbedTurns turns;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                             EmbedTurn(served, input, caller, turns, result));
    if (progress == Progress::kDone) return absl::OkStatus();
  }
}

absl::StatusOr<Progress> RankingEngine::EmbedTurn(const ServedModel& served,
                                                  const EmbedInput& input,
                                                  const Caller& caller,
                                                  EmbedTurns& turns,
                                                  EmbedResult& result) const {
  absl::StatusOr<Progress> progress =
      EmbedStages(served, input, caller, ThreadScratch(), turns, result);
  const bool over = !progress.ok() || *progress == Progress::kDone;
  if (over) RecordTimes(result.times);
  return progress;
}

absl::StatusOr<Progress> RankingEngine::EmbedStages(
    const ServedModel& served, const EmbedInput& input, const Caller& caller,
    Scratch& scratch, EmbedTurns& turns, EmbedResult& result) const {
  const int dim = served.model->embedding_dim();
  if (!turns.begun) {
    turns.begun = true;
    result.times = {};
    result.cache = {};
    result.problems.clear();
    SEMRANK_RETURN_IF_ERROR(CheckEmbed(input));
    SEMRANK_RETURN_IF_ERROR(CheckHasVectors(*served.model));
    result.vectors.assign(input.texts.size() * dim, 0);
  }
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  StageClock clock;
  const std::size_t last =
      TurnEnd(turns.next_text, input.texts.size(),
              [&](std::size_t i) { return input.texts[i].size(); });
  SEMRANK_RETURN_IF_ERROR(
      AddTexts(input, turns.next_text, last, scratch, result.problems));
  turns.next_text = last;
  scratch.rows.resize(scratch.items.size() * dim);
  result.times[Stage::kParse] += clock.Lap();
  if (input.side == Side::kDocument) {
    SEMRANK_RETURN_IF_ERROR(embedder_.FindOrEmbedDocuments(
        served, scratch.texts, caller, scratch.embedder, scratch.rows.data(),
        result.cache, result.times));
  } else {
    result.cache.misses += static_cast<std::uint32_t>(scratch.items.size());
    SEMRANK_RETURN_IF_ERROR(embedder_.Embed(served, input.side, scratch.texts,
                                            caller, scratch.embedder,
                                            scratch.rows.data(), result.times));
  }
  for (std::size_t row = 0; row < scratch.items.size(); ++row) {
    std::copy_n(scratch.rows.data() + row * dim, dim,
                result.vectors.data() + std::size_t{scratch.items[row]} * dim);
  }
  return last < input.texts.size() ? Progress::kMore : Progress::kDone;
}

absl::Status RankingEngine::AddTexts(const EmbedInput& input, std::size_t first,
                                     std::size_t last, Scratch& scratch,
                                     std::vector<ItemProblem>& problems) const {
  scratch.texts.Clear();
  scratch.items.clear();
  for (std::size_t i = first; i < last; ++i) {
    absl::Status status;
    if (IsTooLong(input.texts[i], limits_)) {
      status = TextTooLong(ItemName("texts", i), input.texts[i].size(),
                           limits_.max_text_bytes);
    } else if (const absl::Status valid = scratch.texts.Add(input.texts[i]);
               !valid.ok()) {
      status = InvalidUtf8(ItemName("texts", i), valid);
    }
    if (status.ok()) {
      scratch.items.push_back(static_cast<std::uint32_t>(i));
    } else if (input.skip_bad_texts) {
      problems.push_back({static_cast<std::uint32_t>(i), std::move(status)});
    } else {
      return status;
    }
  }
  return absl::OkStatus();
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
