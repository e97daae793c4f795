#include "client/commands/command.h"

#include <cstdio>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"
#include "model/text/utf8.h"

// Flags write into the fields of option structs while the command line is
// parsed. A flag that checks its own value refuses it there, with its name;
// what depends on several flags is checked when the command runs. Checks of
// both kinds come before the server is called: wrong use has exit code 2,
// whether or not a server runs.
namespace semrank {
namespace {

// In the order of the enumerators, since GetOutput uses the value as an index.
constexpr Named<OutputFormat> kOutputFormats[] = {
    {"auto", OutputFormat::kAuto},
    {"table", OutputFormat::kTable},
    {"tsv", OutputFormat::kTsv},
    {"json", OutputFormat::kJson},
    {"raw", OutputFormat::kRaw}};

// A value that is not a format is a file name; the program checks whether the
// command writes a file.
absl::Status SetOutput(const std::string& text, CommonOptions& options) {
  // A later --output replaces an earlier one, also of the other kind.
  for (const auto& format : kOutputFormats) {
    if (format.name != text) continue;
    options.output = format.value;
    options.output_file.clear();
    return absl::OkStatus();
  }
  options.output_file = text;
  return absl::OkStatus();
}

std::string GetOutput(const CommonOptions& options) {
  if (!options.output_file.empty()) return options.output_file;
  return std::string(kOutputFormats[static_cast<int>(options.output)].name);
}

// The server would reject the request as a whole, and name a field instead of
// an argument.
absl::StatusOr<TextList> TakeArguments(
    const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (IsValidUtf8(arguments[i])) continue;
    return UsageError(absl::StrFormat("argument %d: not valid UTF-8", i + 1));
  }
  return TextList{arguments, {}};
}

}  // namespace

// A pipe receives TSV, so that `semrank rank ... | cut -f3` needs no flag.
OutputFormat CommonOptions::ResultFormat() const {
  if (output != OutputFormat::kAuto) return output;
  return StdoutIsTerminal() ? OutputFormat::kTable : OutputFormat::kTsv;
}

// The flags belong to the program and not to its commands: they may stand
// before the command, and a file of --config sets them once for all.
void AddCommonFlags(CommandLine& program, CommonOptions& options) {
  program.Group("Output");
  program.Add(FlagSpec{
      .name = "output",
      .help = "Format of the results: table (aligned, with titles), tsv "
              "(tab-separated, without, control characters as \\u001b), raw "
              "(as tsv, with all characters as they are) or json; auto = table "
              "on a terminal, else tsv. For embed also the file to write, with "
              "a dot or slash in its name; for events the file or folder.",
      .form = "FORMAT",
      .set = [&options](
                 const std::string& text) { return SetOutput(text, options); },
      .get = [&options] { return GetOutput(options); }});
  program.Group("Connection");
  AddCheckedFlag(program,
                 {.name = "address",
                  .form = "HOST:PORT",
                  .help = "The server: HOST:PORT, [IPv6]:PORT, unix:PATH or "
                          "dns:///HOST:PORT.",
                  .check = CheckServerAddress},
                 &options.client.address);
  program.Add("deadline", &options.client.deadline,
              "How long to wait for the result, connecting and retries "
              "included, in a stream for each 1,000 texts; inf = forever.",
              {.above_min = true});
  program.Add("max_attempts", &options.client.retry.max_attempts,
              "Attempts per call, within --deadline, if the server cannot be "
              "reached or rejects it for now; 1 disables retries.",
              {.min = 1});
  program.Add("tls_ca", &options.credential_files.tls_ca,
              "PEM file with the authorities that may sign the server's "
              "certificate. Turns TLS on.",
              "FILE");
  program.Add("tls_cert", &options.credential_files.tls_cert,
              "PEM file with the client's own certificate, if the server wants "
              "one.",
              "FILE");
  program.Add("tls_key", &options.credential_files.tls_key,
              "PEM file with the private key of --tls_cert.", "FILE");
  program.Add("api_key_file", &options.credential_files.api_key_file,
              "File with the API key. If empty, the environment variable "
              "SEMRANK_API_KEY provides the key.",
              "FILE");
}

void AddCheckedFlag(CommandLine& command, const CheckedFlag& flag,
                    std::string* field) {
  command.Add(
      FlagSpec{.name = std::string(flag.name),
               .help = std::string(flag.help),
               .form = std::string(flag.form),
               .set =
                   [field, check = flag.check](const std::string& text) {
                     *field = text;
                     return check(text);
                   },
               .get = [field] { return *field; }});
}

// The server would reject other bytes, and name a field instead of the flag.
void AddUtf8Flag(CommandLine& command, std::string_view name,
                 std::string_view help, std::string* field) {
  AddCheckedFlag(command,
                 {.name = name,
                  .form = "TEXT",
                  .help = help,
                  .check =
                      [](std::string_view text) {
                        return IsValidUtf8(text) ? absl::OkStatus()
                                                 : absl::InvalidArgumentError(
                                                       "not valid UTF-8");
                      }},
                 field);
}

