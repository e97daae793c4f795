#include "client/input/document_reader.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"

namespace semrank {
namespace {

// A block is what one call of Put sends: large enough for many messages in
// flight, small enough to be held in memory twice.
constexpr std::size_t kMaxBlockDocuments = 20'000;
constexpr std::size_t kMaxBlockBytes = std::size_t{16} << 20;

constexpr std::string_view kColumns[] = {"id", "document_id", "title", "tags",
                                         "payload"};

bool HasEvenQuotes(std::string_view text) {
  return std::ranges::count(text, '"') % 2 == 0;
}

void AddTags(std::string_view tags, v1::Document& document) {
  for (const absl::string_view tag :
       absl::StrSplit(ToAbsl(tags), ',', absl::SkipEmpty())) {
    document.add_tags(std::string(tag));
  }
}

absl::Status ParseJson(const std::string& line, v1::Document& document) {
  const auto status =
      google::protobuf::util::JsonStringToMessage(line, &document);
  return status.ok()
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrFormat(
                   "no document as JSON: %s", std::string(status.message())));
}

}  // namespace

DocumentFormat DocumentFormatOf(std::string_view path) {
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (path.ends_with(compressed)) path.remove_suffix(compressed.size());
  }
  if (path.ends_with(".csv")) return DocumentFormat::kCsv;
  return path.ends_with(".jsonl") || path.ends_with(".ndjson")
             ? DocumentFormat::kJsonl
             : DocumentFormat::kTsv;
}

// RFC 4180, for one record without its line break. Debian's libcsv calls back
// for each field, and a reader around it is not shorter.
absl::StatusOr<std::vector<std::string>> ParseCsvRecord(std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;      // inside quotes
  bool was_quoted = false;  // this field, which has ended
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && text.substr(i + 1).starts_with('"')) {
      fields.back() += text[++i];
    } else if (quoted && c == '"') {
      quoted = false;
      was_quoted = true;
    } else if (quoted) {
      fields.back() += c;
    } else if (c == ',') {
      fields.emplace_back();
      was_quoted = false;
    } else if (was_quoted) {
      return absl::InvalidArgumentError("text after a closing quote");
    } else if (c == '"' && !fields.back().empty()) {
      return absl::InvalidArgumentError("a quote in an unquoted field");
    } else if (c == '"') {
      quoted = true;
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return absl::InvalidArgumentError("a quote is not closed");
  return fields;
}

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
  std::string record;
  SEMRANK_ASSIGN_OR_RETURN(const bool more, NextRecord(record));
  // An empty file has no documents, which is no error.
  if (!more) return absl::OkStatus();
  const auto bad = [&](std::string_view reason) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s:%d: %s", lines_->path(), lines_->line_number(), reason));
  };
  auto columns = ParseCsvRecord(record);
  if (!columns.ok()) return bad(ToStd(columns.status().message()));
  columns_ = *std::move(columns);
  for (const std::string& column : columns_) {
    if (std::ranges::find(kColumns, column) != std::end(kColumns)) continue;
    return bad(absl::StrFormat(
        "column '%s': the first line must name columns out of %s", column,
        absl::StrJoin(kColumns, ", ", [](std::string* out, std::string_view c) {
          out->append(c);
        })));
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::count(columns_, name) == 1;
  };
  if (has("title") && has("id") != has("document_id")) return absl::OkStatus();
  return bad("want one column id (or document_id) and one column title");
}

absl::StatusOr<bool> DocumentReader::NextRecord(std::string& record) {
  std::string_view line;
  SEMRANK_ASSIGN_OR_RETURN(bool more, lines_->Next(line));
  if (!more) return false;
  record = line;
  // A quote inside a quoted field is written twice, so a record is complete
  // when its quotes are even. ParseCsvRecord finds out whether they are in the
  // right places. Each line is counted once: a quote that is never closed takes
  // all that follows.
  bool complete =
      options_.format != DocumentFormat::kCsv || HasEvenQuotes(line);
  while (!complete && record.size() < LineReader::kMaxLineBytes) {
    SEMRANK_ASSIGN_OR_RETURN(more, lines_->Next(line));
    if (!more) break;
    record += '\n';
    record += line;
    complete = !HasEvenQuotes(line);
  }
  return true;
}

// A record of several lines has the number of its last one, in every shard.
bool DocumentReader::IsOurs() const {
  const std::int64_t number = lines_->line_number();
  return number > options_.num_lines_before && options_.shard.Contains(number);
}

absl::StatusOr<DocumentBlock> DocumentReader::NextBlock() {
  DocumentBlock block;
  std::size_t num_bytes = 0;
  std::string record;
  while (block.documents.size() < kMaxBlockDocuments &&
         num_bytes < kMaxBlockBytes) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, NextRecord(record));
    if (!more) break;
    if (!IsOurs() || record.empty()) continue;
    v1::Document document;
    const std::string problem = ProblemOfLine(record);
    const absl::Status status = problem.empty()
                                    ? Parse(record, document)
                                    : absl::InvalidArgumentError(problem);
    const std::int64_t number = lines_->line_number();
    // The file is not what the flags say it is: the error of a user, not a bad
    // line.
    if (absl::IsFailedPrecondition(status)) {
      return UsageError(absl::StrFormat("%s:%d: %s", lines_->path(), number,
                                        ToStd(status.message())));
    }
    if (!status.ok()) {
      SEMRANK_RETURN_IF_ERROR(
          bad_lines_.Add(lines_->path(), number, ToStd(status.message())));
      continue;
    }
    num_bytes += record.size();
    block.documents.push_back(std::move(document));
    block.lines.push_back(number);
  }
  return block;
}

absl::Status DocumentReader::Parse(const std::string& record,
                                   v1::Document& document) const {
  switch (options_.format) {
    case DocumentFormat::kTsv:
      return ParseTsv(record, document);
    case DocumentFormat::kCsv:
      return ParseCsv(record, document);
    case DocumentFormat::kJsonl:
      break;
  }
  return ParseJson(record, document);
}

absl::Status DocumentReader::ParseTsv(std::string_view line,
                                      v1::Document& document) const {
  const std::size_t tab = line.find('\t');
  // Probably every line lacks its id: the first one ends the run, before a
  // hundred lines are reported as bad.
  if (tab == line.npos || tab == 0) {
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

absl::Status DocumentReader::ParseCsv(std::string_view record,
                                      v1::Document& document) const {
  SEMRANK_ASSIGN_OR_RETURN(std::vector<std::string> fields,
                           ParseCsvRecord(record));
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
    } else if (fields[i].empty()) {
      // A document with the name "" could not be requested by a flag.
      return absl::InvalidArgumentError("no id");
    } else {
      SEMRANK_RETURN_IF_ERROR(SetId(fields[i], document));
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
