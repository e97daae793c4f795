// semrank-train: clicked pairs to a model directory.

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/flag_table.h"
#include "model/cli/interrupt.h"
#include "model/cli/program.h"
#include "model/train/distributed/process_launch.h"
#include "model/train/run/trainer.h"
#include "model/train/train_flags.h"

ABSL_FLAG(
    std::string, output, "table",
    "What is printed in the end: table (for people) or json (one object).");

namespace semrank {
namespace {

const ProgramInfo kInfo = {
    .name = "semrank-train",
    .summary = "learns a ranking model from clicked (query, title) pairs",
    .usage = R"(Usage:
  semrank-train --train=FILE[,FILE...] --model_dir=FOLDER [flags]

From a click log, a twentieth of its queries held out to stop in time:
  semrank-train --train=clicks.tsv.gz --model_dir=models/shop

With judged queries, whose NDCG@10 chooses the epoch:
  semrank-train --train=clicks.tsv --valid_queries=queries.tsv \
      --valid_docs=docs.tsv --valid_qrels=qrels.txt --model_dir=models/shop

As the DSSM paper of 2013 did it:
  semrank-train --train=clicks.tsv --preset=dssm2013 --model_dir=models/paper

Words that match and words that mean the same, added up (SSI):
  semrank-train --train=clicks.tsv --tower=ssi --model_dir=models/words

In two processes of this machine, or of several (TRAINING.md):
  mpirun -n 2 semrank-train --train=clicks.tsv.gz --model_dir=models/shop

Ctrl-C ends the training and publishes the best of the finished epochs. SIGUSR1
does so too: send it to mpirun, which allows only a second after Ctrl-C.
)",
    .flag_source = "model/train/",
    .build_note = MpiSupport()};

// Where the flags that were set got their values from, by name. Flags of a file
// that are as they would be without it are left out.
using FlagSources = std::map<std::string, std::string>;

FlagSources FindFlagSources(const FlagTable& table,
                            const std::vector<std::string>& args) {
  FlagSources sources;
  for (const absl::CommandLineFlag* flag : table.flags()) {
    const std::string name(flag->Name());
    if (std::getenv(EnvironmentName(name).c_str()) != nullptr) {
      sources[name] = "environment";
    } else if (flag->CurrentValue() != flag->DefaultValue()) {
      sources[name] = "flag file";
    }
  }
  for (const std::string& arg : args) {
    if (arg == "--") break;
    if (!arg.starts_with("--")) continue;
    const auto setting = table.Resolve(std::string_view(arg).substr(2));
    if (setting.ok()) {
      sources[std::string(setting->flag->Name())] = "command line";
    }
  }
  return sources;
}

std::vector<FlagValue> FlagValues(const FlagTable& table,
                                  const FlagSources& sources) {
  std::vector<FlagValue> values;
  for (const auto& [name, source] : sources) {
    values.push_back({.name = name,
                      .value = table.Find(name)->CurrentValue(),
                      .source = source});
  }
  return values;
}

void Print(const TrainingSummary& summary, bool json) {
  if (json) {
    absl::PrintF("%s", FormatSummaryJson(summary));
    return;
  }
  absl::PrintF("published %s: %s, of %d epochs\n", summary.version_dir,
               FormatEpochText(summary.best), summary.epochs_run);
}

absl::StatusOr<bool> PrintsJson() {
  const std::string output = absl::GetFlag(FLAGS_output);
  if (output == "json") return true;
  if (output == "table") return false;
  return FlagError("output", output, "must be one of table, json");
}

absl::Status Run(const std::vector<std::string>& args) {
  SEMRANK_ASSIGN_OR_RETURN(Communicator* const communicator,
                           ConnectProcesses());
  const FlagTable table(kInfo.flag_source);
  const FlagSources sources = FindFlagSources(table, args);
  SEMRANK_ASSIGN_OR_RETURN(const bool json, PrintsJson());
  SEMRANK_ASSIGN_OR_RETURN(TrainOptions options, TrainOptionsFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(
      const TrainingSummary summary,
      Train(std::move(options), FlagValues(table, sources), *communicator));
  Print(summary, json);
  return absl::OkStatus();
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) {
  using namespace semrank;  // NOLINT: one function of a program.
  SilenceFollowers();
  const std::vector<std::string> arguments =
      ParseCommandLine(kInfo, argc, argv);
  if (!arguments.empty()) {
    absl::FPrintF(stderr, "%s: unexpected argument '%s'\nTry '%s --help'.\n",
                  kInfo.name, arguments[0], kInfo.name);
    return kExitWrongUse;
  }
  // What mpirun hands on, and schedulers send ahead of a time limit.
  CatchInterrupts({SIGUSR1});
  const absl::Status status =
      Run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  const int exit_code = ExitCode(kInfo, status);
  DisconnectProcesses(status);
  return exit_code;
}
