#include "model/train/options/data_options.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/train/options/option_checks.h"

namespace semrank {
namespace {

absl::Status CheckValidation(const DataOptions& data) {
  const bool any = !data.valid_queries.empty() || !data.valid_docs.empty() ||
                   !data.valid_qrels.empty();
  for (const auto& [flag, file] :
       {std::pair<std::string_view, const std::string&>{"valid_queries",
                                                        data.valid_queries},
        {"valid_docs", data.valid_docs},
        {"valid_qrels", data.valid_qrels}}) {
    if (any && file.empty()) {
      return FlagError(flag, "",
                       "--valid_queries, --valid_docs and --valid_qrels "
                       "belong together; one is missing");
    }
  }
  if (!(data.valid_fraction >= 0 && data.valid_fraction <= 0.5)) {
    return FlagError("valid_fraction",
                     absl::StrFormat("%g", data.valid_fraction),
                     "must be 0 to 0.5, or -1");
  }
  if (!data.valid_pair_files.empty() && data.valid_fraction > 0) {
    return FlagError("valid_fraction",
                     absl::StrFormat("%g", data.valid_fraction),
                     "--valid_pairs are given, so none are held out");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Resolve(DataOptions& data) {
  if (data.train_files.empty()) {
    return FlagError("train", "", "names no file of pairs");
  }
  if (data.model_dir.empty()) {
    return FlagError("model_dir", "", "names no folder for the model");
  }
  if (data.valid_fraction == -1) {
    const bool other =
        !data.valid_pair_files.empty() || !data.valid_queries.empty();
    data.valid_fraction = other ? 0 : kDefaultValidFraction;
  }
  SEMRANK_RETURN_IF_ERROR(CheckRange("max_bad_lines", data.max_bad_lines, 0,
                                     std::int64_t{1} << 40));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("memory_limit", data.memory_limit, 0, std::int64_t{1} << 50));
  return CheckValidation(data);
}

}  // namespace semrank
