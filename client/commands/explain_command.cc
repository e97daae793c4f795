#include <cstdint>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/model_flags.h"
#include "client/commands/query_flag.h"
#include "client/commands/result_flags.h"
#include "client/input/unicode.h"
#include "client/output/call_report.h"
#include "client/output/explain_output.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(std::string, title, "",
          "The title to explain; or as the only argument. Required.");
ABSL_FLAG(std::uint32_t, max_pooling_units, 0,
          "Models with a pooling layer (clsm): how many of its most active "
          "units to show for each text. 0 = 5.");

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank explain --query=TEXT --title=TEXT [flags]\n"
    "  semrank explain --query=TEXT [flags] TITLE\n"
    "\n"
    "Says why a title scores what it scores: for each word of both texts the\n"
    "score without that word, what the word adds, and how many of its "
    "features\n"
    "the model knows (0 of 6 = the model cannot see the word). For clsm models "
    "also\n"
    "the words that won the most active units of the pooling layer.\n"
    "\n"
    "Examples:\n"
    "  semrank explain --query=\"edit photos\" \"digital photo organizer\"\n"
    "  semrank explain --query=\"edit photos\" --title=gimp --output=json\n";

absl::StatusOr<std::string> TitleFrom(
    const std::vector<std::string>& arguments) {
  const std::string flag = absl::GetFlag(FLAGS_title);
  if (arguments.size() + (flag.empty() ? 0 : 1) != 1) {
    return UsageError(
        "title: give exactly one, with --title=TEXT or as the "
        "argument");
  }
  const std::string& title = flag.empty() ? arguments[0] : flag;
  if (!IsValidUtf8(title)) {
    return FlagError("title", EscapeControls(title), "not valid UTF-8");
  }
  return title;
}

absl::Status Print(const std::string& query,
                   const v1::ExplainResponse& response) {
  const OutputFormat format = FormatFromFlags();
  if (format == OutputFormat::kJson) {
    return WriteStdout(ToJsonLine(ExplanationJson(query, response)));
  }
  const bool for_people = format == OutputFormat::kTable;
  if (for_people) {
    SEMRANK_RETURN_IF_ERROR(
        WriteStdout(EscapeControls(DescribeScore(response)) + "\n"));
  }
  SEMRANK_RETURN_IF_ERROR(
      WriteTable(ContributionTable(response, for_people), format));
  // As TSV its columns would mix with those of the words; JSON has both.
  return for_people ? WriteTable(PoolingTable(response), format)
                    : absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  SEMRANK_ASSIGN_OR_RETURN(const std::string query, QueryFromFlag());
  SEMRANK_ASSIGN_OR_RETURN(const std::string title, TitleFrom(arguments));
  SEMRANK_ASSIGN_OR_RETURN(const std::unique_ptr<SemrankClient> client,
                           ClientFromFlags());
  v1::ExplainRequest request;
  request.set_query(query);
  request.set_title(title);
  request.set_max_pooling_units(absl::GetFlag(FLAGS_max_pooling_units));
  *request.mutable_model() = ModelFromFlags();
  const auto response = client->Explain(request);
  if (!response.ok()) return WithHint(response.status());
  return Print(query, *response);
}

}  // namespace

const Command kExplainCommand = {
    .name = "explain",
    .summary = "says which words make the score of a title",
    .usage = kUsage,
    .flag_sources =
        "client/commands/explain_command client/commands/query_flag "
        "client/commands/model_flags "
        "client/commands/result_flags client/commands/connection_flags",
    .takes_arguments = true,
    .run = Run,
};

}  // namespace semrank
