#include "client/input/document_reader.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"
#include "model/cli/progress.h"
#include "model/text/utf8.h"

namespace semrank {
namespace {

// A block is what one call of Put sends: large enough for many messages in
// flight, small enough to be held in memory twice, as text and as vectors.
constexpr std::size_t kMaxBlockDocuments = 20'000;
constexpr std::size_t kMaxBlockBytes = std::size_t{16} << 20;

constexpr std::string_view kColumns[] = {"id", "document_id", "title", "tags",
                                         "payload"};

// LineReader truncates longer lines to this size.
bool IsTruncated(std::string_view line) {
  return line.size() >= LineReader::kMaxLineBytes;
}

// Why a line must be skipped; empty if it is good. A line that is cut or not
// UTF-8 would fail the whole call at the server.
std::string ProblemOfLine(std::string_view line) {
  if (IsTruncated(line)) {
    return absl::StrFormat("%d bytes or more", LineReader::kMaxLineBytes);
  }
  return IsValidUtf8(line) ? "" : "not valid UTF-8";
}

void AddTags(std::string_view tags, v1::Document& document) {
  for (const absl::string_view tag :
       absl::StrSplit(ToAbsl(tags), ',', absl::SkipEmpty())) {
    document.add_tags(std::string(tag));
  }
}

// Protobuf takes the id "7" as the number 7 and refuses "abc", which is a name
// as in csv. Empty if that is not what is wrong with the line.
std::string WithIdAsName(const std::string& line) {
  auto json = nlohmann::ordered_json::parse(line, nullptr,
                                            /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("id") || !json["id"].is_string() ||
      json.contains("document_id") || json.contains("documentId")) {
    return "";
  }
  const auto id = json["id"];
  json.erase("id");
  json["document_id"] = id;
  return json.dump();
}

absl::Status ParseJson(const std::string& line, v1::Document& document) {
  using google::protobuf::util::JsonStringToMessage;
  auto status = JsonStringToMessage(line, &document);
  if (status.ok()) return absl::OkStatus();
  if (line.starts_with('[')) {
    return absl::FailedPreconditionError(
        "a JSON array: want JSON lines (.jsonl), an object per line, as "
        "jq -c '.[]' prints them");
  }
  const std::string named = WithIdAsName(line);
  if (!named.empty()) {
    document.Clear();
    status = JsonStringToMessage(named, &document);
  }
  return status.ok()
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrFormat(
                   "no document as JSON: %s", std::string(status.message())));
}

}  // namespace

DocumentFormat DocumentFormatOf(std::string_view path) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(path));
  std::string_view name = lower;
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (name.ends_with(compressed)) name.remove_suffix(compressed.size());
  }
  if (name.ends_with(".csv")) return DocumentFormat::kCsv;
  return name.ends_with(".jsonl") || name.ends_with(".ndjson") ||
                 name.ends_with(".json")
             ? DocumentFormat::kJsonl
             : DocumentFormat::kTsv;
}

bool IsRereadable(const std::string& path) {
  std::error_code error;
  return path != "-" && std::filesystem::is_regular_file(path, error);
}

DocumentReader::DocumentReader(std::unique_ptr<LineReader> lines,
                               const DocumentReaderOptions& options)
    : lines_(std::move(lines)),
      options_(options),
      bad_lines_(options.max_bad_lines) {}

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
  // An empty file has no documents, which is no error.
  if (!more) return absl::OkStatus();
  const auto bad = [&](std::string_view reason) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s:%d: %s", lines_->path(), lines_->line_number(), reason));
  };
  if (!problem_.empty()) return bad(problem_);
  columns_ = csv_.fields();
  for (const std::string& column : columns_) {
    if (std::ranges::find(kColumns, column) != std::end(kColumns)) continue;
    return bad(absl::StrFormat(
        "column '%s': the first line must name columns out of %s", column,
        absl::StrJoin(kColumns, ", ", [](std::string* out, std::string_view c) {
          out->append(c);
        })));
  }
  const auto count = [&](std::string_view name) {
    return std::ranges::count(columns_, name);
  };
  const auto num_ids = count("id") + count("document_id");
  if (count("title") == 1 &&
      (num_ids == 1 || (num_ids == 0 && options_.ids_are_optional))) {
    return absl::OkStatus();
  }
  return bad("want one column id (or document_id) and one column title");
}

