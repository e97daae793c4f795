#include <memory>
#include <string>

#include "client/advice.h"
#include "client/command.h"
#include "client/connection_flags.h"
#include "client/message_output.h"
#include "client/model_flags.h"
#include "client/model_output.h"
#include "client/output.h"
#include "client/result_flags.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank model [flags]\n"
    "\n"
    "Prints what the server says of the model that answers: name, version,\n"
    "state, architecture, features and how it was trained.\n"
    "\n"
    "Examples:\n"
    "  semrank model\n"
    "  semrank model --model=shop --model_version=3 --output=json\n";

absl::Status Run(const std::vector<std::string>&) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  const auto model = client->GetModel(ModelFromFlags());
  if (!model.ok()) return WithAdvice(model.status());
  const OutputFormat format = FormatFromFlags();
  if (format != OutputFormat::kJson) {
    return WriteTable(ModelTable(*model), format);
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(*model));
  return WriteStdout(line);
}

}  // namespace

const Command kModelCommand = {
    .name = "model",
    .summary = "describes the model that is served",
    .usage = kUsage,
    .flag_sources =
        "client/model_flags client/result_flags client/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
