#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/bulk/vector_source.h"
#include "client/commands/command.h"
#include "client/commands/connection_flags.h"
#include "client/commands/embed_file_flags.h"
#include "client/commands/model_flags.h"
#include "client/commands/result_flags.h"
#include "client/commands/text_flags.h"
#include "client/lib/request_chunks.h"
#include "client/output/call_report.h"
#include "client/output/embedding_output.h"
#include "client/output/output.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"

ABSL_FLAG(
    std::string, side, "",
    "Which tower embeds: query or document. Required, because a vector of "
    "the wrong side looks right and ranks badly.");
ABSL_FLAG(
    std::string, texts, "",
    "File of texts, one a line, alone or after an id and a tab: \"text\" "
    "or \"id<TAB>text\"; plain, .gz or .zst; - = standard input. An empty "
    "line is a text too, with the zero vector.");

ABSL_FLAG(std::string, model_dir, "",
          "Model directory of this machine to embed with, on all processors, "
          "in place of a server.");

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    "Usage:\n"
    "  semrank embed --side=query|document --texts=FILE|- [flags]\n"
    "  semrank embed --side=query|document [flags] TEXT...\n"
    "  semrank embed --side=query|document --texts=FILE|- --output=FILE "
    "[--format=npy] [--shard=1/8]\n"
    "\n"
    "Prints a line a text, in order: \"text<TAB>0.1 -0.2 ...\", with "
    "\"id<TAB>\"\n"
    "before it if the texts have ids; or {\"id\", \"text\", \"vector\"} as "
    "JSON. More than a thousand texts go over a stream and are printed as "
    "they\n"
    "come; then one that cannot be embedded is named on standard error and "
    "left\n"
    "out.\n"
    "\n"
    "With --output=FILE, any number of texts: one model for the whole file, "
    "rows in\n"
    "the order of the texts. What stands for an id where there is none is the "
    "number\n"
    "of the line. npy, fvecs and safetensors have the ids in FILE.ids, one a "
    "line.\n"
    "Killed, it goes on where it was when the same command is given again "
    "(not with\n"
    "--texts=-), and FILE appears when it is whole.\n"
    "\n"
    "Examples:\n"
    "  semrank embed --side=query \"edit photos\"\n"
    "  semrank embed --side=document --texts=docs.tsv --output=json "
    ">docs.jsonl\n"
    "  cut -f2 docs.tsv | semrank embed --side=document --texts=-\n"
    "  semrank embed --side=document --texts=docs.tsv.gz --output=docs.npy\n"
    "  semrank embed --side=document --texts=docs.tsv.gz "
    "--output=part3.fvecs --shard=3/8\n"
    "  semrank embed --side=document --texts=docs.tsv.gz --output=docs.npy "
    "--model_dir=models/shop\n";

constexpr std::size_t kMaxTextsOfOneCall = 1'000;

absl::StatusOr<v1::Side> SideFromFlags() {
  const std::string side = absl::GetFlag(FLAGS_side);
  if (side == "query") return v1::SIDE_QUERY;
  if (side == "document") return v1::SIDE_DOCUMENT;
  return FlagError("side", side, "want query or document");
}

// Vectors do not fit a screen, so a table is printed as TSV.
absl::Status Print(const TextList& texts,
                   const v1::EmbedTextsResponse& response) {
  if (FormatFromFlags() == OutputFormat::kJson) {
    return WriteStdout(EmbeddingJsonLines(texts, response));
  }
  return WriteTable(EmbeddingTable(texts, response), OutputFormat::kTsv);
}

absl::StatusOr<CallFacts> EmbedInOneMessage(
    SemrankClient& client, const v1::EmbedTextsRequest& request,
    const TextList& texts) {
  const auto response = client.EmbedTexts(request);
  if (!response.ok()) return WithHint(response.status());
  SEMRANK_RETURN_IF_ERROR(Print(texts, *response));
  return CallFacts{.server = response->timings(),
                   .model = response->model(),
                   .cache_hits = response->cache_hits(),
                   .cache_misses = response->cache_misses()};
}

absl::StatusOr<CallFacts> EmbedStreamed(VectorSource& source,
                                        const v1::EmbedTextsRequest& request,
                                        const TextList& texts) {
  CallFacts facts;
  int num_failed = 0;
  const absl::Status status = source.EmbedTextsStream(
      request, [&](const v1::EmbedTextsStreamResponse& chunk) {
        facts.cache_hits += chunk.cache_hits();
        facts.cache_misses += chunk.cache_misses();
        AddTimings(chunk.timings(), facts.server);
        if (chunk.has_model()) facts.model = chunk.model();
        num_failed += chunk.problems_size();
        absl::FPrintF(stderr, "%s", DescribeProblems(texts, chunk));
        const EmbeddedTexts embedded = TakeEmbedded(texts, chunk);
        return Print(embedded.texts, embedded.response);
      });
  if (!status.ok()) return WithHint(status);
  if (num_failed > 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d of %d texts could not be embedded", num_failed,
                        texts.texts.size()));
  }
  return facts;
}

v1::EmbedTextsRequest RequestFor(const TextList& texts, v1::Side side) {
  v1::EmbedTextsRequest request;
  request.set_side(side);
  request.mutable_texts()->Assign(texts.texts.begin(), texts.texts.end());
  request.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
  *request.mutable_model() = ModelFromFlags();
  return request;
}

// `client` is null where `source` is no server.
absl::Status EmbedAndPrint(VectorSource& source, SemrankClient* client,
                           v1::Side side, const TextList& texts) {
  const v1::EmbedTextsRequest request = RequestFor(texts, side);
  const absl::Time start = absl::Now();
  const bool in_one_message =
      client != nullptr && texts.texts.size() <= kMaxTextsOfOneCall;
  SEMRANK_ASSIGN_OR_RETURN(CallFacts facts,
                           in_one_message
                               ? EmbedInOneMessage(*client, request, texts)
                               : EmbedStreamed(source, request, texts));
  facts.round_trip = absl::Now() - start;
  if (client != nullptr) PrintTimingsIfWanted(facts);
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  SEMRANK_ASSIGN_OR_RETURN(const v1::Side side, SideFromFlags());
  const std::string path = absl::GetFlag(FLAGS_texts);
  SEMRANK_ASSIGN_OR_RETURN(const auto to_file,
                           EmbedToFileFromFlags(side, path));
  std::unique_ptr<SemrankClient> client;
  std::unique_ptr<VectorSource> source;
  if (const std::string folder = absl::GetFlag(FLAGS_model_dir);
      !folder.empty()) {
    source = MakeModelDirectorySource(folder);
  } else {
    SEMRANK_ASSIGN_OR_RETURN(client, ClientFromFlags());
    source = MakeServerSource(*client);
  }
  if (to_file.has_value() && arguments.empty()) {
    return EmbedToFile(*source, *to_file);
  }
  SEMRANK_ASSIGN_OR_RETURN(
      const TextList texts,
      TextsFromFlags({.flag = "texts", .path = path, .arguments = arguments}));
  return EmbedAndPrint(*source, client.get(), side, texts);
}

}  // namespace

const Command kEmbedCommand = {
    .name = "embed",
    .summary = "turns texts into vectors",
    .usage = kUsage,
    .flag_sources =
        "client/commands/embed_command client/commands/embed_file_flags "
        "client/commands/shard_flag "
        "client/commands/text_flags "
        "client/commands/model_flags "
        "client/commands/result_flags "
        "client/commands/connection_flags",
    .takes_arguments = true,
    .run = Run,
    .output_may_be_file = true,
};

}  // namespace semrank