absl::StatusOr<bool> DocumentReader::NextRecord() {
  std::string_view line;
  SEMRANK_ASSIGN_OR_RETURN(const bool more, lines_->Next(line));
  if (!more) return false;
  first_line_ = lines_->line_number();
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
    if (line_number_ <= options_.num_lines_before) block.begin = block.end;
    if ((record_.empty() && !EmptyLinesAreTexts()) || !IsOurs()) continue;
    SEMRANK_RETURN_IF_ERROR(AddDocument(block));
    num_bytes += record_.size();
  }
  return block;
}

absl::Status DocumentReader::AddDocument(DocumentBlock& block) {
  v1::Document document;
  const absl::Status status =
      problem_.empty() ? Parse(document) : absl::InvalidArgumentError(problem_);
  // The file is not what the flags say it is: the error of a user, not a bad
  // line.
  if (absl::IsFailedPrecondition(status)) {
    return UsageError(absl::StrFormat("%s:%d: %s", lines_->path(), first_line_,
                                      ToStd(status.message())));
  }
  if (!status.ok()) {
    return bad_lines_.Add(lines_->path(), first_line_, ToStd(status.message()),
                          lines_->line_number() - first_line_ + 1);
  }
  block.documents.push_back(std::move(document));
  block.lines.push_back(lines_->line_number());
  return absl::OkStatus();
}

absl::Status DocumentReader::Parse(v1::Document& document) {
  switch (options_.format) {
    case DocumentFormat::kTsv:
      return ParseTsv(document);
    case DocumentFormat::kCsv:
      return ParseCsv(document);
    case DocumentFormat::kJsonl:
      break;
  }
  return ParseJson(record_, document);
}

absl::Status DocumentReader::ParseTsv(v1::Document& document) const {
  const std::string_view line = record_;
  const std::size_t tab = line.find('\t');
  if (options_.ids_are_optional && tab == line.npos) {
    document.set_title(std::string(line));
    return absl::OkStatus();
  }
  // Probably every line lacks its id: the first one ends the run, before a
  // hundred lines are reported as bad.
  if (tab == line.npos || (tab == 0 && !options_.ids_are_optional)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("\"%s\" has no id: want \"doc_id<TAB>title\"",
                        line.substr(tab == line.npos ? 0 : tab + 1)));
  }
  SEMRANK_RETURN_IF_ERROR(SetId(line.substr(0, tab), document));
  const std::string_view text = line.substr(tab + 1);
  // The last tab: a title may contain tabs.
  const std::size_t last = options_.with_tags ? text.rfind('\t') : text.npos;
  document.set_title(std::string(text.substr(0, last)));
  if (last != text.npos) AddTags(text.substr(last + 1), document);
  return absl::OkStatus();
}

absl::Status DocumentReader::ParseCsv(v1::Document& document) {
  std::vector<std::string>& fields = csv_.fields();
  if (fields.size() != columns_.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d fields for %d columns", fields.size(), columns_.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& column = columns_[i];
    if (column == "title") {
      document.set_title(std::move(fields[i]));
    } else if (column == "tags") {
      AddTags(fields[i], document);
    } else if (column == "payload") {
      document.set_payload(std::move(fields[i]));
    } else if (!fields[i].empty()) {
      SEMRANK_RETURN_IF_ERROR(SetId(fields[i], document));
    } else if (!options_.ids_are_optional) {
      // A document with the name "" could not be requested by a flag.
      return absl::InvalidArgumentError("no id");
    }
  }
  return absl::OkStatus();
}

absl::Status DocumentReader::SetId(std::string_view id,
                                   v1::Document& document) const {
  std::uint64_t number = 0;
  if (!options_.numeric_ids) {
    document.set_document_id(std::string(id));
  } else if (absl::SimpleAtoi(ToAbsl(id), &number)) {
    document.set_id(number);
  } else {
    return absl::FailedPreconditionError(
        absl::StrFormat("the id \"%s\" is not a number from 0 to 2^64 - 1 "
                        "(--numeric_ids)",
                        id));
  }
  return absl::OkStatus();
}

}  // namespace semrank
