#include "client/bulk/embed_to_file.h"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "client/bulk/resumable_file.h"
#include "client/output/call_report.h"
#include "client/output/embedding_output.h"
#include "client/output/output.h"
#include "model/base/count_text.h"
#include "model/base/fingerprint.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/thread_pool.h"
#include "model/data/input_progress.h"
#include "model/data/text_reader.h"
#include "model/text/text_limit.h"

// The file is the same to the byte, however often the run was interrupted:
// texts are read in blocks, rows are appended in their order, and the counts of
// a checkpoint say at which line the next run begins.
namespace semrank {
namespace {

using Json = nlohmann::ordered_json;

// Counts of the finished part, saved with every checkpoint.
struct EmbedCounts {
  std::int64_t num_lines = 0;  // read from the input, of all shards
  std::int64_t num_rows = 0;
  std::int64_t num_bad_lines = 0;
  std::int64_t num_refused = 0;

  Json ToJson() const {
    return {{"lines", num_lines},
            {"rows", num_rows},
            {"bad_lines", num_bad_lines},
            {"refused", num_refused}};
  }
  static EmbedCounts FromJson(const Json& json) {
    return {.num_lines = json.value("lines", std::int64_t{0}),
            .num_rows = json.value("rows", std::int64_t{0}),
            .num_bad_lines = json.value("bad_lines", std::int64_t{0}),
            .num_refused = json.value("refused", std::int64_t{0})};
  }
  std::string Text() const {
    return absl::StrFormat("line %s, %s", GroupDigits(num_lines),
                           CountText(num_rows, "vector"));
  }
};

// The version of the interrupted run, unless the options name another one: the
// current version may have changed in between, and a file never has the vectors
// of two.
v1::ModelRef ModelToAsk(const EmbedToFileOptions& options,
                        const std::optional<ResumableState>& state) {
  v1::ModelRef model = options.model;
  if (!state.has_value() || model.version() != 0) return model;
  const std::string name = state->identity.value("model", "");
  std::int64_t version = 0;
  if (!model.name().empty() && model.name() != name) return model;
  if (!absl::SimpleAtoi(state->identity.value("version", ""), &version)) {
    return model;
  }
  model.set_name(name);
  model.set_version(version);
  return model;
}

// Before any text is sent: the header of a file needs the dimension, and a file
// of another model must not be continued.
absl::StatusOr<v1::Model> AskForModel(
    VectorSource& source, const EmbedToFileOptions& options,
    const std::optional<ResumableState>& state) {
  const v1::ModelRef wanted = ModelToAsk(options, state);
  auto model = source.GetModel(wanted);
  if (absl::IsNotFound(model.status()) && state.has_value() &&
      wanted.version() != options.model.version()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s.partial holds vectors of model %s version %d, which no longer "
        "exists; remove %s.state to start over (%s)",
        options.output, wanted.name(), wanted.version(), options.output,
        model.status().message()));
  }
  if (!model.ok()) return WithHint(model.status());
  if (model->embedding_dim() > 0) return model;
  return absl::InvalidArgumentError(absl::StrFormat(
      "model %s version %d has no vectors", model->name(), model->version()));
}

// Everything that must not change between an interrupted run and its
// continuation.
absl::StatusOr<Json> Identity(const EmbedToFileOptions& options,
                              const v1::Model& model) {
  Json identity = {{"model", model.name()},
                   {"version", std::to_string(model.version())},
                   {"weights", model.weights_sha256()},
                   {"side", EnumWord(options.side)},
                   {"format", NameOf(options.format)},
                   {"shard", FormatShard(options.shard)}};
  if (options.format == EmbeddingFileFormat::kJsonl) {
    // A sample line covers the style and all names of fields.
    const TextList texts = {{"x"}, {"1"}};
    RowParts line;
    AppendJsonlRows(options.jsonl, AllEmbedded(texts, {}), nullptr, line);
    identity["lines like"] = line.Join();
  }
  // The default is absent, as it is in the states that version 0.1.0 saved.
  if (options.max_text_bytes > 0 &&
      options.max_text_bytes != kDefaultMaxTextBytes) {
    identity["max_text_bytes"] = std::to_string(options.max_text_bytes);
  }
  if (IsRereadable(options.texts)) {
    SEMRANK_ASSIGN_OR_RETURN(identity["texts"], FileFingerprint(options.texts));
  }
  return identity;
}

