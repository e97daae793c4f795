// The flags of what a server tries on a share of its requests.
#ifndef SEMRANK_SERVER_EXPERIMENT_OPTIONS_H_
#define SEMRANK_SERVER_EXPERIMENT_OPTIONS_H_

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/ranking/experiments.h"

namespace semrank {

class CommandLine;

struct ExperimentOptions {
  std::string interleave = {};  // A,B,SHARE
  std::string shadow = {};      // MODEL or MODEL:SHARE
  // --explore; FinishExperiments makes the rest of --interleave.
  Experiments lists = {};
  // FinishExperiments makes them of --shadow.
  std::string shadow_model = {};  // empty = none
  double shadow_share = 1;
};

void AddExperimentFlags(CommandLine& flags, ExperimentOptions& options);

// Checks the flags and fills the fields that are made of them. `served_name`
// returns the name of the served model that has this name or alias, or an empty
// text. An error is a FlagError.
absl::Status FinishExperiments(
    absl::FunctionRef<std::string(std::string_view)> served_name,
    bool has_events, ExperimentOptions& options);

}  // namespace semrank

#endif  // SEMRANK_SERVER_EXPERIMENT_OPTIONS_H_
