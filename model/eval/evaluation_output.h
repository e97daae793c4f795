// What semrank-eval prints and writes of an evaluation.
//
//   Table     for people: means to four places, standard errors below them.
//   JSON      for programs: one object a line, numbers in full precision.
//   TREC run  the rankings themselves, for trec_eval and similar tools.
//   Threads   thread-safe free functions.
#ifndef SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_
#define SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_

#include <string>

#include "model/eval/collection/collection.h"
#include "model/eval/metrics/evaluate.h"

namespace semrank {

// A line on what was evaluated, an empty line and the column names.
std::string FormatTableHead(const Collection& collection,
                            const EvaluateOptions& options);
// Two lines for one ranker.
std::string FormatTableRows(const Evaluation& evaluation);

// {"ranker": ..., "queries": n, "metrics": {"ndcg@1": x, ...},
//  "standard_errors": {...}, "candidates": "all", "gain": "exponential"}
std::string FormatJson(const Evaluation& evaluation,
                       const EvaluateOptions& options);

// Rankings in TREC run format, one line a document:
//
//   query_id Q0 doc_id rank score ranker
//
// TREC tools ignore the rank, sort by score and break ties in different ways.
// So a score that is not below the previous one is written as the next smaller
// float: every tool then sees this order.
std::string FormatTrecRun(const Evaluation& evaluation,
                          const Collection& collection);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATION_OUTPUT_H_
