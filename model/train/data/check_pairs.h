// Finds pairs of which nothing can be learned, or something else than is meant.
#ifndef SEMRANK_MODEL_TRAIN_DATA_CHECK_PAIRS_H_
#define SEMRANK_MODEL_TRAIN_DATA_CHECK_PAIRS_H_

#include <span>

#include "absl/status/status.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/train/options/train_options.h"

namespace semrank {

// InvalidArgument, naming the files and what to do, when
//   * every query has clicked every title, and no titles were shown without a
//     click: no title is a negative;
//   * the queries look like the ids of a file of documents or queries: each
//     stands once, and nearly all are a number with at most a few letters
//     before it. --force accepts them.
absl::Status CheckPairsCanTeach(const TrainOptions& options,
                                std::span<const TextPair> pairs,
                                const TextInterner& texts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_CHECK_PAIRS_H_
