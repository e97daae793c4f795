#include <memory>

#include "client/commands/command.h"
#include "client/lib/semrank_client.h"
#include "client/output/model_output.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr ProgramInfo kModelInfo = {
    .name = "model",
    .summary = "describes, lists or reloads models",
    .usage = R"(Usage:
  semrank model [--list | --reload] [flags]

Describes the model that answers: name, version, state, architecture, features and
training. With --list, lists all versions. With --reload, loads a version and prints
which one is served then.

Examples:
  semrank model
  semrank model --model=shop --model_version=3 --output=json
  semrank model --list
  semrank model --reload --model=shop --model_version=2
)"};

struct ModelCommandOptions {
  bool list = false;
  bool reload = false;
  ModelOptions model;
};

absl::Status PrintMessage(const google::protobuf::Message& message) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(message));
  return WriteStdout(line);
}

absl::Status DescribeModel(SemrankClient& client, const v1::ModelRef& ref,
                           OutputFormat format) {
  const auto model = client.GetModel(ref);
  if (!model.ok()) return WithHint(model.status());
  return format == OutputFormat::kJson ? PrintMessage(*model)
                                       : WriteTable(ModelTable(*model), format);
}

absl::Status ListVersions(SemrankClient& client, const v1::ModelRef& ref,
                          OutputFormat format) {
  const auto models = client.ListModels(ref.name());
  if (!models.ok()) return WithHint(models.status());
  if (format != OutputFormat::kJson) {
    return WriteTable(ModelListTable(*models), format);
  }
  // An object per line, so that the output can be processed line by line.
  for (const v1::Model& model : *models) {
    SEMRANK_RETURN_IF_ERROR(PrintMessage(model));
  }
  return absl::OkStatus();
}

absl::Status Reload(SemrankClient& client, const v1::ModelRef& ref,
                    OutputFormat format) {
  const auto reloaded = client.ReloadModel(ref);
  if (!reloaded.ok()) return WithHint(reloaded.status());
  return format == OutputFormat::kJson
             ? PrintMessage(*reloaded)
             : WriteTable(ReloadTable(*reloaded), format);
}

absl::Status RunModel(const ModelCommandOptions& options,
                      const CommonOptions& common) {
  if (options.list && options.reload) {
    return UsageError("--list and --reload: want at most one");
  }
  SEMRANK_ASSIGN_OR_RETURN(const auto client,
                           SemrankClient::Create(common.client));
  // All three have one signature: the same flags name the model.
  const auto run = options.list     ? ListVersions
                   : options.reload ? Reload
                                    : DescribeModel;
  return run(*client, options.model.ToRef(), common.ResultFormat());
}

}  // namespace

Command AddModelCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<ModelCommandOptions>();
  CommandLine& command = program.AddCommand(kModelInfo);
  AddModelFlags(command, options->model);
  command.Add("list", &options->list,
              "List the versions that the server knows, of --model or of all "
              "models, with their states and failures.");
  command.Add("reload", &options->reload,
              "Load --model_version of --model, which may be older than the "
              "current one, and serve it from now on; 0 = the highest on disk. "
              "Needs a server with --enable_admin_rpcs and the admin role.");
  return {kModelInfo.name,
          [options, &common] { return RunModel(*options, common); }};
}

}  // namespace semrank
