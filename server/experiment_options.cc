#include "server/experiment_options.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/command_line.h"

namespace semrank {
namespace {

// Both flags name models of --model_dir, which is parsed before. Names are
// resolved here, once, so that an alias and the name that it stands for count
// as one model, and a misspelt name ends the start instead of an experiment
// that never runs.

// False unless `text` is a number above 0 and at most 1.
bool ParseShare(std::string_view text, double& share) {
  return absl::SimpleAtod(ToAbsl(text), &share) && share > 0 && share <= 1;
}

absl::Status UnknownModel(const char* flag, const std::string& value,
                          std::string_view name) {
  return FlagError(
      flag, value,
      absl::StrFormat("--model_dir has no model named \"%s\"", name));
}

absl::Status ParseInterleave(
    absl::FunctionRef<std::string(std::string_view)> served_name,
    ExperimentOptions& options) {
  const std::string& text = options.interleave;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  Experiments& lists = options.lists;
  // A share of 0 is refused: it would look like an experiment in the
  // configuration and be none.
  if (parts.size() != 3 || !ParseShare(parts[2], lists.interleave_share)) {
    return FlagError("interleave", text,
                     "must be MODEL,MODEL,SHARE with a share above 0, up to 1");
  }
  lists.interleave_a = served_name(parts[0]);
  lists.interleave_b = served_name(parts[1]);
  if (lists.interleave_a.empty()) {
    return UnknownModel("interleave", text, parts[0]);
  }
  if (lists.interleave_b.empty()) {
    return UnknownModel("interleave", text, parts[1]);
  }
  if (lists.interleave_a == lists.interleave_b) {
    return FlagError("interleave", text, "names one model twice");
  }
  return absl::OkStatus();
}

absl::Status ParseShadow(
    absl::FunctionRef<std::string(std::string_view)> served_name,
    ExperimentOptions& options) {
  const std::string& text = options.shadow;
  std::string_view model = text;
  // An alias may have a colon, too ("embed:v3"), so the whole text is tried as
  // a name first. For the same reason the last colon separates the share.
  if (served_name(model).empty()) {
    const std::size_t colon = model.rfind(':');
    if (colon == std::string_view::npos) {
      return UnknownModel("shadow", text, model);
    }
    if (!ParseShare(model.substr(colon + 1), options.shadow_share)) {
      return FlagError("shadow", text,
                       "must be MODEL or MODEL:SHARE with a share above 0, up "
                       "to 1");
    }
    model = model.substr(0, colon);
  }
  options.shadow_model = served_name(model);
  return options.shadow_model.empty() ? UnknownModel("shadow", text, model)
                                      : absl::OkStatus();
}

}  // namespace

void AddExperimentFlags(CommandLine& flags, ExperimentOptions& options) {
  flags.Group("Experiments");
  flags.Add("explore", &options.lists.explore_rate,
            "Share of the impressions that have two of their first ten results "
            "exchanged, so that semrank-train can separate the effect of a "
            "position from relevance. 0.01 costs about 0.05 % of NDCG@10. "
            "Needs --events.",
            {.min = 0, .max = 1});
  flags.Add("interleave", &options.interleave,
            "A,B,SHARE: that share of the impressions of model A is one list "
            "of the rankings of A and B, and clicks show which is better "
            "(semrank events compare). Needs --events.",
            "A,B,SHARE");
  flags.Add("shadow", &options.shadow,
            "MODEL or MODEL:SHARE: ranks that share of the Rank requests (all "
            "without a share) once more with this model, after they are "
            "answered and in spare time, and reports in /metrics and /statusz "
            "how the rankings differ.",
            "MODEL[:SHARE]");
}

absl::Status FinishExperiments(
    absl::FunctionRef<std::string(std::string_view)> served_name,
    bool has_events, ExperimentOptions& options) {
  // Both change only lists with an impression, and without --events a request
  // for one is refused: the flags would have no effect. A shadow ranking needs
  // no impression.
  const double rate = options.lists.explore_rate;
  if (rate > 0 && !has_events) {
    return FlagError("explore", absl::StrCat(rate), "needs --events");
  }
  if (!options.interleave.empty()) {
    if (!has_events) {
      return FlagError("interleave", options.interleave, "needs --events");
    }
    SEMRANK_RETURN_IF_ERROR(ParseInterleave(served_name, options));
  }
  if (options.shadow.empty()) return absl::OkStatus();
  return ParseShadow(served_name, options);
}

}  // namespace semrank
