// Held-out clicks as a judged collection, to rank with a model and a baseline:
// the titles that were clicked for a query are relevant, the others are not.
//
//   Size     at most kMaxHeldOutQueries random queries with their clicked
//            titles, and other random titles up to kMaxHeldOutTitles in all: a
//            ranker takes a second or two for it, whatever the click log.
//   Promise  the same arguments give the same collection.
#ifndef SEMRANK_MODEL_TRAIN_DATA_HELD_OUT_COLLECTION_H_
#define SEMRANK_MODEL_TRAIN_DATA_HELD_OUT_COLLECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "model/data/collection.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"

namespace semrank {

inline constexpr std::size_t kMaxHeldOutQueries = 1000;
inline constexpr std::size_t kMaxHeldOutTitles = 10'000;

// `titles` are those of the training pairs. Null without `held_out` pairs.
std::shared_ptr<const Collection> MakeHeldOutCollection(
    const TextInterner& texts, std::span<const TextPair> held_out,
    std::span<const TextId> titles, std::uint64_t seed);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_HELD_OUT_COLLECTION_H_
