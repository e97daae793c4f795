// semrank-train: clicked pairs to a model directory.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/cli/standard_streams.h"
#include "model/train/distributed/process_launch.h"
#include "model/train/options/unused_flags.h"
#include "model/train/run/general_start.h"
#include "model/train/run/no_clicks.h"
#include "model/train/run/publication.h"
#include "model/train/run/train.h"
#include "model/train/run/train_flags.h"

namespace semrank {
namespace {

const ProgramInfo kInfo = {
    .name = "semrank-train",
    .summary = "learns a ranking model from clicked (query, title) pairs",
    .usage = R"(Usage:
  semrank-train --train=FILE[,FILE...] --model_dir=DIR [flags]
  semrank-train --events=DIR[,DIR...] --model_dir=DIR [flags]
  semrank-train --docs=FILE --model_dir=DIR

From a click log:
  semrank-train --train=clicks.tsv.gz --model_dir=models/shop

With judged queries, whose NDCG@10 chooses the epoch:
  semrank-train --train=clicks.tsv --valid_queries=queries.tsv \
      --valid_docs=docs.tsv --valid_qrels=qrels.txt --model_dir=models/shop

Without clicks, from the titles of a catalogue (and the general English model):
  semrank-train --docs=docs.tsv --model_dir=models/shop

With clicks and the catalogue that the model is to rank:
  semrank-train --train=clicks.tsv --docs=docs.tsv --model_dir=models/shop

More clicks for a published model:
  semrank-train --train=yesterday.tsv --init_from=models/shop \
      --model_dir=models/shop

The clicks on its own rankings, which semrank-server --events has recorded; the
new model is published unless it ranks worse than the served one:
  semrank-train --events=events --position_bias=estimate \
      --init_from=models/shop --model_dir=models/shop

As the DSSM paper of 2013 did it:
  semrank-train --train=clicks.tsv --preset=dssm2013 --model_dir=models/paper

Words that match and words that mean the same, added up (SSI):
  semrank-train --train=clicks.tsv --tower=ssi --model_dir=models/words

In two processes of this machine, or of several (SCALING.md):
  mpirun -n 2 semrank-train --train=clicks.tsv.gz --model_dir=models/shop

Ctrl-C ends the training and publishes the best of the finished epochs, and so
do SIGTERM and the end of the terminal (SIGHUP). SIGUSR1 does so too: send it to
mpirun, which allows only a second after Ctrl-C.
)",
    .build_note = MpiSupport()};

void Print(const TrainingSummary& summary, bool json) {
  if (json) {
    absl::PrintF("%s", FormatSummaryJson(summary));
    return;
  }
  if (summary.outcome == RunOutcome::kUnchanged) {
    absl::PrintF("%s", DescribeResult(summary));
    return;
  }
  absl::PrintF(
      "%s %s: %s, of %d epochs",
      summary.outcome == RunOutcome::kRejected ? "rejected" : "published",
      summary.version_dir, FormatEpochText(summary.best), summary.epochs_run);
  if (const std::int64_t skipped = summary.skipped_lines; skipped > 0) {
    absl::PrintF("; %s bad line%s skipped", GroupDigits(skipped),
                 skipped == 1 ? "" : "s");
  }
  absl::PrintF("\n%s", DescribeResult(summary));
}

// The general model that --init_from names, or the installed one.
std::string GeneralModel(const TrainFlags& flags) {
  if (flags.init_from == "none") return "";
  return flags.init_from.empty() ? FindInstalledModel(kGeneralModel)
                                 : FolderOfModel(flags.init_from);
}

absl::Status MakeWithoutClicks(const TrainFlags& flags) {
  SEMRANK_ASSIGN_OR_RETURN(
      const CatalogueModel model,
      PublishWithoutClicks(flags.options, GeneralModel(flags)));
  if (flags.prints_json) {
    absl::PrintF("%s", FormatCatalogueJson(model));
  } else {
    absl::PrintF(
        "published %s: %d titles, no clicks\nnext: semrank-server "
        "--model_dir=%s\n",
        model.version_dir, model.num_titles, flags.options.data.model_dir);
  }
  return absl::OkStatus();
}

std::vector<FlagValue> GivenFlags(const CommandLine& command_line) {
  std::vector<FlagValue> values = command_line.Values();
  std::erase_if(values, [&](const FlagValue& flag) {
    // A value of the environment or of a file was given as well.
    return !command_line.IsSet(flag.name);
  });
  return values;
}

// `exit_code` is that of a run that succeeds.
absl::Status Run(CommandLine& command_line, TrainFlags& flags, int& exit_code) {
  // Before anything else that can fail: DisconnectProcesses then ends the run
  // of all processes.
  SEMRANK_ASSIGN_OR_RETURN(Communicator* const processes, ConnectProcesses());
  // Options can be printed without pairs and without a folder for the model.
  if (flags.prints_options) {
    SEMRANK_ASSIGN_OR_RETURN(const std::string text,
                             DescribeOptions(command_line, flags));
    absl::PrintF("%s", text);
    return absl::OkStatus();
  }
  // As they were given: ResolveFlags clears what has no effect.
  const std::vector<FlagValue> given = GivenFlags(command_line);
  SEMRANK_RETURN_IF_ERROR(processes->Agree(ResolveFlags(command_line, flags)));
  for (const std::string& line : DescribeUnusedFlags(flags.options, given)) {
    absl::FPrintF(stderr, "%s\n", line);
  }
  if (!HasClicks(flags.options.data)) {
    // Nothing is learned, so the other processes have nothing to do.
    return processes->Agree(processes->is_first() ? MakeWithoutClicks(flags)
                                                  : absl::OkStatus());
  }
  SEMRANK_ASSIGN_OR_RETURN(const TrainingSummary summary,
                           Train(flags.options, given, *processes));
  Print(summary, flags.prints_json);
  // A rejected model is not an error of the run, but a script must notice it.
  if (summary.outcome == RunOutcome::kRejected) exit_code = kExitRejected;
  return absl::OkStatus();
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) {
  using namespace semrank;  // NOLINT: one function of a program.
  ReserveStandardStreams();
  IgnoreBrokenPipes();
  // Before the command line is read, so that of several processes one prints
  // its errors.
  SilenceOtherRanks();
  // The command line refers to the fields of `flags`, so these come first.
  TrainFlags flags;
  CommandLine command_line(kInfo);
  AddTrainFlags(command_line, flags);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  // What mpirun hands on, and schedulers send ahead of a time limit.
  CatchInterrupts({SIGUSR1});
  int exit_code = kExitDone;
  const absl::Status status = Run(command_line, flags, exit_code);
  if (!status.ok()) exit_code = command_line.ExitCode(status);
  // Last: the error is printed by then, and a failure ends the other processes.
  DisconnectProcesses(status);
  return exit_code;
}
