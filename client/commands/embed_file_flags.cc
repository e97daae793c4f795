#include "client/commands/embed_file_flags.h"

#include <filesystem>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "client/commands/model_flags.h"
#include "client/commands/result_flags.h"
#include "client/commands/shard_flag.h"
#include "client/commands/text_flags.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(std::string, format, "",
          "Of the file that --output names: npy, fvecs, jsonl, tsv or "
          "safetensors. Empty = as its name ends.");
ABSL_FLAG(std::string, jsonl_style, "plain",
          "Of a jsonl file: plain ({\"id\", \"text\", \"vector\"}), "
          "elasticsearch (bulk API, also OpenSearch's), vespa (vespa feed) or "
          "qdrant (a point a line; an id that is neither a number nor a UUID "
          "becomes one).");
ABSL_FLAG(std::string, text_field, "text", "Name of the text in a jsonl file.");
ABSL_FLAG(std::string, vector_field, "vector",
          "Name of the vector in a jsonl file; of a qdrant point it is always "
          "vector.");
ABSL_FLAG(std::string, vespa_type, "doc:doc",
          "NAMESPACE:TYPE of the documents of --jsonl_style=vespa.");

namespace semrank {
namespace {

absl::StatusOr<EmbeddingFileFormat> FormatOf(const std::string& file) {
  const std::string flag = absl::GetFlag(FLAGS_format);
  const std::string ending = std::filesystem::path(file).extension().string();
  const std::string name =
      !flag.empty() || ending.empty() ? flag : ending.substr(1);
  if (const auto format = FindEmbeddingFileFormat(name)) return *format;
  if (flag.empty()) {
    return FlagError("output", file,
                     absl::StrFormat("no form ends so; give --format: %s",
                                     kEmbeddingFileFormats));
  }
  return FlagError("format", flag,
                   absl::StrFormat("want %s", kEmbeddingFileFormats));
}

bool IsVespaType(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != 0 && colon == text.rfind(':') &&
         colon != std::string_view::npos && colon + 1 < text.size();
}

absl::StatusOr<JsonlForm> JsonlFromFlags() {
  const std::string flag = absl::GetFlag(FLAGS_jsonl_style);
  const auto style = FindJsonlStyle(flag);
  if (!style.has_value()) {
    return FlagError("jsonl_style", flag,
                     absl::StrFormat("want %s", kJsonlStyles));
  }
  JsonlForm form{.style = *style,
                 .text_field = absl::GetFlag(FLAGS_text_field),
                 .vector_field = absl::GetFlag(FLAGS_vector_field),
                 .vespa_type = absl::GetFlag(FLAGS_vespa_type)};
  if (form.text_field.empty() || form.text_field == "id") {
    return FlagError("text_field", form.text_field, "want a name beside id");
  }
  if (form.vector_field.empty() || form.vector_field == "id" ||
      form.vector_field == form.text_field) {
    return FlagError("vector_field", form.vector_field,
                     "want a name beside id and that of the text");
  }
  if (!IsVespaType(form.vespa_type)) {
    return FlagError("vespa_type", form.vespa_type, "want NAMESPACE:TYPE");
  }
  return form;
}

absl::Status CheckNotGivenWithoutFile() {
  constexpr std::string_view kReason =
      "goes to a file: give --output=FILE, with a dot or slash in its name";
  const std::string format = absl::GetFlag(FLAGS_format);
  if (!format.empty()) return FlagError("format", format, kReason);
  SEMRANK_ASSIGN_OR_RETURN(const Shard shard, ShardFromFlags());
  if (shard.count == 1) return absl::OkStatus();
  return FlagError("shard", FormatShard(shard), kReason);
}

}  // namespace

absl::StatusOr<std::optional<EmbedToFileOptions>> EmbedToFileFromFlags(
    v1::Side side, const std::string& texts) {
  EmbedToFileOptions options;
  options.output = OutputFileFromFlags();
  if (options.output.empty()) {
    SEMRANK_RETURN_IF_ERROR(CheckNotGivenWithoutFile());
    return std::nullopt;
  }
  if (texts.empty()) {
    return FlagError("output", options.output,
                     "a file of vectors needs --texts=FILE");
  }
  options.side = side;
  options.texts = texts;
  options.model = ModelFromFlags();
  SEMRANK_ASSIGN_OR_RETURN(options.format, FormatOf(options.output));
  SEMRANK_ASSIGN_OR_RETURN(options.jsonl, JsonlFromFlags());
  if (options.jsonl.style != JsonlStyle::kPlain &&
      options.format != EmbeddingFileFormat::kJsonl) {
    return FlagError("jsonl_style", absl::GetFlag(FLAGS_jsonl_style),
                     absl::StrFormat("the file is to be %s, not jsonl",
                                     NameOf(options.format)));
  }
  SEMRANK_ASSIGN_OR_RETURN(options.shard, ShardFromFlags());
  SEMRANK_ASSIGN_OR_RETURN(options.max_bad_lines, MaxBadLinesFromFlags());
  return options;
}

}  // namespace semrank
