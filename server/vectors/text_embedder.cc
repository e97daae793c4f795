#include "server/vectors/text_embedder.h"

#include <algorithm>

#include "model/base/status_macros.h"
#include "model/nn/kernels.h"
#include "server/base/errors.h"

namespace semrank {
namespace {

// The most that goes through a tower between two checks of the caller: half a
// millisecond of titles, or a few of the longest texts allowed.
constexpr std::size_t kMaxBatchTexts = 256;
constexpr std::size_t kMaxBatchBytes = std::size_t{32} << 10;
// A thread frees larger matrices after use.
constexpr std::size_t kMaxKeptFloats = std::size_t{4} << 20;

// The end of the batch that begins at `first`, of `count` texts.
template <typename TextAt>
std::size_t BatchEnd(std::size_t first, std::size_t count, TextAt text_at) {
  const std::size_t limit = std::min(count, first + kMaxBatchTexts);
  std::size_t num_bytes = 0;
  std::size_t last = first;
  while (last < limit && num_bytes < kMaxBatchBytes) {
    num_bytes += text_at(last++).size();
  }
  return last;
}

}  // namespace

// One a thread, apart from SliceScratch, where callers hold the texts that they
// pass. ThreadScratch may replace it once `rows` has grown, so no method uses a
// reference after another call of it.
struct TextEmbedder::Scratch {
  // A text that was not in the cache.
  struct Missing {
    int text = 0;        // index among the texts of the call
    int normalized = 0;  // index in `normalized`
  };

  EmbedScratch embed;
  // These are parallel to the texts of a call.
  std::vector<VectorKey> keys;
  std::vector<std::uint8_t> found;
  std::vector<Missing> missing;
  TextBatch normalized;
  // These are for the missing texts that are looked up or embedded together.
  std::vector<std::string_view> texts;
  std::vector<VectorKey> text_keys;
  std::vector<float> rows;
  LexicalBatch lexical;
  std::vector<std::uint8_t> text_found;

  // Gathers missing[first..last) and their keys.
  void Gather(std::size_t first, std::size_t last, int dim) {
    texts.clear();
    text_keys.clear();
    lexical.Clear();
    for (std::size_t i = first; i < last; ++i) {
      texts.push_back(normalized[missing[i].normalized]);
      text_keys.push_back(keys[missing[i].text]);
    }
    rows.resize((last - first) * dim);
  }

  // Outputs what was gathered at `row` as text number `text` of the call.
  void Output(const VectorRows& out, std::size_t row, std::size_t text,
              int dim) const {
    const float* const vector = rows.data() + row * dim;
    if (out.dense != nullptr) {
      std::copy_n(vector, dim, out.dense + text * dim);
    }
    if (out.scores != nullptr) {
      // The kernel for cached vectors gives the same bits.
      out.scores[text] = Dot(out.query_row, vector, dim);
    }
    if (out.query != nullptr) {
      out.lexical[text] = out.query->Cosine(lexical[static_cast<int>(row)]);
    }
  }
};

TextEmbedder::Scratch& TextEmbedder::ThreadScratch() {
  thread_local Scratch scratch;
  if (scratch.rows.capacity() > kMaxKeptFloats) scratch = Scratch();
  return scratch;
}

TextEmbedder::TextEmbedder(DocumentVectorCache* cache, Metrics* metrics,
                           StoredVectors* stored)
    : cache_(cache),
      metrics_(metrics),
      stored_(stored),
      fingerprint_(Fingerprinter::RandomSecret()) {}

absl::Status TextEmbedder::Embed(const EmbedContext& context, Side side,
                                 const TextBatch& texts, float* rows) const {
  const TwoTowerModel& model = *context.served.model;
  const std::size_t dim = model.embedding_dim();
  if (dim == 0) return absl::OkStatus();
  const auto count = static_cast<std::size_t>(texts.size());
  Scratch& scratch = ThreadScratch();
  Stopwatch clock;
  for (std::size_t first = 0; first < count;) {
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(context.caller));
    const std::size_t last =
        BatchEnd(first, count, [&](std::size_t i) { return texts[i]; });
    scratch.texts.clear();
    for (std::size_t i = first; i < last; ++i) {
      scratch.texts.push_back(texts[i]);
    }
    model.EmbedTexts(side, scratch.texts, scratch.embed, rows + first * dim);
    metrics_->CountEmbedded(side, last - first);
    first = last;
  }
  context.times[Phase::kEmbed] += clock.Lap();
  return absl::OkStatus();
}

