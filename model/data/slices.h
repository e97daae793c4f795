// Named parts of the queries, such as names, sentences and misspelled queries:
// a mean over all queries hides what one kind of them gains or loses.
#ifndef SEMRANK_MODEL_DATA_SLICES_H_
#define SEMRANK_MODEL_DATA_SLICES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/collection.h"
#include "model/data/input_lines.h"

namespace semrank {

struct Slice {
  std::string name;
  std::vector<std::uint32_t> queries;  // indices, rising
};

// Reads "query_id TAB slice" lines. A query may be in several slices, or none;
// lines of unknown queries are ignored. Slices keep the order in which the file
// first names them. Fails when the file names no query of the collection.
absl::StatusOr<std::vector<Slice>> ReadSlices(const std::string& path,
                                              const Collection& collection,
                                              BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_SLICES_H_
