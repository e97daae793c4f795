#include "model/data/document_reader.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

// A block is what one call of Put sends: large enough for many messages in
// flight, small enough to be held in memory twice, as text and as vectors.
constexpr std::size_t kMaxBlockDocuments = 20'000;
constexpr std::size_t kMaxBlockBytes = std::size_t{16} << 20;

// LineReader truncates longer lines to this size.
bool IsTruncated(std::string_view line) {
  return line.size() >= LineReader::kMaxLineBytes;
}

}  // namespace

DocumentReader::DocumentReader(std::unique_ptr<LineReader> lines,
                               const DocumentReaderOptions& options)
    : lines_(std::move(lines)),
      options_(options),
      own_bad_lines_(options.max_bad_lines, options.num_bad_lines_before),
      bad_lines_(options.bad_lines == nullptr ? own_bad_lines_
                                              : *options.bad_lines) {}

absl::StatusOr<std::unique_ptr<DocumentReader>> DocumentReader::Open(
    const std::string& path, const DocumentReaderOptions& options) {
  SEMRANK_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> lines,
                           LineReader::Open(path));
  std::unique_ptr<DocumentReader> reader(
      new DocumentReader(std::move(lines), options));
  if (options.format == DocumentFormat::kCsv) {
    SEMRANK_RETURN_IF_ERROR(reader->ReadColumnNames());
  }
  return reader;
}

absl::Status DocumentReader::ReadColumnNames() {
  SEMRANK_ASSIGN_OR_RETURN(const bool more, NextRecord());
  // An empty file has no documents, which is not an error.
  if (!more) return absl::OkStatus();
  // Without valid names no field of any line has a meaning, so they are no bad
  // line but an error.
  columns_ = csv_.fields();
  const std::string problem =
      problem_.empty()
          ? std::string(CheckCsvColumns(columns_, options_.form).message())
          : problem_;
  if (problem.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s:%d: %s", lines_->path(), lines_->line_number(), problem));
}

absl::StatusOr<bool> DocumentReader::NextRecord() {
  std::string_view line;
  SEMRANK_ASSIGN_OR_RETURN(const bool more, lines_->Next(line));
  if (!more) return false;
  first_line_ = lines_->line_number();
  // A copy: `line` is valid until the next line, and a csv record may need
  // several of them.
  record_ = line;
  problem_ = ProblemOfLine(line);
  // The rest of a truncated line is unknown, also whether it has quotes.
  if (options_.format != DocumentFormat::kCsv || IsTruncated(line)) return true;
  return NextCsvRecord();
}

// Quotes are followed also in lines that are not UTF-8, or the lines after them
// would be taken for records of their own.
absl::StatusOr<bool> DocumentReader::NextCsvRecord() {
  csv_.Clear();
  std::string_view line = record_;
  while (true) {
    const absl::StatusOr<bool> complete = csv_.AddLine(line);
    if (complete.ok() && *complete) return true;
    // The fault is in the line in which the last quote opened, so this line
    // alone is bad. A fault in a later line shows that the quote before it was
    // never closed.
    if (!complete.ok() && csv_.num_lines() == csv_.quote_line() + 1) {
      problem_ = ToStd(complete.status().message());
      return true;
    }
    if (!complete.ok()) {
      return OpenQuoteError(absl::StrFormat("is not closed before line %d",
                                            lines_->line_number()));
    }
    SEMRANK_ASSIGN_OR_RETURN(const bool more, lines_->Next(line));
    if (!more) return OpenQuoteError("is never closed");
    (record_ += '\n') += line;
    // An open quote would otherwise collect the rest of a file of any size.
    if (IsTruncated(record_)) {
      return OpenQuoteError(absl::StrFormat("is not closed within %d bytes",
                                            LineReader::kMaxLineBytes));
    }
    if (problem_.empty()) problem_ = ProblemOfLine(line);
  }
}

// Counts the lines that follow, so that the message says how much is missing. A
// pipe may never end, so it is not read on.
absl::Status DocumentReader::OpenQuoteError(std::string_view reason) {
  const std::int64_t quote_line = first_line_ + csv_.quote_line();
  std::string_view line;
  while (IsRereadable(lines_->path())) {
    const absl::StatusOr<bool> more = lines_->Next(line);
    if (!more.ok() || !*more) break;
  }
  num_unread_lines_ = options_.shard.NumLines(lines_->line_number()) -
                      options_.shard.NumLines(first_line_ - 1);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s:%d: the quote that opens in this line %s; nothing from line %d on is "
      "read (%s lines)",
      lines_->path(), quote_line, reason, first_line_,
      GroupDigits(num_unread_lines_)));
}

