// Reads documents for the catalog from a file, plain, .gz or .zst.
//
//   tsv    "id<TAB>title"; with tags "id<TAB>title<TAB>tag,tag", where the tags
//          follow the line's last tab
//   csv    RFC 4180 with a line of column names first: id (or document_id) and
//          title, and if wanted tags ("tag,tag") and payload, in any order.
//          Quoted fields may have commas, "" and line breaks.
//   jsonl  a v1.Document in Protobuf's JSON per line, as POST /v1/put_stream
//          takes and `semrank get --output=json` prints them
//
//   Lines    empty lines are ignored. A line that is too long, not UTF-8 or not
//            in the format is reported on standard error, counted and skipped.
//   Errors   those of LineReader; InvalidArgument for too many bad lines, an
//            unknown or missing column; UsageError for a tsv line without id,
//            or an id that is no number if numbers are wanted.
//   Memory   at most 20,000 documents or 16 MiB of lines.
//   Threads  not thread-safe.
#ifndef SEMRANK_CLIENT_INPUT_DOCUMENT_READER_H_
#define SEMRANK_CLIENT_INPUT_DOCUMENT_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/input/text_reader.h"
#include "model/base/line_reader.h"
#include "model/data/input_lines.h"
#include "semrank/v1/catalog_service.pb.h"

namespace semrank {

enum class DocumentFormat { kTsv, kCsv, kJsonl };

// By the extension before .gz or .zst; tsv if it is another one.
DocumentFormat DocumentFormatOf(std::string_view path);

struct DocumentReaderOptions {
  DocumentFormat format = DocumentFormat::kTsv;
  bool numeric_ids = false;  // for tsv and csv; jsonl says for each document
  bool with_tags = false;    // for tsv
  std::int64_t max_bad_lines = 0;
  // Ignore the lines up to this one, except the column names of csv, and the
  // lines of other shards. A document of csv may have several lines, and its
  // last one counts.
  std::int64_t num_lines_before = 0;
  Shard shard = {};
};

struct DocumentBlock {
  std::vector<v1::Document> documents;
  std::vector<std::int64_t> lines;  // number of the last line of each

  bool empty() const { return documents.empty(); }
};

// The fields of one CSV record. InvalidArgument, with the reason alone, for
// text after a closing quote and for a quote in an unquoted field.
absl::StatusOr<std::vector<std::string>> ParseCsvRecord(std::string_view text);

class DocumentReader {
 public:
  static absl::StatusOr<std::unique_ptr<DocumentReader>> Open(
      const std::string& path, const DocumentReaderOptions& options);

  // The next documents; empty at the end.
  absl::StatusOr<DocumentBlock> NextBlock();

  std::int64_t num_bad_lines() const { return bad_lines_.count(); }

 private:
  DocumentReader(std::unique_ptr<LineReader> lines,
                 const DocumentReaderOptions& options)
      : lines_(std::move(lines)),
        options_(options),
        bad_lines_(options.max_bad_lines) {}

  absl::Status ReadColumnNames();
  // The next line, or the lines of the next CSV record; false at the end.
  absl::StatusOr<bool> NextRecord(std::string& record);
  bool IsOurs() const;
  // With the reason alone: InvalidArgument for a bad line, FailedPrecondition
  // for wrong use.
  absl::Status Parse(const std::string& record, v1::Document& document) const;
  absl::Status ParseTsv(std::string_view line, v1::Document& document) const;
  absl::Status ParseCsv(std::string_view record, v1::Document& document) const;
  absl::Status SetId(std::string_view id, v1::Document& document) const;

  const std::unique_ptr<LineReader> lines_;
  const DocumentReaderOptions options_;
  BadLines bad_lines_;
  std::vector<std::string> columns_;  // of csv
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_INPUT_DOCUMENT_READER_H_
