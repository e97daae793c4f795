#include "server/vectors/embedding_engine.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// An SSI model may have no vectors: its documents are scored by their words.
absl::Status CheckHasVectors(const TwoTowerModel& model) {
  if (model.embedding_dim() > 0) return absl::OkStatus();
  return FieldError("INVALID_FIELD", "model",
                    absl::StrFormat("%s has no vectors: it scores pairs of "
                                    "texts by their words alone",
                                    model.version().name));
}

// A bad text is a problem of its own, or fails the call.
absl::Status SkipOrFail(const EmbedInput& input, std::uint32_t item,
                        absl::Status error,
                        std::vector<ItemProblem>& problems) {
  if (!input.skip_bad_texts) return error;
  problems.push_back({item, std::move(error)});
  return absl::OkStatus();
}

}  // namespace

absl::Status EmbeddingEngine::Check(const EmbedInput& input) const {
  if (input.texts.size() >
      static_cast<std::size_t>(limits_.max_texts_per_request)) {
    return TooManyTexts("texts", input.texts.size(),
                        limits_.max_texts_per_request);
  }
  // In this case each text is checked in its slice, and there may be none.
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

// One slice selects texts, finds or embeds them into the scratch, and copies
// the rows to their places in the result.
absl::StatusOr<Progress> EmbeddingEngine::RunSlice(const ServedModel& served,
                                                   const EmbedInput& input,
                                                   const Caller& caller,
                                                   EmbedState& state,
                                                   EmbedResult& result) const {
  // A request records its stages once, at its end, also if it fails.
  absl::Cleanup record = [&] { RecordPhases(result.times, *metrics_); };
  const int dim = served.model->embedding_dim();
  if (!state.begun) {
    state.begun = true;
    // The caller may reuse a result, so the first slice resets it.
    result.times = {};
    result.cache = {};
    result.problems.clear();
    SEMRANK_RETURN_IF_ERROR(CheckHasVectors(*served.model));
    // Zeros stay for texts with a problem.
    result.vectors.assign(input.texts.size() * dim, 0);
  }
  SEMRANK_RETURN_IF_ERROR(CheckStillWanted(caller));
  SliceScratch& scratch = ThreadSliceScratch();
  // Thread-local like the scratch, so that it does not allocate.
  thread_local std::vector<std::uint32_t> items;
  const std::size_t last =
      SliceEnd(state.next_text, input.texts.size(),
               [&](std::size_t i) { return input.texts[i].size(); });
  SEMRANK_RETURN_IF_ERROR(SelectTexts(input, state.next_text, last,
                                      scratch.texts, items, result.problems));
  state.next_text = last;
  scratch.rows.resize(items.size() * dim);
  const EmbedContext context = {served, caller, result.times};
  SEMRANK_RETURN_IF_ERROR(
      input.side == Side::kDocument
          ? EmbedDocuments(context, input, items, scratch, result)
          : EmbedQueries(context, input, items, scratch, result));
  for (std::size_t row = 0; row < items.size(); ++row) {
    std::copy_n(scratch.rows.data() + row * dim, dim,
                result.vectors.data() + std::size_t{items[row]} * dim);
  }
  if (last < input.texts.size()) {
    std::move(record).Cancel();
    return Progress::kMore;
  }
  // A slice finds too long texts before those that are not UTF-8.
  std::ranges::sort(result.problems, {}, &ItemProblem::index);
  return Progress::kDone;
}

absl::Status EmbeddingEngine::SelectTexts(
    const EmbedInput& input, std::size_t first, std::size_t last,
    std::vector<std::string_view>& texts, std::vector<std::uint32_t>& items,
    std::vector<ItemProblem>& problems) const {
  // Parallel: row i of the scratch belongs to texts[i], which is text items[i]
  // of the request.
  texts.clear();
  items.clear();
  for (std::size_t i = first; i < last; ++i) {
    const auto item = static_cast<std::uint32_t>(i);
    if (IsTooLong(input.texts[i], limits_)) {
      SEMRANK_RETURN_IF_ERROR(
          SkipOrFail(input, item,
                     TextTooLong(ItemName("texts", i), input.texts[i].size(),
                                 limits_.max_text_bytes),
                     problems));
      continue;
    }
    texts.push_back(input.texts[i]);
    items.push_back(item);
  }
  return absl::OkStatus();
}

// Documents go through cache and store, because Rank asks for the same titles
// again.
absl::Status EmbeddingEngine::EmbedDocuments(
    const EmbedContext& context, const EmbedInput& input,
    const std::vector<std::uint32_t>& items, SliceScratch& scratch,
    EmbedResult& result) const {
  const auto on_invalid = [&](std::size_t i, const absl::Status& error) {
    return SkipOrFail(input, items[i],
                      InvalidUtf8(ItemName("texts", items[i]), error),
                      result.problems);
  };
  return embedder_.FindOrEmbedDocuments(context, scratch.texts, on_invalid,
                                        {scratch.rows.data()}, result.cache);
}

absl::Status EmbeddingEngine::EmbedQueries(const EmbedContext& context,
                                           const EmbedInput& input,
                                           std::vector<std::uint32_t>& items,
                                           SliceScratch& scratch,
                                           EmbedResult& result) const {
  Stopwatch clock;
  scratch.normalized.Clear();
  std::size_t num_valid = 0;
  for (const std::uint32_t item : items) {
    const absl::Status valid = scratch.normalized.Add(
        input.texts[item], context.served.model->normalizer_version());
    if (valid.ok()) {
      // Compacts `items` in place, parallel to scratch.normalized.
      items[num_valid++] = item;
      continue;
    }
    SEMRANK_RETURN_IF_ERROR(
        SkipOrFail(input, item, InvalidUtf8(ItemName("texts", item), valid),
                   result.problems));
  }
  items.resize(num_valid);
  context.times[Phase::kParse] += clock.Lap();
  // EmbedTexts does not cache queries, as Rank does: a batch of them rarely
  // comes twice.
  result.cache.misses += static_cast<std::uint32_t>(num_valid);
  return embedder_.Embed(context, Side::kQuery, scratch.normalized,
                         scratch.rows.data());
}

}  // namespace semrank
