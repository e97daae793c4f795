// A ranking that another tool made, in TREC run format, one line a document:
//
//   query_id Q0 doc_id rank score tag
//
// As in trec_eval, scores determine the order, ranks and words after the tag
// are ignored, and so are empty lines and lines that begin with "#".
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

struct TrecRun {
  // The documents of each query of the collection, each once, in order of the
  // file. Documents that the collection lacks are numbered after its own.
  std::vector<std::vector<ScoredDocument>> rankings;
  std::vector<std::string> unknown_ids = {};  // the ids of these documents
  std::int64_t num_unknown_documents = 0;     // lines that name one of them
};

// Lines of unknown queries are ignored. Bad lines: fewer than six fields, a
// score that is not a finite number, an id that is not UTF-8, a repeated
// document. FailedPrecondition, naming file and reason, if no line can be used.
absl::StatusOr<TrecRun> ReadTrecRun(const std::string& path,
                                    const Collection& collection,
                                    BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_TREC_RUN_H_
