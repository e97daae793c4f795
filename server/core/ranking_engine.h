// Ranks candidates for a query and embeds texts, without knowing a wire: the
// gRPC services and the HTTP handlers both end here.
//
//   Promise  a text's vector and a pair's score are the same bits alone, in any
//            batch, in any thread, cached or not, on one machine and build.
//   Work     in the calling thread, to the end or turn by turn (progress.h).
//            Every slice of a few hundred texts it asks whether the caller
//            still waits.
//   Threads  every method, from any thread. Each thread keeps scratch memory,
//            at most about 16 MiB of it between requests.
//   Errors   InvalidArgument for what fails the call, DeadlineExceeded and
//            Cancelled when nobody waits; problems of single candidates are
//            part of the result.
#ifndef SEMRANK_SERVER_CORE_RANKING_ENGINE_H_
#define SEMRANK_SERVER_CORE_RANKING_ENGINE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/nn/cosine_scorer.h"
#include "server/core/caller.h"
#include "server/core/document_vector_cache.h"
#include "server/core/limits.h"
#include "server/core/metrics.h"
#include "server/core/model_store.h"
#include "server/core/progress.h"
#include "server/core/stage_times.h"
#include "server/core/text_embedder.h"

namespace semrank {

// Candidates are numbered through from 0: titles, then rows of `vectors`, of
// which a model whose score has a sparse part takes none.
struct RankInput {
  std::string_view query = {};
  std::span<const std::string_view> titles = {};
  // Rows of embedding_dim float32, little-endian.
  std::string_view vectors = {};
  std::uint32_t top_k = 0;  // 0 = all
  std::optional<float> min_score = {};
};

struct EmbedInput {
  Side side = Side::kDocument;
  std::span<const std::string_view> texts = {};
  // A bad text is a problem of its own, and there may be no text at all; else
  // it fails the call.
  bool skip_bad_texts = false;
};

// What is wrong with one candidate or text; the others are answered.
struct ItemProblem {
  std::uint32_t index = 0;
  absl::Status status;
};

struct RankResult {
  std::vector<RankedDocument> ranking;  // index = candidate number
  std::vector<ItemProblem> problems;
  CacheUse cache;
  StageTimes times;
};

struct EmbedResult {
  // Row-major [texts.size(), embedding_dim]; zeros for texts with a problem.
  std::vector<float> vectors;
  std::vector<ItemProblem> problems;
  CacheUse cache;
  StageTimes times;
};

// How far a request has come between two turns; begins empty. Position i of
// `scores` belongs to candidate candidates[i].
struct RankTurns {
  bool begun = false;
  std::size_t next_title = 0;
  TextBatch query;
  std::vector<float> query_row;
  std::vector<std::uint32_t> candidates;
  std::vector<float> scores;
};
struct EmbedTurns {
  bool begun = false;
  std::size_t next_text = 0;
};

// What a query must be, wherever one comes in.
absl::Status CheckQuery(std::string_view query, const Limits& limits);

class RankingEngine {
 public:
  // `cache` and `metrics` must outlive the engine.
  RankingEngine(const Limits& limits, DocumentVectorCache* cache,
                Metrics* metrics);

  // What can be refused before any work: sizes and call-level fields.
  absl::Status CheckRank(const ServedModel& served,
                         const RankInput& input) const;
  absl::Status CheckEmbed(const EmbedInput& input) const;

  // Check themselves first. `result` is overwritten, reusing its memory; with
  // an error only its times mean something.
  absl::Status Rank(const ServedModel& served, const RankInput& input,
                    const Caller& caller, RankResult& result) const;
  absl::Status Embed(const ServedModel& served, const EmbedInput& input,
                     const Caller& caller, EmbedResult& result) const;

  // One turn of the same; `result` is complete after kDone. After an error
  // there is no further turn.
  absl::StatusOr<Progress> RankTurn(const ServedModel& served,
                                    const RankInput& input,
                                    const Caller& caller, RankTurns& turns,
                                    RankResult& result) const;
  absl::StatusOr<Progress> EmbedTurn(const ServedModel& served,
                                     const EmbedInput& input,
                                     const Caller& caller, EmbedTurns& turns,
                                     EmbedResult& result) const;

  const Limits& limits() const { return limits_; }
  const TextEmbedder& embedder() const { return embedder_; }

 private:
  struct Scratch;
  static Scratch& ThreadScratch();

  // Checks, and embeds the query.
  absl::Status BeginRank(const ServedModel& served, const RankInput& input,
                         const Caller& caller, Scratch& scratch,
                         RankTurns& turns, RankResult& result) const;
  absl::StatusOr<Progress> RankStages(const ServedModel& served,
                                      const RankInput& input,
                                      const Caller& caller, Scratch& scratch,
                                      RankTurns& turns,
                                      RankResult& result) const;
  absl::StatusOr<Progress> EmbedStages(const ServedModel& served,
                                       const EmbedInput& input,
                                       const Caller& caller, Scratch& scratch,
                                       EmbedTurns& turns,
                                       EmbedResult& result) const;
  // Scores the titles up to number `last`.
  absl::Status ScoreTitles(const ServedModel& served, const RankInput& input,
                           std::size_t last, const Caller& caller,
                           Scratch& scratch, RankTurns& turns,
                           RankResult& result) const;
  // Normalises the titles up to number `last`; those without a problem become
  // candidates.
  absl::Status AddTitles(const RankInput& input, std::size_t last,
                         Scratch& scratch, RankTurns& turns,
                         std::vector<ItemProblem>& problems) const;
  static void ScoreVectors(const RankInput& input, const TwoTowerModel& model,
                           Scratch& scratch, RankTurns& turns,
                           RankResult& result);
  // Normalises texts [turns.next_text, last); those without a problem get into
  // scratch.texts and scratch.items.
  absl::Status AddTexts(const EmbedInput& input, std::size_t first,
                        std::size_t last, Scratch& scratch,
                        std::vector<ItemProblem>& problems) const;
  void RecordTimes(const StageTimes& times) const;

  const Limits limits_;
  Metrics* const metrics_;
  const TextEmbedder embedder_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CORE_RANKING_ENGINE_H_
