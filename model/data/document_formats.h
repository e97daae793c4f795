// Formats of files of documents, and how one record becomes a document.
//
//   tsv    "id<TAB>title". Further tabs belong to the title, as the last column
//          of a file of texts takes the rest of its line in every program. With
//          tags "id<TAB>title<TAB>tag,tag", where the tags follow the last tab.
//   csv    RFC 4180 with a line of column names first: id (or document_id) and
//          title, and if wanted tags ("tag,tag") and payload, in any order.
//          Quoted fields may have commas, "" and line breaks.
//   jsonl  an object per line with the fields of v1.Document in the JSON of
//          Protobuf, as POST /v1/put_stream takes and `semrank get
//          --output=json` prints them: id or document_id, title, tags, payload
//          (base64). An "id" that is not a number is a document_id, also
//          "007" and other texts that print a number in another form.
#ifndef SEMRANK_MODEL_DATA_DOCUMENT_FORMATS_H_
#define SEMRANK_MODEL_DATA_DOCUMENT_FORMATS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace semrank {

enum class DocumentFormat { kTsv, kCsv, kJsonl };

// By the extension before .gz or .zst, in capitals or not: .csv; .jsonl,
// .ndjson or .json; tsv if it is another one.
DocumentFormat DocumentFormatOf(std::string_view path);

// A document as a file has it.
struct FileDocument {
  std::string id;  // empty = none
  // `id` is the digits of a number from 0 to 2^64 - 1, without leading zeros.
  bool numeric_id = false;
  std::string title;
  std::vector<std::string> tags;
  std::string payload;
};

struct DocumentFormOptions {
  bool numeric_ids = false;  // for tsv and csv; jsonl says for each document
  bool with_tags = false;    // for tsv
  // A tsv line without a tab is a title without id, and csv needs no id.
  bool ids_are_optional = false;
};

// "dev,doc" is two tags; empty ones are dropped.
std::vector<std::string> SplitTags(std::string_view tags);

// Each returns the reason alone: InvalidArgument for a bad record,
// FailedPrecondition if the file is not what the options say it is.
absl::Status ParseTsvDocument(std::string_view line,
                              const DocumentFormOptions& options,
                              FileDocument& document);
absl::Status ParseJsonDocument(std::string_view line, FileDocument& document);
// The fields of a csv record, which are moved from.
absl::Status ParseCsvDocument(const std::vector<std::string>& columns,
                              std::vector<std::string>& fields,
                              const DocumentFormOptions& options,
                              FileDocument& document);
// The first record of a csv file.
absl::Status CheckCsvColumns(const std::vector<std::string>& columns,
                             const DocumentFormOptions& options);

// One record of a CSV file (RFC 4180), which may have several lines. Debian's
// libcsv calls back for each field, and a reader around it is not shorter.
//
//   Quotes   a quoted field may have commas, "" for a quote, and line breaks.
//            After its closing quote only a comma or the line's end may follow,
//            which is how a quote that was never closed is noticed as soon as
//            the next quoted field opens.
class CsvRecord {
 public:
  void Clear();

  // Parses the next line of the record, without its line break. False if a
  // quote is open at its end, so that the record continues in the next line.
  // InvalidArgument, with the reason alone, for text after a closing quote and
  // for a quote in an unquoted field.
  absl::StatusOr<bool> AddLine(std::string_view line);

  std::vector<std::string>& fields() { return fields_; }
  int num_lines() const { return num_lines_; }
  // The line of the record, from 0, in which its last quoted field began.
  int quote_line() const { return quote_line_; }

 private:
  std::vector<std::string> fields_;
  bool quoted_ = false;  // inside quotes
  int num_lines_ = 0;
  int quote_line_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_DOCUMENT_FORMATS_H_