// The key is made of the text as it was sent: a cached query is not normalised.
absl::Status TextEmbedder::FindOrEmbedQuery(const EmbedContext& context,
                                            std::string_view text,
                                            QueryVector& query) const {
  const TwoTowerModel& model = *context.served.model;
  // SSI scores the words themselves, which are not in the cache.
  const bool scores_words = model.sparse_scorer() != nullptr;
  const VectorKey key = {context.served.number, Side::kQuery,
                         fingerprint_(text)};
  Stopwatch clock;
  query.row.resize(model.embedding_dim());
  const bool found =
      !scores_words && cache_->FindOne(key, query.row, query.entries);
  context.times[Phase::kCache] += clock.Lap();
  if (found) return absl::OkStatus();
  Scratch& scratch = ThreadScratch();
  scratch.normalized.Clear();
  scratch.lexical.Clear();
  const absl::Status valid =
      scratch.normalized.Add(text, model.normalizer_version());
  context.times[Phase::kParse] += clock.Lap();
  if (!valid.ok()) return InvalidUtf8("query", valid);
  SEMRANK_RETURN_IF_ERROR(
      Embed(context, Side::kQuery, scratch.normalized, query.row.data()));
  clock.Lap();
  const LexicalPart* const lexical = model.lexical();
  if (lexical != nullptr) {
    lexical->AppendText(scratch.normalized[0], scratch.lexical);
    query.entries = scratch.lexical.entries;
  }
  // The caller scores the words after the scratch has been used again, so this
  // copies the normalised text.
  if (scores_words) {
    query.text = scratch.normalized[0];
  } else {
    cache_->Insert({&key, 1}, model.row_format(), query.row.data(),
                   lexical == nullptr ? nullptr : &scratch.lexical);
  }
  context.times[Phase::kCache] += clock.Lap();
  return absl::OkStatus();
}

// The levels in turn: memory, by the bytes of the text; then, for what is
// missing, normalise, ask the store, and embed the rest batch by batch.
absl::Status TextEmbedder::FindOrEmbedDocuments(
    const EmbedContext& context, std::span<const std::string_view> texts,
    OnInvalidText on_invalid, const VectorRows& rows, CacheUse& use) const {
  const RowFormat format = context.served.model->row_format();
  const int dim = format.dim;
  if (dim == 0) {
    if (rows.scores != nullptr) std::fill_n(rows.scores, texts.size(), 0.0f);
    return absl::OkStatus();
  }
  Scratch& scratch = ThreadScratch();
  Stopwatch clock;
  // All keys first, so that the cache looks them up in passes.
  scratch.keys.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    // Keys are made of the bytes as they were sent, so that a title in memory
    // is not normalised. Two spellings of a text take two entries.
    scratch.keys[i] = {context.served.number, Side::kDocument,
                       fingerprint_(texts[i])};
  }
  scratch.found.assign(texts.size(), 0);
  const std::uint32_t hits =
      cache_->Find(scratch.keys, format, rows, scratch.found);
  metrics_->CountCacheRequests(hits,
                               static_cast<std::int64_t>(texts.size()) - hits);
  use.hits += hits;
  context.times[Phase::kCache] += clock.Lap();
  if (hits == texts.size()) return absl::OkStatus();

  SEMRANK_RETURN_IF_ERROR(NormalizeMissing(texts, *context.served.model,
                                           on_invalid, scratch, rows));
  context.times[Phase::kParse] += clock.Lap();
  const std::uint32_t store_hits = stored_ == nullptr || scratch.missing.empty()
                                       ? 0
                                       : FindStored(context, scratch, rows);
  use.hits += store_hits;
  use.store_hits += store_hits;
  // FindStored has removed what it found from the list.
  use.misses += static_cast<std::uint32_t>(scratch.missing.size());
  for (const Scratch::Missing& missing : scratch.missing) {
    use.embedded.push_back(static_cast<std::uint32_t>(missing.text));
  }
  context.times[Phase::kCache] += clock.Lap();
  return EmbedMissing(context, scratch, rows);
}

