// A ranking that another tool made, in TREC run format, one line a document:
//
//   query_id Q0 doc_id rank score tag
//
// As in trec_eval, scores determine the order and ranks are ignored.
#ifndef SEMRANK_MODEL_DATA_TREC_RUN_H_
#define SEMRANK_MODEL_DATA_TREC_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/collection.h"
#include "model/data/input_lines.h"

namespace semrank {

struct ScoredDocument {
  std::uint32_t document = 0;
  float score = 0;
};

// The documents of each query of the collection, each once, in order of the
// file. Lines of unknown queries and documents are ignored. Bad lines: fewer or
// more than six fields, a score that is no finite number, a repeated document.
using TrecRun = std::vector<std::vector<ScoredDocument>>;

absl::StatusOr<TrecRun> ReadTrecRun(const std::string& path,
                                    const Collection& collection,
                                    BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_TREC_RUN_H_
