// The titles of the catalogue that a model is to rank (--docs).
#ifndef SEMRANK_MODEL_TRAIN_DATA_CATALOGUE_H_
#define SEMRANK_MODEL_TRAIN_DATA_CATALOGUE_H_

#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/text_table.h"
#include "model/train/options/train_options.h"

namespace semrank {

// The distinct titles of options.docs_file, normalised and interned, in
// ascending order of their numbers. InvalidArgument with fewer than two; other
// errors are those of the documents' reader.
absl::StatusOr<std::vector<TextId>> ReadCatalogue(const DataOptions& options,
                                                  BadLines& bad_lines,
                                                  TextInterner& texts);

// The share of `catalogue` that is among `titles`, both in ascending order.
// Titles for which `counts` is false are left out; 0 if that leaves none.
double ShareOfTitles(std::span<const TextId> catalogue,
                     std::span<const TextId> titles,
                     absl::FunctionRef<bool(TextId)> counts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_CATALOGUE_H_
