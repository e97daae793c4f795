// Rankings in TREC run format, one line a document:
//
//   query_id Q0 doc_id rank score ranker
//
// TREC tools ignore the rank, sort by score and break ties in ways of their
// own. So a score that does not lie below the one before is written as the
// next smaller float: every tool then sees this order.
#ifndef SEMRANK_MODEL_EVAL_TREC_RUN_H_
#define SEMRANK_MODEL_EVAL_TREC_RUN_H_

#include <string>

#include "absl/status/status.h"
#include "model/eval/collection.h"
#include "model/eval/evaluate.h"

namespace semrank {

std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_TREC_RUN_H_
