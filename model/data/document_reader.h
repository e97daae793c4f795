// Reads documents from a file in one of the formats of document_formats.h,
// plain, .gz or .zst. Commands that need only texts read them as documents, too
// (text_reader.h).
//
//   Lines    empty lines are ignored. A line of ProblemOfLine, or one that does
//            not have the format, is reported, counted and skipped.
//   Errors   those of LineReader; InvalidArgument for too many bad lines, an
//            unknown or missing column, and for a csv quote that is not closed,
//            since what belongs to its field cannot be known; UsageError if the
//            first document is a tsv line without id, an array of a jsonl file,
//            or has no number as id if numbers are wanted: all others would be
//            bad, too. Documents before an error of the file as a whole are
//            returned first.
//   Memory   at most 20,000 documents or 16 MiB of lines.
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_DATA_DOCUMENT_READER_H_
#define SEMRANK_MODEL_DATA_DOCUMENT_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/line_reader.h"
#include "model/data/document_formats.h"
#include "model/data/input_lines.h"
#include "model/data/shard.h"

namespace semrank {

struct DocumentReaderOptions {
  DocumentFormat format = DocumentFormat::kTsv;
  DocumentFormOptions form = {};
  // An empty tsv line is an empty title without id.
  bool with_empty_lines = false;
  BadLineLimit max_bad_lines = 0;
  std::int64_t num_bad_lines_before = 0;  // of an earlier run
  // Counts for several files in place of the two above, and outlives the
  // reader.
  BadLines* bad_lines = nullptr;
  // Ignore the lines up to this one, except the column names of csv, and the
  // lines of other shards. A document of csv may have several lines, and its
  // last one counts.
  std::int64_t num_lines_before = 0;
  Shard shard = {};
};

struct DocumentBlock {
  std::vector<FileDocument> documents;
  std::vector<std::int64_t> lines;  // number of the last line of each
  // Bad lines before each, with those of the earlier run.
  std::vector<std::int64_t> bad_lines;
  // Where the block ends in the file, as a share of its bytes, and where its
  // first line was if the lines before were done.
  double begin = 0;
  double end = 0;

  bool empty() const { return documents.empty(); }
};

class DocumentReader {
 public:
  static absl::StatusOr<std::unique_ptr<DocumentReader>> Open(
      const std::string& path, const DocumentReaderOptions& options);

  // The next documents; empty at the end.
  absl::StatusOr<DocumentBlock> NextBlock();

  // The last line up to which blocks were returned or lines skipped.
  std::int64_t line_number() const { return line_number_; }
  // With those of the earlier run.
  std::int64_t num_bad_lines() const { return bad_lines_.count(); }
  // After the error of a quote that is not closed: the shard's lines from its
  // record on, those of a pipe as far as they were read. Else 0.
  std::int64_t num_unread_lines() const { return num_unread_lines_; }

 private:
  DocumentReader(std::unique_ptr<LineReader> lines,
                 const DocumentReaderOptions& options);

  absl::Status ReadColumnNames();
  // Reads the next line, or the lines of the next csv record; false at the end.
  absl::StatusOr<bool> NextRecord();
  absl::StatusOr<bool> NextCsvRecord();
  absl::Status OpenQuoteError(std::string_view reason);
  bool EmptyLinesAreTexts() const;
  bool IsOurs() const;
  absl::Status AddDocument(DocumentBlock& block);
  absl::Status Parse(FileDocument& document);

  const std::unique_ptr<LineReader> lines_;
  const DocumentReaderOptions options_;
  BadLines own_bad_lines_;
  BadLines& bad_lines_;
  std::vector<std::string> columns_;  // of csv
  // The record that was read last.
  std::string record_;  // its lines
  CsvRecord csv_;
  std::string problem_;  // why it cannot be used; empty if it can
  std::int64_t first_line_ = 0;

  std::int64_t line_number_ = 0;
  std::int64_t num_unread_lines_ = 0;
  bool any_document_ = false;
  absl::Status error_;  // of NextRecord, for the call after the last block
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_DOCUMENT_READER_H_
