// The part of a score that comes from the words of both texts, for models that
// have one (SSI): computed for each request, from the titles themselves.
//
//   Promise  as Rank's: the same bits alone, in any batch, in any thread.
//   Threads  from any thread; each keeps its memory, 4 bytes a word of the
//            vocabulary.
#ifndef SEMRANK_SERVER_VECTORS_SPARSE_SCORES_H_
#define SEMRANK_SERVER_VECTORS_SPARSE_SCORES_H_

#include <span>
#include <string_view>

#include "model/nn/two_tower_model.h"
#include "server/vectors/text_embedder.h"

namespace semrank {

// Adds it to scores[i] of titles[i], all normalised. Does nothing for a model
// whose vectors are all of the score.
void AddSparseScores(const TwoTowerModel& model, std::string_view query,
                     const TextBatch& titles, std::span<float> scores);

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_SPARSE_SCORES_H_
