#include <memory>
#include <string>

#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/result_flags.h"
#include "client/output/advice.h"
#include "client/output/message_output.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank limits [flags]\n"
    "\n"
    "Prints what the server accepts: texts in a request, bytes of a text, "
    "texts "
    "in\n"
    "work at once, and so on. Flags of semrank-server set them; 0 = no limit.\n"
    "\n"
    "Examples:\n"
    "  semrank limits\n"
    "  semrank limits --output=json\n";

absl::Status Run(const std::vector<std::string>&) {
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  const auto limits = client->GetLimits();
  if (!limits.ok()) return WithAdvice(limits.status());
  const OutputFormat format = FormatFromFlags();
  if (format != OutputFormat::kJson) {
    return WriteTable(NumberTable(*limits), format);
  }
  SEMRANK_ASSIGN_OR_RETURN(const std::string line, MessageJsonLine(*limits));
  return WriteStdout(line);
}

}  // namespace

const Command kLimitsCommand = {
    .name = "limits",
    .summary = "lists what the server accepts",
    .usage = kUsage,
    .flag_sources =
        "client/commands/result_flags client/commands/connection_flags",
    .takes_arguments = false,
    .run = Run,
};

}  // namespace semrank
