// Ranks candidates for a query and embeds texts, without knowing a wire: the
// gRPC services and the HTTP handlers both end here.
//
//   Promise  a text's vector and a pair's score are the same bits alone, in any
//            batch, in any thread, cached or not, on one machine and build.
//   Work     in the calling thread. Every slice of a few hundred texts it asks
//            whether the caller still waits.
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

#include "absl/status/status.h"
#include "model/nn/cosine_scorer.h"
#include "server/core/caller.h"
#include "server/core/document_vector_cache.h"
#include "server/core/limits.h"
#include "server/core/metrics.h"
#include "server/core/model_store.h"
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
};

// What is wrong with one candidate; the others are ranked.
struct CandidateProblem {
  std::uint32_t index = 0;
  absl::Status status;
};

struct RankResult {
  std::vector<RankedDocument> ranking;  // index = candidate number
  std::vector<CandidateProblem> problems;
  CacheUse cache;
  StageTimes times;
};

struct EmbedResult {
  std::vector<float> vectors;  // row-major [texts.size(), embedding_dim]
  CacheUse cache;
  StageTimes times;
};

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

  const Limits& limits() const { return limits_; }

 private:
  struct Scratch;
  static Scratch& ThreadScratch();

  absl::Status RankStages(const ServedModel& served, const RankInput& input,
                          const Caller& caller, Scratch& scratch,
                          RankResult& result) const;
  absl::Status EmbedStages(const ServedModel& served, const EmbedInput& input,
                           const Caller& caller, Scratch& scratch,
                           EmbedResult& result) const;
  // Normalises the titles; those that can be scored become rows.
  absl::Status AddTitles(const RankInput& input, Scratch& scratch,
                         std::vector<CandidateProblem>& problems) const;
  // Rows of given vectors, after those of the titles.
  static void AddVectors(const RankInput& input, const TwoTowerModel& model,
                         Scratch& scratch,
                         std::vector<CandidateProblem>& problems);
  void RecordTimes(const StageTimes& times) const;

  const Limits limits_;
  Metrics* const metrics_;
  const TextEmbedder embedder_;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CORE_RANKING_ENGINE_H_
