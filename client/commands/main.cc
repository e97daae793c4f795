// The `semrank` program: parses the command line and runs the command.
#include <array>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/command_line.h"
#include "model/cli/standard_streams.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

constexpr ProgramInfo kProgram = {
    .name = "semrank",
    .summary = "ranks titles for a query by meaning, through a semrank-server",
    .usage = R"(Usage: semrank [--address=HOST:PORT] COMMAND [flags]

Examples:
  semrank rank --query="edit photos" --titles=titles.txt --top_k=5
  semrank explain --query="edit photos" "photo organizer"
  semrank embed --side=query "edit photos"
  semrank --address=search-1:50051 health
)"};

// The program only warns: the network, or a proxy beside the client, may
// encrypt.
bool SendsKeyInPlainText(const ClientOptions& client) {
  return !client.credentials.api_key.empty() &&
         client.credentials.tls_ca.empty() && !IsLoopback(client.address) &&
         !client.address.starts_with("unix:");
}

absl::Status Run(const Command& command, CommonOptions& common) {
  // A file without a dot or slash is a misspelled format, except where no
  // format is expected. Other commands write no files.
  const bool is_path =
      common.output_file.find_first_of("./") != std::string::npos;
  if (!common.output_file.empty() && command.name != "events" &&
      (command.name != "embed" || !is_path)) {
    return FlagError("output", common.output_file, kOutputForm);
  }
  // The files are read after parsing, so that --help works without them.
  SEMRANK_ASSIGN_OR_RETURN(common.client.credentials,
                           ReadCredentials(common.credential_files));
  const absl::Status status = CheckCredentials(common.client.credentials);
  if (!status.ok()) return UsageError(ToStd(status.message()));
  if (SendsKeyInPlainText(common.client)) {
    absl::FPrintF(stderr,
                  "semrank: warning: the API key goes to %s in plain text; "
                  "--tls_ca=FILE encrypts it\n",
                  EscapeControls(common.client.address));
  }
  return command.run();
}

int Main(int argc, char** argv) {
  // SIGPIPE stays what it is: `semrank ... | head` ends quietly.
  ReserveStandardStreams();
  // Commands keep a reference to it, and run while it is alive.
  CommonOptions common;
  CommandLine program(kProgram);
  AddCommonFlags(program, common);
  // In the order of the help: what most users need comes first.
  const std::array<Command, 12> commands = {
      AddRankCommand(program, common),   AddExplainCommand(program, common),
      AddEmbedCommand(program, common),  AddPutCommand(program, common),
      AddGetCommand(program, common),    AddDeleteCommand(program, common),
      AddSearchCommand(program, common), AddModelCommand(program, common),
      AddLimitsCommand(program, common), AddHealthCommand(program, common),
      AddLoadCommand(program, common),   AddEventsCommand(program, common)};
  if (const auto exit_code = program.Parse(argc, argv)) return *exit_code;
  for (const Command& command : commands) {
    if (command.name == program.command()) {
      return program.ExitCode(Run(command, common));
    }
  }
  return program.ExitCode(
      UsageError("no command ('semrank --help' lists them)"));
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
