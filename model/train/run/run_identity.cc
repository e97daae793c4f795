#include "model/train/run/run_identity.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/fingerprint.h"
#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/train/data/memory_budget.h"

namespace semrank {
namespace {

using nlohmann::json;

// Empty names are files that are not used.
absl::Status AddFiles(const std::string& flag,
                      const std::vector<std::string>& files, json& run) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    SEMRANK_ASSIGN_OR_RETURN(run[absl::StrFormat("--%s file %d", flag, i + 1)],
                             FileFingerprint(files[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DescribeRun(const TrainOptions& options,
                                        const v1::ModelConfig& config) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string text, FormatModelConfig(config));
  json run = json::parse(text, nullptr, /*allow_exceptions=*/false);
  run["--epochs"] = options.epochs;
  run["--lexical"] = options.features.lexical;
  run["--valid_fraction"] = options.data.valid_fraction;
  const DataOptions& data = options.data;
  const std::pair<const char*, std::vector<std::string>> files_of_flags[] = {
      {"train", data.train_files},
      {"valid_pairs", data.valid_pair_files},
      {"judged", {data.judged_file}},
      // What chooses the best epoch.
      {"valid_queries", {data.valid_queries}},
      {"valid_docs", {data.valid_docs}},
      {"valid_qrels", {data.valid_qrels}}};
  for (const auto& [flag, files] : files_of_flags) {
    SEMRANK_RETURN_IF_ERROR(AddFiles(flag, files, run));
  }
  run["--valid_candidates"] = options.data.valid_judged_only ? "judged" : "all";
  if (options.data.valid_halves) run["--valid_halves"] = true;
  run["--early_stopping"] = static_cast<int>(options.early_stopping);
  run["--biases"] = options.tower.biases;
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    run["--ssi_init_scale"] = options.ssi.init_scale;
  }
  // Decides what is streamed, and then the order of the pairs.
  run["--memory_limit"] = MemoryLimit(options.data);
  // Members are sorted by name, so equal runs are equal texts.
  return run.dump();
}

absl::Status CheckSameRun(TrainOptions options, const v1::ModelConfig& config,
                          Communicator& communicator) {
  if (communicator.num_processes() == 1) return absl::OkStatus();
  // Only rank 0 has these: the others do not validate.
  options.data.valid_pair_files.clear();
  options.data.valid_queries.clear();
  options.data.valid_docs.clear();
  options.data.valid_qrels.clear();
  options.data.valid_halves = false;
  const absl::StatusOr<std::string> run = DescribeRun(options, config);
  SEMRANK_RETURN_IF_ERROR(AgreeOnStatus(communicator, run.status()));
  return CheckSameOnAllRanks(communicator, BytesFingerprint(*run).lo,
                             "settings or training files");
}

}  // namespace semrank
