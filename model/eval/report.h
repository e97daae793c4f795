// What semrank-eval prints of an evaluation.
//
//   Table    for people: means to four places, below them their standard
//            errors.
//   JSON     for programs: one object on one line, numbers in full.
#ifndef SEMRANK_MODEL_EVAL_REPORT_H_
#define SEMRANK_MODEL_EVAL_REPORT_H_

#include <string>

#include "model/eval/collection.h"
#include "model/eval/evaluate.h"

namespace semrank {

// What was evaluated, an empty line and the names of the columns.
std::string FormatTableHead(const Collection& collection,
                            const EvaluateOptions& options);
// Two lines for one ranker.
std::string FormatTableRows(const Evaluation& evaluation);

// {"ranker": ..., "queries": n, "metrics": {"ndcg@1": x, ...},
//  "standard_errors": {...}, "candidates": "all", "gain": "exponential"}
std::string FormatJson(const Evaluation& evaluation,
                       const EvaluateOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_REPORT_H_