void AddQueryFlag(CommandLine& command, std::string* query) {
  AddUtf8Flag(command, "query", "The query, as a user would type it.", query);
}

// The server would refuse an empty query, too, without the name of the flag
// that was forgotten.
absl::Status CheckQuery(const std::string& query) {
  return query.empty() ? UsageError("--query=TEXT is required")
                       : absl::OkStatus();
}

v1::ModelRef ModelOptions::ToRef() const {
  v1::ModelRef model;
  model.set_name(name);
  model.set_version(version);
  return model;
}

// Flags that several commands have are added here, so that they read the same
// in the help of each.
void AddModelFlags(CommandLine& command, ModelOptions& options) {
  command.Group("Model");
  command.Add("model", &options.name,
              "Name of the model. Empty = the server's default model.", "NAME");
  command.Add("model_version", &options.version,
              "Version of the model. 0 = the current one.", {.min = 0});
}

// rank and search print the same columns, so they have the same flags for them.
void AddRankingFlags(CommandLine& command, RankingOptions& options) {
  command.Add("top_k", &options.top_k,
              "How many of the best to print. 0 = all that were ranked; for a "
              "search as many as the server chooses.");
  command.Add("min_score", &options.min_score,
              "Omit titles with a lower score.");
  command.Add("with_scores", &options.with_scores,
              "Print the score column of table and tsv.");
  AddPartsFlag(command, &options.parts);
  command.Add("with_parts", &options.with_parts,
              "Print the cosine of each part beside the score.");
}

void AddPartsFlag(CommandLine& command, v1::Parts* parts) {
  command.Add("parts", parts,
              "What is scored: the tower's vectors (semantic), the letter "
              "trigrams (lexical), or both as the model weighs them.",
              {{"both", v1::PARTS_UNSPECIFIED},
               {"semantic", v1::PARTS_SEMANTIC},
               {"lexical", v1::PARTS_LEXICAL}});
}

void AddTextFlags(CommandLine& command, std::string_view flag,
                  std::string_view help, TextOptions& options) {
  command.Add(flag, &options.path, help, "FILE");
  AddBadLinesFlag(command, &options.max_bad_lines);
}

void AddTitlesFlag(CommandLine& command, TextOptions& options) {
  AddTextFlags(command, "titles",
               "File of titles, one per line: \"title\" or "
               "\"doc_id<TAB>title\"; or .csv or .jsonl as for semrank put; "
               "plain, .gz or .zst; - = standard input. Empty lines are "
               "ignored.",
               options);
}

absl::StatusOr<TextList> ReadTextsOrArguments(std::string_view flag,
                                              const TextOptions& options,
                                              bool with_empty_lines) {
  // Both or neither.
  if (options.path.empty() == options.arguments.empty()) {
    return UsageError(absl::StrFormat(
        "%s: give %s as arguments or in a file, --%s=FILE (- is standard "
        "input)",
        options.path.empty() ? absl::StrFormat("no %s", flag)
                             : absl::StrFormat("--%s and arguments", flag),
        flag, flag));
  }
  if (options.path.empty()) return TakeArguments(options.arguments);
  SEMRANK_ASSIGN_OR_RETURN(
      TextList list,
      ReadTexts(options.path, {.format = options.format.value_or(
                                   DocumentFormatOf(options.path)),
                               .form = {.ids_are_optional = true},
                               .with_empty_lines = with_empty_lines,
                               .max_bad_lines = options.max_bad_lines}));
  // The server would only say that the request has none, not which file.
  if (!list.texts.empty()) return list;
  return absl::InvalidArgumentError(
      absl::StrFormat("--%s=%s: contains no %s", flag, options.path, flag));
}

// Numbers from 1, as people count machines.
void AddShardFlag(CommandLine& command, Shard& shard) {
  command.Add(FlagSpec{
      .name = "shard",
      .help =
          "Which part of the file to process, to share it between machines: "
          "with 2/8, lines 2, 10, 18, ...; 1/8 to 8/8 together are all.",
      .form = "I/N",
      .set =
          [&shard](const std::string& text) {
            const auto parsed = ParseShard(text);
            if (!parsed.has_value()) {
              return absl::InvalidArgumentError("must be I/N, from 1/N to N/N");
            }
            shard = *parsed;
            return absl::OkStatus();
          },
      .get = [&shard] { return FormatShard(shard); }});
}

// Where a slow call spends its time is the first question about it.
void AddTimingsFlag(CommandLine& command, bool* timings) {
  command.Add("timings", timings,
              "Print on standard error how many milliseconds each stage of the "
              "call took, and how many vectors came from the cache.");
}

// On standard error the line does not mix with results that a program reads.
void PrintTimings(const CallFacts& facts) {
  absl::FPrintF(stderr, "%s\n", DescribeCall(facts));
}

}  // namespace semrank
