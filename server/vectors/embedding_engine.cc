#include "server/vectors/embedding_engine.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

absl::Status CheckHasVectors(const TwoTowerModel& model) {
  if (model.embedding_dim() > 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "model",
                    absl::StrFormat("%s has no vectors: it scores pairs of "
                                    "texts by their words alone",
                                    model.version().name));
}

}  // namespace

absl::Status EmbeddingEngine::Check(const EmbedInput& input) const {
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

absl::Status EmbeddingEngine::Embed(const ServedModel& served,
                                    const EmbedInput& input,
                                    const Caller& caller,
                                    EmbedResult& result) const {
  EmbedState state;
  while (true) {
    SEMRANK_ASSIGN_OR_RETURN(const Progress progress,
                             RunSlice(served, input, caller, state, result));
    if (progress == Progress::kDone) return absl::OkStatus();
  }
}

absl::StatusOr<Progress> EmbeddingEngine::RunSlice(const ServedModel& served,
                                                   const EmbedInput& input,
                                                   const Caller& caller,
                                                   EmbedState& state,
                                                   EmbedResult& result) const {
  absl::StatusOr<Progress> progress =
      Stages(served, input, caller, state, result);
  const bool over = !progress.ok() || *progress == Progress::kDone;
  if (over) RecordStages(result.times, *metrics_);
  return progress;
}

absl::StatusOr<Progress> EmbeddingEngine::Stages(const ServedModel& served,
                                                 const EmbedInput& input,
                                                 const Caller& caller,
                                                 EmbedState& state,
                                                 EmbedResult& result) const {
  const int dim = served.model->embedding_dim();
  if (!state.begun) {
    state.begun = true;
    result.times = {};
    result.cache = {};
    result.problems.clear();
    SEMRANK_RETURN_IF_ERROR(Check(input));
    SEMRANK_RETURN_IF_ERROR(CheckHasVectors(*served.model));
    result.vectors.assign(input.texts.size() * dim, 0);
  }
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  SliceScratch& scratch = ThreadSliceScratch();
  thread_local std::vector<std::uint32_t> items;
  StageClock clock;
  const std::size_t last =
      SliceEnd(state.next_text, input.texts.size(),
               [&](std::size_t i) { return input.texts[i].size(); });
  SEMRANK_RETURN_IF_ERROR(AddTexts(input, state.next_text, last, scratch.texts,
                                   items, result.problems));
  state.next_text = last;
  scratch.rows.resize(items.size() * dim);
  result.times[Stage::kParse] += clock.Lap();
  const EmbedContext context = {served, caller, result.times};
  if (input.side == Side::kDocument) {
    SEMRANK_RETURN_IF_ERROR(embedder_.FindOrEmbedDocuments(
        context, scratch.texts, scratch.rows.data(), result.cache));
  } else {
    // Queries are not cached: they rarely come twice.
    result.cache.misses += static_cast<std::uint32_t>(scratch.texts.size());
    SEMRANK_RETURN_IF_ERROR(embedder_.Embed(context, input.side, scratch.texts,
                                            scratch.rows.data()));
  }
  for (std::size_t row = 0; row < items.size(); ++row) {
    std::copy_n(scratch.rows.data() + row * dim, dim,
                result.vectors.data() + std::size_t{items[row]} * dim);
  }
  return last < input.texts.size() ? Progress::kMore : Progress::kDone;
}

absl::Status EmbeddingEngine::AddTexts(
    const EmbedInput& input, std::size_t first, std::size_t last,
    TextBatch& batch, std::vector<std::uint32_t>& items,
    std::vector<ItemProblem>& problems) const {
  batch.Clear();
  items.clear();
  for (std::size_t i = first; i < last; ++i) {
    absl::Status status;
    if (IsTooLong(input.texts[i], limits_)) {
      status = TextTooLong(ItemName("texts", i), input.texts[i].size(),
                           limits_.max_text_bytes);
    } else if (const absl::Status valid = batch.Add(input.texts[i]);
               !valid.ok()) {
      status = InvalidUtf8(ItemName("texts", i), valid);
    }
    if (status.ok()) {
      items.push_back(static_cast<std::uint32_t>(i));
    } else if (input.skip_bad_texts) {
      problems.push_back({static_cast<std::uint32_t>(i), std::move(status)});
    } else {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace semrank
