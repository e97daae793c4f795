// Computes the scores of documents from their vectors and the query's, and a
// ranking from scores.
//
//   Score    dot product of unit vectors = cosine (DSSM eq. 5), in [-1, 1] up
//            to rounding; 0 with a zero vector.
//   Order    descending score, then ascending position. NaN never occurs.
#ifndef SEMRANK_MODEL_NN_COSINE_SCORER_H_
#define SEMRANK_MODEL_NN_COSINE_SCORER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/nn/row_format.h"

namespace semrank {

// scores[i] = query . rows[i], a row of `format`; rows are prefetched. The bits
// are those of the float32 vectors that were kept as rows.
void ScoreDocuments(const float* query, std::span<const std::byte* const> rows,
                    RowFormat format, std::span<float> scores);

// As ScoreDocuments, bitwise, for rows that the caller has prefetched.
void ScoreNearDocuments(const float* query,
                        std::span<const std::byte* const> rows,
                        RowFormat format, std::span<float> scores);

// scores[i] = query . row i of the row-major `matrix` [scores.size(), dim].
void ScoreMatrix(const float* query, const float* matrix, int dim,
                 std::span<float> scores);

// As ScoreDocuments, bitwise, for rows that follow each other in main memory
// rather than in the CPU's caches: prefetches rows ahead, also beyond the last,
// where the caller's next block may lie. 2.4 times as fast there.
void ScoreFarMatrix(const float* query, const std::byte* matrix,
                    RowFormat format, std::span<float> scores);

struct RankedDocument {
  std::uint32_t index = 0;
  float score = 0;
  friend bool operator==(const RankedDocument&,
                         const RankedDocument&) = default;
};

// Replaces `ranking` by the best `top_k` of `scores` (0 = all), in order,
// reusing its memory. NaN ranks last.
void RankScores(std::span<const float> scores, std::uint32_t top_k,
                std::vector<RankedDocument>& ranking);

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_COSINE_SCORER_H_
