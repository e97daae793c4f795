// The flags of semrank-eval: their fields, and the checks that are made before
// any file is read.
//
//   Errors   InvalidArgument that names the flag and its value.
#ifndef SEMRANK_MODEL_EVAL_EVALUATE_OPTIONS_H_
#define SEMRANK_MODEL_EVAL_EVALUATE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/data/collection.h"
#include "model/eval/metrics/evaluate.h"
#include "model/eval/rankers/ranker_factory.h"

namespace semrank {

enum class OutputFormat { kTable, kJson };

class CommandLine;

struct EvaluateCommandOptions {
  // The rankers, evaluated and printed in this order: a name for CreateRanker,
  // or run:FILE.
  std::vector<std::string> rankers = {"model"};
  // The ranker that each of `rankers` is compared with; empty = none.
  std::string baseline;
  // Flags of TunableFlags() whose values cross-validation chooses for each
  // ranker that they change.
  std::vector<std::string> tune;
  // Ranker that is added to each other one of `rankers`; empty = none.
  std::string hybrid;
  RankerOptions ranker_options;
  CollectionFiles files;
  // Clicked pairs, from which wtm and ptm learn.
  std::vector<std::string> train;
  EvaluateOptions evaluate;
  // TREC run of the only ranker, run_depth documents a query; empty = none.
  std::string run_out;
  std::uint32_t run_depth = 1000;
  // Metrics of each query, of the only ranker; empty = none.
  std::string per_query;
  // Named parts of the queries that are measured by themselves; empty = none.
  std::string slices;
  // Figure of the grades of each ranker's first documents; empty = none.
  std::string svg_out;
  OutputFormat output = OutputFormat::kTable;
  int num_threads = 0;  // 0 = one for each processor
  BadLineLimit max_bad_lines = {};
};

void AddEvaluateOptions(CommandLine& flags, EvaluateCommandOptions& options);

// Adds `hybrid` to `rankers`, replaces num_threads 0 and checks names and
// required flags. Returns FlagError.
absl::Status Resolve(EvaluateCommandOptions& options);

// The file of a ranker run:FILE; nullopt for other rankers.
std::optional<std::string_view> RunFile(std::string_view ranker);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_EVALUATE_OPTIONS_H_
