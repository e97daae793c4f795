// The commands of the `semrank` program, and the options and flags that several
// of them share. A struct must outlive the command line, which is bound to its
// fields.
#ifndef SEMRANK_CLIENT_COMMANDS_COMMAND_H_
#define SEMRANK_CLIENT_COMMANDS_COMMAND_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/lib/client_options.h"
#include "client/output/call_report.h"
#include "client/output/output.h"
#include "client/output/ranking_output.h"
#include "model/cli/command_line.h"
#include "model/data/document_reader.h"
#include "model/data/shard.h"
#include "model/data/text_reader.h"
#include "semrank/v1/common.pb.h"

namespace semrank {

// Flags of every command; they may stand before the command, too.
struct CommonOptions {
  ClientOptions client;  // with credentials once a command runs
  CredentialFiles credential_files;
  OutputFormat output = OutputFormat::kAuto;
  std::string output_file;  // if --output names a file, as some commands allow

  // The format for standard output; never kAuto.
  OutputFormat ResultFormat() const;
};
// The accepted values of --output.
inline constexpr std::string_view kOutputForm =
    "must be auto, table, tsv, raw or json";
void AddCommonFlags(CommandLine& program, CommonOptions& options);

// A flag whose text must pass `check`, which returns the reason alone.
struct CheckedFlag {
  std::string_view name;
  std::string_view form;  // for --help: --name=FORM
  std::string_view help;
  absl::Status (*check)(std::string_view text);
};
void AddCheckedFlag(CommandLine& command, const CheckedFlag& flag,
                    std::string* field);
// A flag whose text must be UTF-8.
void AddUtf8Flag(CommandLine& command, std::string_view name,
                 std::string_view help, std::string* field);
// --query.
void AddQueryFlag(CommandLine& command, std::string* query);
// UsageError if there is no query.
absl::Status CheckQuery(const std::string& query);

struct ModelOptions {
  std::string name;
  std::int64_t version = 0;

  v1::ModelRef ToRef() const;
};
void AddModelFlags(CommandLine& command, ModelOptions& options);

struct RankingOptions {
  std::uint32_t top_k = 0;  // 0 = the default of the command
  std::optional<double> min_score;
  bool with_scores = true;
  v1::Parts parts = v1::PARTS_UNSPECIFIED;
  bool with_parts = false;

  RankingTableOptions ForTable(OutputFormat format) const {
    return {.with_scores = with_scores,
            .with_parts = with_parts,
            .rounded = format == OutputFormat::kTable};
  }
  // For a request to rank or to search.
  template <typename Request>
  void SetFields(Request& request) const {
    request.set_top_k(top_k);
    if (min_score) request.set_min_score(static_cast<float>(*min_score));
    request.set_parts(parts);
    request.set_with_parts(with_parts);
  }
};
void AddRankingFlags(CommandLine& command, RankingOptions& options);
// --parts.
void AddPartsFlag(CommandLine& command, v1::Parts* parts);

// Texts from a file or from the command line.
struct TextOptions {
  std::string path;
  // By the extension of the file unless set.
  std::optional<DocumentFormat> format = std::nullopt;
  std::vector<std::string> arguments;
  BadLineLimit max_bad_lines;
};
// --`flag` and --max_bad_lines.
void AddTextFlags(CommandLine& command, std::string_view flag,
                  std::string_view help, TextOptions& options);
// UsageError if the texts are given twice or not at all; InvalidArgument if the
// file contains none.
absl::StatusOr<TextList> ReadTextsOrArguments(std::string_view flag,
                                              const TextOptions& options,
                                              bool with_empty_lines);

// --titles.
void AddTitlesFlag(CommandLine& command, TextOptions& options);

void AddShardFlag(CommandLine& command, Shard& shard);

// --timings, and what it prints on standard error.
void AddTimingsFlag(CommandLine& command, bool* timings);
void PrintTimings(const CallFacts& facts);

// Each Add function adds one command with its flags to `program`; `common` must
// outlive the command.
struct Command {
  std::string_view name;
  // After the command line was parsed. UsageError or FlagError for wrong use.
  std::function<absl::Status()> run;
};

Command AddRankCommand(CommandLine& program, const CommonOptions& common);
Command AddExplainCommand(CommandLine& program, const CommonOptions& common);
Command AddEmbedCommand(CommandLine& program, const CommonOptions& common);
Command AddPutCommand(CommandLine& program, const CommonOptions& common);
Command AddGetCommand(CommandLine& program, const CommonOptions& common);
Command AddDeleteCommand(CommandLine& program, const CommonOptions& common);
Command AddSearchCommand(CommandLine& program, const CommonOptions& common);
Command AddModelCommand(CommandLine& program, const CommonOptions& common);
Command AddLimitsCommand(CommandLine& program, const CommonOptions& common);
Command AddHealthCommand(CommandLine& program, const CommonOptions& common);
Command AddLoadCommand(CommandLine& program, const CommonOptions& common);
Command AddEventsCommand(CommandLine& program, const CommonOptions& common);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_COMMAND_H_
