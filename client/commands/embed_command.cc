// `semrank embed`: vectors of texts, from a server or a model directory, on
// standard output or in a file.
//
// Both sources have one interface (vector_source.h), and both outputs read its
// stream. Standard output is for a few texts, which are in memory. A file is
// for any number: it is read in blocks, written by another thread, and
// continued after an interruption (embed_to_file.h).
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/bulk/embed_to_file.h"
#include "client/bulk/embedding_file.h"
#include "client/bulk/resumable_file.h"
#include "client/bulk/vector_source.h"
#include "client/commands/command.h"
#include "client/lib/request_chunks.h"
#include "client/lib/semrank_client.h"
#include "client/output/embedding_output.h"
#include "model/base/count_text.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/cli/output_paths.h"
#include "model/text/text_limit.h"

namespace semrank {
namespace {

constexpr ProgramInfo kEmbedInfo = {
    .name = "embed", .summary = "turns texts into vectors", .usage = R"(Usage:
  semrank embed --side=query|document --texts=FILE|- [flags]
  semrank embed --side=query|document [flags] TEXT...
  semrank embed --side=query|document --texts=FILE|- --output=FILE [--format=npy] [--shard=1/8]

Prints a line per text, in order: "text<TAB>0.1 -0.2 ...", with "id<TAB>" before it if the
texts have ids; or {"id", "text", "vector"} as JSON. Texts are sent over a stream and printed
as their vectors arrive; a text that cannot be embedded is reported on standard error and
omitted, and the exit code is 1.

With --output=FILE, embeds any number of texts with one version of the model. Rows are in
the order of the texts; a text without an id gets its line number. npy, fvecs and
safetensors have the ids in FILE.ids, one per line. Ctrl-C saves what is finished, and after
any interruption the same command continues (not with --texts=-). FILE appears when it is
complete.

Examples:
  semrank embed --side=query "edit photos"
  semrank embed --side=document --texts=docs.tsv --output=json >docs.jsonl
  cut -f2 docs.tsv | semrank embed --side=document --texts=-
  semrank embed --side=document --texts=docs.tsv.gz --output=docs.npy
  semrank embed --side=document --texts=docs.tsv.gz --output=part3.fvecs --shard=3/8
  semrank embed --side=document --texts=docs.tsv.gz --output=docs.npy --model_dir=models/shop
)"};

// std::nullopt: the extension of the file decides.
using FileFormat = std::optional<EmbeddingFileFormat>;

constexpr Named<v1::Side> kSides[] = {{"query", v1::SIDE_QUERY},
                                      {"document", v1::SIDE_DOCUMENT}};
constexpr Named<FileFormat> kFileFormats[] = {
    {"auto", std::nullopt},
    {"npy", EmbeddingFileFormat::kNpy},
    {"fvecs", EmbeddingFileFormat::kFvecs},
    {"jsonl", EmbeddingFileFormat::kJsonl},
    {"tsv", EmbeddingFileFormat::kTsv},
    {"safetensors", EmbeddingFileFormat::kSafetensors},
    {"pgvector", EmbeddingFileFormat::kPgvector},
    {"sql", EmbeddingFileFormat::kSql}};
constexpr Named<JsonlStyle> kJsonlStyles[] = {
    {"plain", JsonlStyle::kPlain},
    {"elasticsearch", JsonlStyle::kElasticsearch},
    {"vespa", JsonlStyle::kVespa},
    {"qdrant", JsonlStyle::kQdrant}};

struct EmbedOptions {
  TextOptions texts;
  std::string model_dir;
  std::int64_t max_text_bytes = kDefaultMaxTextBytes;
  bool timings = false;
  ModelOptions model;
  FileFormat format;
  // For --output=FILE; the side also without. FileOptions fills in the rest.
  EmbedToFileOptions file = {.side = v1::SIDE_UNSPECIFIED};
};

// Vectors do not fit a screen, so a table is printed as TSV, too.
absl::Status PrintVectors(OutputFormat format, const EmbeddedTexts& embedded) {
  if (format == OutputFormat::kJson) {
    return WriteStdout(EmbeddingJsonLines(embedded));
  }
  return WriteTable(EmbeddingTable(embedded), format == OutputFormat::kTable
                                                  ? OutputFormat::kTsv
                                                  : format);
}

// Rows are printed as they arrive: a million vectors are gigabytes.
absl::Status EmbedToStdout(const EmbedOptions& options, OutputFormat format,
                           VectorSource& source) {
  SEMRANK_ASSIGN_OR_RETURN(const TextList texts,
                           ReadTextsOrArguments("texts", options.texts,
                                                /*with_empty_lines=*/true));
  v1::EmbedTextsRequest request;
  request.set_side(options.file.side);
  request.mutable_texts()->Assign(texts.texts.begin(), texts.texts.end());
  request.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  *request.mutable_model() = options.model.ToRef();
  CallFacts facts;
  ProblemReport problems("not embedded");
  const absl::Time start = absl::Now();
  const absl::Status status = source.EmbedTextsStream(
      request, [&](const v1::EmbedTextsStreamResponse& chunk) {
        // Sums over all chunks of the stream; only some of them name the model.
        facts.cache_hits += chunk.cache_hits();
        facts.cache_misses += chunk.cache_misses();
        AddTimings(chunk.timings(), facts.server);
        if (chunk.has_model()) facts.model = chunk.model();
        for (const v1::Problem& problem : chunk.problems()) {
          const std::size_t i = chunk.first_text() + problem.index();
          problems.Add(
              DescribeItem("text", static_cast<std::int64_t>(i), texts.id(i)),
              problem);
        }
        return ForEachEmbeddedRun(texts, chunk, [&](const EmbeddedTexts& run) {
          return PrintVectors(format, run);
        });
      });
  // Rows of the texts before the failure have been printed; the exit code says
  // that they are not all.
  if (!status.ok()) return WithHint(status);
  facts.round_trip = absl::Now() - start;
  // A model directory measures no stages.
  if (options.timings && options.model_dir.empty()) PrintTimings(facts);
  if (problems.count() == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s of %s could not be embedded", GroupDigits(problems.count()),
      CountText(request.texts_size(), "text")));
}

// The names of the formats are the extensions, too.
absl::StatusOr<EmbeddingFileFormat> FormatOf(const EmbedOptions& options,
                                             const std::string& file) {
  if (options.format.has_value()) return *options.format;
  // The last extension alone: docs.v2.npy is npy.
  const std::string extension =
      std::filesystem::path(file).extension().string();
  for (const auto& format : kFileFormats) {
    if (format.value.has_value() && extension == "." + std::string(format.name))
      return *format.value;
  }
  return FlagError("output", file,
                   "no format has this extension: give --format");
}

// Flags that contradict each other are refused before a model is asked for: a
// file that took hours would be of no use.
absl::StatusOr<EmbedToFileOptions> FileOptions(const EmbedOptions& options,
                                               const std::string& file) {
  if (options.texts.path.empty() || !options.texts.arguments.empty()) {
    return FlagError("output", file, "a file of vectors needs --texts=FILE");
  }
  // --texts=docs.npy.ids --output=docs.npy would write over what it reads, too.
  for (const std::string& name : ResumableFileNames(file)) {
    SEMRANK_RETURN_IF_ERROR(
        CheckKeepsInputs({"output", name}, {{"texts", options.texts.path}}));
  }
  SEMRANK_ASSIGN_OR_RETURN(const EmbeddingFileFormat format,
                           FormatOf(options, file));
  const JsonlForm& jsonl = options.file.jsonl;
  if (jsonl.style != JsonlStyle::kPlain &&
      format != EmbeddingFileFormat::kJsonl) {
    return UsageError(absl::StrFormat(
        "--jsonl_style: the file is to be %s, not jsonl", NameOf(format)));
  }
  // A JSON object with a key twice has only one of the values for most readers.
  if (jsonl.vector_field == jsonl.text_field) {
    return FlagError("vector_field", jsonl.vector_field,
                     "must differ from --text_field");
  }
  EmbedToFileOptions to_file = options.file;
  to_file.texts = options.texts.path;
  to_file.output = file;
  to_file.format = format;
  to_file.model = options.model.ToRef();
  to_file.max_bad_lines = options.texts.max_bad_lines;
  to_file.max_text_bytes =
      options.model_dir.empty() ? 0 : options.max_text_bytes;
  return to_file;
}

absl::Status RunEmbed(const EmbedOptions& options,
                      const CommonOptions& common) {
  if (options.file.side == v1::SIDE_UNSPECIFIED) {
    return UsageError("--side=query or --side=document is required");
  }
  const std::string& file = common.output_file;
  if (file.empty() &&
      (options.format.has_value() || options.file.shard.count > 1)) {
    return UsageError(
        "--format and --shard need --output=FILE, with a dot or slash in its "
        "name");
  }
  // Flags are checked before anything is opened.
  std::optional<EmbedToFileOptions> to_file;
  if (!file.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(to_file, FileOptions(options, file));
  }
  // The source of a server uses the client, so it is destroyed first.
  std::unique_ptr<SemrankClient> client;
  std::unique_ptr<VectorSource> source;
  if (options.model_dir.empty()) {
    ClientOptions to_server = common.client;
    // A server that hangs must not keep Ctrl-C from saving what is finished.
    if (to_file.has_value()) to_server.interrupted = Interrupted;
    SEMRANK_ASSIGN_OR_RETURN(client, SemrankClient::Create(to_server));
    source = MakeServerSource(*client);
  } else {
    source =
        MakeModelDirectorySource(options.model_dir, options.max_text_bytes);
  }
  if (!to_file.has_value()) {
    return EmbedToStdout(options, common.ResultFormat(), *source);
  }
  // From here on Ctrl-C saves what is finished before the program ends.
  CatchInterrupts();
  return EmbedToFile(*source, *to_file);
}

// "id" is a field of every style, or part of one.
absl::Status CheckFieldName(std::string_view text) {
  return text.empty() || text == "id"
             ? absl::InvalidArgumentError("must be a name other than id")
             : absl::OkStatus();
}

// Vespa's ids are id:NAMESPACE:TYPE::ID, so a third part would move the id.
absl::Status CheckVespaType(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == 0 || colon == text.npos || colon != text.rfind(':') ||
                 colon + 1 >= text.size()
             ? absl::InvalidArgumentError("must be NAMESPACE:TYPE")
             : absl::OkStatus();
}

// A group of its own in the help: nearly all users print a few vectors or write
// one of the binary formats.
void AddFileFlags(CommandLine& command, EmbedOptions& options) {
  command.Group("File of vectors (--output=FILE)");
  command.Add("format", &options.format,
              "Format of the file; auto = by the extension of its name.",
              kFileFormats);
  AddShardFlag(command, options.file.shard);
  command.Add("jsonl_style", &options.file.jsonl.style,
              "Lines of a jsonl file: plain ({\"id\", \"text\", \"vector\"}), "
              "elasticsearch (bulk API, also OpenSearch's), vespa (vespa feed) "
              "or qdrant (a point per line; an id that is neither a number nor "
              "a UUID is replaced by one).",
              kJsonlStyles);
  AddCheckedFlag(command,
                 {.name = "text_field",
                  .form = "NAME",
                  .help = "Name of the text in a jsonl file.",
                  .check = CheckFieldName},
                 &options.file.jsonl.text_field);
  AddCheckedFlag(command,
                 {.name = "vector_field",
                  .form = "NAME",
                  .help = "Name of the vector in a jsonl file; a qdrant point "
                          "always has vector.",
                  .check = CheckFieldName},
                 &options.file.jsonl.vector_field);
  AddCheckedFlag(command,
                 {.name = "vespa_type",
                  .form = "NAMESPACE:TYPE",
                  .help = "Namespace and type of the documents of "
                          "--jsonl_style=vespa.",
                  .check = CheckVespaType},
                 &options.file.jsonl.vespa_type);
}

}  // namespace

