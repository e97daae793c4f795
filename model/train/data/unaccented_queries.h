// Training queries that have accents, typed without them: users who search
// for "Brücke" also type "brucke", and few logs have both spellings of a query.
//
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_TRAIN_DATA_UNACCENTED_QUERIES_H_
#define SEMRANK_MODEL_TRAIN_DATA_UNACCENTED_QUERIES_H_

#include <initializer_list>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"

namespace semrank {

// The text without accents, by query. A query without accents is not in it.
using UnaccentedQueries = absl::flat_hash_map<TextId, TextId>;

// Finds those of the pairs' queries, and adds the new texts to `texts`. Omits a
// text that is a query of the pairs itself, or that two of them have ("pate" of
// "pâte" and "pâté"): the titles of one would be negatives of the other. Omits
// queries of `held_out`, too, which must not be trained.
UnaccentedQueries FindUnaccentedQueries(
    std::span<const TextPair> pairs,
    std::initializer_list<std::span<const TextPair>> held_out,
    TextInterner& texts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_UNACCENTED_QUERIES_H_