bool DocumentReader::EmptyLinesAreTexts() const {
  return options_.with_empty_lines && options_.format == DocumentFormat::kTsv;
}

// A record of several lines has the number of its last one, in every shard.
bool DocumentReader::IsOurs() const {
  const std::int64_t number = lines_->line_number();
  return number > options_.num_lines_before && options_.shard.Contains(number);
}

absl::StatusOr<DocumentBlock> DocumentReader::NextBlock() {
  // The call before returned the documents that stood before this error.
  SEMRANK_RETURN_IF_ERROR(error_);
  DocumentBlock block;
  std::size_t num_bytes = 0;
  while (block.documents.size() < kMaxBlockDocuments &&
         num_bytes < kMaxBlockBytes) {
    const absl::StatusOr<bool> more = NextRecord();
    error_ = more.status();
    if (!error_.ok() && block.empty()) return error_;
    if (!error_.ok() || !*more) break;
    line_number_ = lines_->line_number();
    block.end = lines_->fraction_read();
    // A run that continues shows its own share of the file only.
    if (line_number_ <= options_.num_lines_before) block.begin = block.end;
    // Lines of other shards are parsed all the same, since a csv record ends
    // where its quotes say. They are not checked: the shard that has a line
    // reports it.
    if ((record_.empty() && !EmptyLinesAreTexts()) || !IsOurs()) continue;
    SEMRANK_RETURN_IF_ERROR(AddDocument(block));
    // The bytes of lines stand for those of documents, which have about the
    // same texts.
    num_bytes += record_.size();
  }
  if (block.empty()) {
    // The share of bad lines is that of this shard: its bad lines, of
    // its lines.
    SEMRANK_RETURN_IF_ERROR(bad_lines_.EndFile(
        lines_->path(), options_.shard.NumLines(lines_->line_number())));
  }
  return block;
}

absl::Status DocumentReader::AddDocument(DocumentBlock& block) {
  FileDocument document;
  const absl::Status status =
      problem_.empty() ? Parse(document) : absl::InvalidArgumentError(problem_);
  // The file is not what the flags say it is, so that a hundred lines would be
  // reported as bad.
  if (absl::IsFailedPrecondition(status) && !any_document_) {
    return UsageError(absl::StrFormat("%s:%d: %s", lines_->path(), first_line_,
                                      ToStd(status.message())));
  }
  if (!status.ok()) {
    // --max_bad_lines counts lines, so a bad record of csv counts with all of
    // its lines.
    return bad_lines_.Add(lines_->path(), first_line_, ToStd(status.message()),
                          lines_->line_number() - first_line_ + 1);
  }
  any_document_ = true;
  block.documents.push_back(std::move(document));
  block.lines.push_back(lines_->line_number());
  block.bad_lines.push_back(bad_lines_.count());
  return absl::OkStatus();
}

absl::Status DocumentReader::Parse(FileDocument& document) {
  switch (options_.format) {
    case DocumentFormat::kTsv:
      return ParseTsvDocument(record_, options_.form, document);
    case DocumentFormat::kCsv:
      return ParseCsvDocument(columns_, csv_.fields(), options_.form, document);
    case DocumentFormat::kJsonl:
      break;
  }
  return ParseJsonDocument(record_, document);
}

}  // namespace semrank
