#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/model_flags.h"
#include "client/commands/result_flags.h"
#include "client/output/call_report.h"
#include "client/output/model_output.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(bool, list, false,
          "List the versions that the server knows, of --model or of all, with "
          "their states and why they failed.");
ABSL_FLAG(bool, reload, false,
          "Have --model loaded anew: --model_version is served from now on, "
          "also an older one; 0 = the highest on disk. Needs the admin role "
          "and a server with --enable_admin_rpcs.");

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank model [--list | --reload] [flags]\n"
    "\n"
    "Prints what the server says of the model that answers: name, version,\n"
    "state, architecture, features and how it was trained; or lists all\n"
    "versions; or has one loaded, and prints what is served then.\n"
    "\n"
    "Examples:\n"
    "  semrank model\n"
    "  semrank model --model=shop --model_version=3 --output=json\n"
    "  semrank model --list\n"
    "  semrank model --reload --model=shop --model_version=2\n";

absl::Status WriteMessage(const google::protobuf::Message& message) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(message));
  return WriteStdout(line);
}

absl::Status Show(SemrankClient& client, OutputFormat format) {
  const auto model = client.GetModel(ModelFromFlags());
  if (!model.ok()) return WithHint(model.status());
  return format == OutputFormat::kJson ? WriteMessage(*model)
                                       : WriteTable(ModelTable(*model), format);
}

absl::Status List(SemrankClient& client, OutputFormat format) {
  const auto models = client.ListModels(ModelFromFlags().name());
  if (!models.ok()) return WithHint(models.status());
  if (format != OutputFormat::kJson) {
    return WriteTable(ModelListTable(*models), format);
  }
  for (const v1::Model& model : *models) {
    SEMRANK_RETURN_IF_ERROR(WriteMessage(model));
  }
  return absl::OkStatus();
}

absl::Status Reload(SemrankClient& client, OutputFormat format) {
  const auto reloaded = client.ReloadModel(ModelFromFlags());
  if (!reloaded.ok()) return WithHint(reloaded.status());
  return format == OutputFormat::kJson
             ? WriteMessage(*reloaded)
             : WriteTable(ReloadTable(*reloaded), format);
}

absl::Status Run(const std::vector<std::string>&) {
  const bool list = absl::GetFlag(FLAGS_list);
  const bool reload = absl::GetFlag(FLAGS_reload);
  if (list && reload) return UsageError("--list or --reload, not both");
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  const OutputFormat format = FormatFromFlags();
  if (list) return List(*client, format);
  return reload ? Reload(*client, format) : Show(*client, format);
}

}  // namespace

const Command kModelCommand = {
    .name = "model",
    .summary = "describes, lists or reloads what is served",
    .usage = kUsage,
    .flag_sources =
        "client/commands/model_command client/commands/model_flags "
        "client/commands/result_flags client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