absl::Status TextEmbedder::NormalizeMissing(
    std::span<const std::string_view> texts, const TwoTowerModel& model,
    OnInvalidText on_invalid, Scratch& scratch, const VectorRows& rows) {
  const int dim = model.embedding_dim();
  scratch.missing.clear();
  scratch.normalized.Clear();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (scratch.found[i] != 0) continue;
    const absl::Status valid =
        scratch.normalized.Add(texts[i], model.normalizer_version());
    if (valid.ok()) {
      scratch.missing.push_back(
          {static_cast<int>(i), scratch.normalized.size() - 1});
      continue;
    }
    // The caller keeps the text's place, so its output must be defined.
    SEMRANK_RETURN_IF_ERROR(on_invalid(i, valid));
    if (rows.dense != nullptr) std::fill_n(rows.dense + i * dim, dim, 0.0f);
    if (rows.scores != nullptr) rows.scores[i] = 0;
    if (rows.query != nullptr) rows.lexical[i] = 0;
  }
  return absl::OkStatus();
}

absl::Status TextEmbedder::EmbedMissing(const EmbedContext& context,
                                        Scratch& scratch,
                                        const VectorRows& rows) const {
  const int dim = context.served.model->embedding_dim();
  for (std::size_t first = 0; first < scratch.missing.size();) {
    // Only between batches: a batch that was begun is finished, and its vectors
    // are kept.
    SEMRANK_RETURN_IF_ERROR(CheckStillWanted(context.caller));
    const std::size_t last =
        BatchEnd(first, scratch.missing.size(), [&](std::size_t i) {
          return scratch.normalized[scratch.missing[i].normalized];
        });
    scratch.Gather(first, last, dim);
    EmbedGathered(context, scratch);
    for (std::size_t i = first; i < last; ++i) {
      scratch.Output(rows, i - first, scratch.missing[i].text, dim);
    }
    first = last;
  }
  return absl::OkStatus();
}

std::uint32_t TextEmbedder::FindStored(const EmbedContext& context,
                                       Scratch& scratch,
                                       const VectorRows& rows) const {
  const int dim = context.served.model->embedding_dim();
  const std::size_t count = scratch.missing.size();
  // One call of the store for the whole slice: its cost is the round trip.
  scratch.Gather(0, count, dim);
  scratch.text_found.resize(count);
  if (stored_->Find(context.served, scratch.texts, context.caller,
                    scratch.rows.data(), scratch.text_found) == 0) {
    return 0;
  }
  // Moves the vectors that were found together, for one Insert.
  const LexicalPart* const lexical = context.served.model->lexical();
  std::size_t num_found = 0;
  std::size_t num_missing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // A copy, since its place in the list may be overwritten.
    const Scratch::Missing missing = scratch.missing[i];
    if (scratch.text_found[i] == 0) {
      scratch.missing[num_missing++] = missing;
      continue;
    }
    if (num_found != i) {
      std::copy_n(scratch.rows.data() + i * dim, dim,
                  scratch.rows.data() + num_found * dim);
    }
    if (lexical != nullptr) {
      lexical->AppendText(scratch.texts[i], scratch.lexical);
    }
    scratch.Output(rows, num_found, missing.text, dim);
    scratch.text_keys[num_found++] = scratch.text_keys[i];
  }
  scratch.missing.resize(num_missing);
  cache_->Insert(std::span(scratch.text_keys).first(num_found),
                 context.served.model->row_format(), scratch.rows.data(),
                 lexical == nullptr ? nullptr : &scratch.lexical);
  return static_cast<std::uint32_t>(num_found);
}

void TextEmbedder::EmbedGathered(const EmbedContext& context,
                                 Scratch& scratch) const {
  const TwoTowerModel& model = *context.served.model;
  Stopwatch clock;
  model.EmbedTexts(Side::kDocument, scratch.texts, scratch.embed,
                   scratch.rows.data());
  const LexicalPart* const lexical = model.lexical();
  if (lexical != nullptr) {
    for (const std::string_view text : scratch.texts) {
      lexical->AppendText(text, scratch.lexical);
    }
  }
  metrics_->CountEmbedded(Side::kDocument, scratch.texts.size());
  context.times[Phase::kEmbed] += clock.Lap();
  // Two threads may embed the same text at once. Both get the same bits, and
  // the second Insert changes nothing.
  cache_->Insert(scratch.text_keys, model.row_format(), scratch.rows.data(),
                 lexical == nullptr ? nullptr : &scratch.lexical);
  if (stored_ != nullptr) {
    stored_->Keep(context.served, scratch.texts, scratch.rows.data());
  }
  context.times[Phase::kCache] += clock.Lap();
}

}  // namespace semrank