// A part of the file, and the counts of the reader after it.
struct TextBlock {
  TextList list;                        // every text has an id
  std::vector<std::int64_t> lines;      // their last lines, from 1
  std::vector<std::int64_t> bad_lines;  // before each text
  double begin = 0;                     // in the file, as DocumentBlock
  double end = 0;
  v1::EmbedTextsRequest request;  // for the same texts
  std::int64_t num_lines = 0;
  std::int64_t num_bad_lines = 0;
};

// A pipeline: a thread reads the next block while this one is embedded and
// another thread writes the vectors before it.
class FileEmbedder {
 public:
  FileEmbedder(VectorSource& source, const EmbedToFileOptions& options,
               const v1::Model& model, const EmbedCounts& counts,
               ResumableFile& file)
      : source_(source), options_(options), counts_(counts), writer_(file) {
    request_.set_side(options.side);
    request_.set_encoding(v1::VECTOR_ENCODING_FLOAT32);
    // The version is fixed, so a reload of the server cannot mix two models.
    request_.mutable_model()->set_name(model.name());
    request_.mutable_model()->set_version(model.version());
    embedding_dim_ = model.embedding_dim();
  }

  absl::Status EmbedAll() {
    SEMRANK_ASSIGN_OR_RETURN(reader_, OpenTexts());
    InputProgress progress("embed", {options_.texts}, "text");
    std::future<absl::StatusOr<TextBlock>> next = StartReading();
    while (true) {
      // A checkpoint for each block: what is lost by a kill is little more than
      // a block of vectors.
      absl::StatusOr<TextBlock> read = next.get();
      if (!read.ok()) return Interrupted() ? Stop(counts_) : read.status();
      const TextBlock block = *std::move(read);
      // Bad lines may follow the last text.
      if (block.lines.empty()) {
        counts_.num_bad_lines = block.num_bad_lines;
        progress.Finish(NumTexts());
        break;
      }
      next = StartReading();
      const EmbedCounts at_checkpoint = counts_;
      progress.StartBlock(block.begin, block.end, block.lines.size());
      const absl::Status status = Embed(block, progress);
      if (!status.ok()) return Interrupted() ? Stop(at_checkpoint) : status;
      counts_.num_lines = block.num_lines;
      counts_.num_bad_lines = block.num_bad_lines;
      SEMRANK_RETURN_IF_ERROR(OfFile(writer_.Checkpoint(counts_.ToJson())));
    }
    // A shard of a short file may be empty, and is one of several files.
    if (counts_.num_lines == 0 && options_.shard.count == 1) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--texts=%s: contains no texts", options_.texts));
    }
    return OfFile(writer_.Finish());
  }

  const EmbedCounts& counts() const { return counts_; }

 private:
  // Returns a reader that continues after the finished lines.
  absl::StatusOr<std::unique_ptr<DocumentReader>> OpenTexts() {
    // The limit counts over all runs of one file.
    return DocumentReader::Open(options_.texts,
                                {.format = DocumentFormatOf(options_.texts),
                                 .form = {.ids_are_optional = true},
                                 .with_empty_lines = true,
                                 .max_bad_lines = options_.max_bad_lines,
                                 .num_bad_lines_before = counts_.num_bad_lines,
                                 .num_lines_before = counts_.num_lines,
                                 .shard = options_.shard});
  }

  std::int64_t NumTexts() const {
    return counts_.num_rows + counts_.num_refused;
  }

  // Only one block is read at a time, so that the reader needs no lock. A pipe
  // is not read ahead: an error elsewhere would then wait for its next line.
  std::future<absl::StatusOr<TextBlock>> StartReading() {
    return std::async(IsRereadable(options_.texts) ? std::launch::async
                                                   : std::launch::deferred,
                      [this] { return Read(); });
  }

  absl::StatusOr<TextBlock> Read() {
    TextBlock block;
    SEMRANK_ASSIGN_OR_RETURN(DocumentBlock read, reader_->NextBlock());
    TextList& list = block.list;
    for (std::size_t i = 0; i < read.documents.size(); ++i) {
      FileDocument& document = read.documents[i];
      list.ids.push_back(document.id.empty() ? std::to_string(read.lines[i])
                                             : std::move(document.id));
      list.texts.push_back(std::move(document.title));
    }
    block.lines = std::move(read.lines);
    block.bad_lines = std::move(read.bad_lines);
    block.begin = read.begin;
    block.end = read.end;
    block.request = request_;
    block.request.mutable_texts()->Assign(list.texts.begin(), list.texts.end());
    block.num_lines = reader_->line_number();
    block.num_bad_lines = reader_->num_bad_lines();
    return block;
  }

  // After Ctrl-C keeps what is finished, so that the next run continues there.
  absl::Status Stop(const EmbedCounts& at_checkpoint) {
    if (!IsRereadable(options_.texts)) {
      return absl::CancelledError(
          "interrupted: the texts cannot be read again, so the next run starts "
          "over");
    }
    if (options_.format == EmbeddingFileFormat::kSql) {
      // Each chunk of a block is a transaction there. Another block would have
      // other chunks, and the file other bytes.
      counts_ = at_checkpoint;
    } else {
      SEMRANK_RETURN_IF_ERROR(writer_.Checkpoint(counts_.ToJson()));
    }
    SEMRANK_RETURN_IF_ERROR(writer_.Finish());
    return absl::CancelledError(absl::StrFormat(
        "interrupted: %s.partial is saved up to %s; the same command continues "
        "it",
        options_.output, counts_.Text()));
  }

  // Adds to an error of the file what to do about a full disk. (A server's
  // RESOURCE_EXHAUSTED means something else.)
  absl::Status OfFile(const absl::Status& status) {
    file_failed_ = file_failed_ || !status.ok();
    if (!absl::IsResourceExhausted(status)) return status;
    return absl::Status(
        status.code(),
        absl::StrFormat(
            "%s; free some space, then the same command %s", status.message(),
            IsRereadable(options_.texts) ? "continues" : "starts over"));
  }

  absl::Status Embed(const TextBlock& block, InputProgress& progress) {
    const absl::Status status = source_.EmbedTextsStream(
        block.request, [&](v1::EmbedTextsStreamResponse& chunk) {
          const std::size_t last = chunk.first_text() + chunk.num_texts();
          if (HasIdsFile(options_.format)) {
            RefuseIdsOfSeveralLines(block, chunk);
          }
          SEMRANK_RETURN_IF_ERROR(Take(block, chunk));
          if (last > 0) {
            counts_.num_lines = block.lines[last - 1];
            counts_.num_bad_lines = block.bad_lines[last - 1];
            progress.Update(last, NumTexts());
          }
          // EmbedAll turns it into a message for the user.
          return Interrupted() ? absl::CancelledError() : absl::OkStatus();
        });
    return status.ok() || file_failed_ ? status : WithHint(status);
  }

  // FILE.ids has one line for each row: with another one, all rows that follow
  // would have the ids of their neighbours.
  static void RefuseIdsOfSeveralLines(const TextBlock& block,
                                      v1::EmbedTextsStreamResponse& chunk) {
    for (std::uint32_t i = 0; i < chunk.num_texts(); ++i) {
      const std::string& id = block.list.ids[chunk.first_text() + i];
      if (id.find('\n') == id.npos) continue;
      const bool is_refused = std::ranges::any_of(
          chunk.problems(), [i](const auto& p) { return p.index() == i; });
      if (is_refused) continue;
      v1::Problem& problem = *chunk.add_problems();
      problem.set_index(i);
      problem.mutable_status()->set_message("the id has a line break");
    }
  }

  // A fixed version has a fixed dimension. A response that says otherwise would
  // shift all rows that follow.
  absl::Status Take(const TextBlock& block,
                    v1::EmbedTextsStreamResponse& chunk) {
    if (chunk.num_texts() > 0 && chunk.embedding_dim() != embedding_dim_) {
      return absl::InternalError(absl::StrFormat(
          "invalid response from the server: %d-dimensional vectors from a "
          "%d-dimensional model",
          chunk.embedding_dim(), embedding_dim_));
    }
    for (const v1::Problem& problem : chunk.problems()) {
      const std::int64_t line =
          block.lines[chunk.first_text() + problem.index()];
      problems_.Add(absl::StrFormat("%s:%d", options_.texts, line), problem);
      ++counts_.num_refused;
    }
    // Without problems the vectors are written as they came, not copied.
    const bool takes_vectors =
        RowsAreVectors(options_.format) && chunk.problems().empty();
    SEMRANK_RETURN_IF_ERROR(
        ForEachEmbeddedRun(block.list, chunk, [&](const EmbeddedTexts& run) {
          for (const std::string& id : run.ids) (piece_.ids += id) += '\n';
          counts_.num_rows += static_cast<std::int64_t>(run.texts.size());
          if (!takes_vectors) {
            AppendEmbeddingFileRows(options_.format, run, options_.jsonl,
                                    &pool_, piece_.rows);
          }
          return absl::OkStatus();
        }));
    if (takes_vectors) {
      piece_.rows.Add(1).front().swap(*chunk.mutable_vectors());
    }
    return OfFile(writer_.Append(piece_));
  }

  VectorSource& source_;
  const EmbedToFileOptions& options_;
  EmbedCounts counts_;
  ProblemReport problems_{"not embedded"};
  BackgroundWriter writer_;
  BackgroundWriter::Piece piece_;  // rows that are next to be appended
  ThreadPool pool_{NumUsableProcessors()};
  v1::EmbedTextsRequest request_;  // without texts
  std::uint32_t embedding_dim_ = 0;
  bool file_failed_ = false;
  std::unique_ptr<DocumentReader> reader_;
};

}  // namespace