Command AddEmbedCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<EmbedOptions>();
  CommandLine& command = program.AddCommand(kEmbedInfo);
  command.Group("Texts");
  command.Add("side", &options->file.side,
              "Which tower embeds. Required, because vectors of the wrong side "
              "look right and rank badly.",
              kSides);
  AddTextFlags(command, "texts",
               "File of texts, one per line: \"text\" or \"id<TAB>text\"; or "
               ".csv or .jsonl as for semrank put, whose titles are embedded; "
               "plain, .gz or .zst; - = standard input. An empty line is a "
               "text, too, with the zero vector, except in .csv and .jsonl.",
               options->texts);
  command.AddArguments(&options->texts.arguments);
  AddTimingsFlag(command, &options->timings);
  AddModelFlags(command, options->model);
  command.Add("model_dir", &options->model_dir,
              "Model directory on this machine to embed with, on all "
              "processors, instead of a server.",
              "DIR");
  command.Add("max_text_bytes", &options->max_text_bytes,
              "With --model_dir: bytes of the longest text, as the server's "
              "flag of this name. Longer ones are not embedded.",
              {.min = 1, .max = std::int64_t{1} << 20});
  AddFileFlags(command, *options);
  return {kEmbedInfo.name,
          [options, &common] { return RunEmbed(*options, common); }};
}

}  // namespace semrank