absl::Status EmbedToFile(VectorSource& source,
                         const EmbedToFileOptions& options) {
  std::optional<ResumableState> state;
  if (IsRereadable(options.texts)) {
    SEMRANK_ASSIGN_OR_RETURN(state, ReadResumableState(options.output));
  }
  SEMRANK_ASSIGN_OR_RETURN(const v1::Model model,
                           AskForModel(source, options, state));
  SEMRANK_ASSIGN_OR_RETURN(const Json identity, Identity(options, model));
  const EmbeddingFileFacts facts{.format = options.format,
                                 .embedding_dim = model.embedding_dim(),
                                 .model = model.name(),
                                 .version = model.version(),
                                 .side = EnumWord(options.side)};
  SEMRANK_ASSIGN_OR_RETURN(
      const std::unique_ptr<ResumableFile> file,
      ResumableFile::Open(options.output, HasIdsFile(options.format),
                          EmbeddingFileHeader(facts, 0), identity, state));
  EmbedCounts counts;
  if (state.has_value()) {
    counts = EmbedCounts::FromJson(state->progress);
    absl::FPrintF(stderr, "%s.partial: continuing after %s\n", options.output,
                  counts.Text());
  }
  FileEmbedder embedder(source, options, model, counts, *file);
  SEMRANK_RETURN_IF_ERROR(embedder.EmbedAll());
  counts = embedder.counts();
  // The header was written for 0 rows; only now is their number known.
  SEMRANK_RETURN_IF_ERROR(
      file->Finish(EmbeddingFileHeader(facts, counts.num_rows)));
  if (counts.num_bad_lines > 0) {
    absl::FPrintF(stderr, "%s: %s%s\n", options.output,
                  CountText(counts.num_rows, "vector"),
                  DescribeSkipped(counts.num_bad_lines));
  }
  if (counts.num_refused == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s could not be embedded; %s has the vectors of the other %s",
      CountText(counts.num_refused, "text"), options.output,
      GroupDigits(counts.num_rows)));
}

}  // namespace semrank
