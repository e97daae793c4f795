#include "model/data/document_formats.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/base/count_text.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// One function parses one record of one format into a FileDocument. None of
// them knows of lines, files or limits: document_reader.h adds these.

using Json = nlohmann::json;

// The fields of v1.Document, as a header line of a csv file names them.
constexpr std::string_view kColumns[] = {"id", "document_id", "title", "tags",
                                         "payload"};

// Whether `id` is the one text of a number: "007" is a name, such as a bar
// code, and not the same document as "7".
bool IsNumber(std::string_view id) {
  std::uint64_t number = 0;
  return absl::SimpleAtoi(ToAbsl(id), &number) && std::to_string(number) == id;
}

absl::Status SetId(std::string_view id, const DocumentFormOptions& options,
                   FileDocument& document) {
  document.id = id;
  document.numeric_id = options.numeric_ids;
  // FailedPrecondition: with the flag and names as ids every line of the file
  // is wrong, so the reader ends at the first one.
  if (!options.numeric_ids || IsNumber(id)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "the id \"%s\" is not a number from 0 to 2^64 - 1 without leading zeros "
      "(--numeric_ids)",
      id));
}

absl::Status JsonError(std::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrFormat("no document as JSON: %s", reason));
}

absl::Status SetText(std::string_view field, const Json& value,
                     std::string& text) {
  if (!value.is_string()) {
    return JsonError(absl::StrFormat("%s is not a string", field));
  }
  text = value.get<std::string>();
  return absl::OkStatus();
}

// Protobuf prints 64-bit numbers as strings and takes both; pandas writes 7.0.
absl::Status SetJsonId(const Json& value, FileDocument& document) {
  // nlohmann keeps whole numbers of up to 64 bits exact. 7.0 is a double; from
  // 2^53 on, a double may stand for several numbers.
  constexpr double kTwoTo53 = 9007199254740992.0;
  document.numeric_id = true;
  if (value.is_number_unsigned()) {
    document.id = std::to_string(value.get<std::uint64_t>());
    return absl::OkStatus();
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    if (number < 0 || number >= kTwoTo53 || number != std::trunc(number)) {
      return JsonError(
          "id is not a number from 0 to 2^64 - 1, or is 2^53 or more with a "
          "fraction or an exponent");
    }
    document.id = std::to_string(static_cast<std::uint64_t>(number));
    return absl::OkStatus();
  }
  SEMRANK_RETURN_IF_ERROR(SetText("id", value, document.id));
  // "id": "7" is the number 7 and "id": "doc-7" a name, as the API has two
  // fields for them.
  document.numeric_id = IsNumber(document.id);
  return absl::OkStatus();
}

absl::Status SetJsonTags(const Json& value, FileDocument& document) {
  if (!value.is_array()) return JsonError("tags is not an array");
  for (const Json& tag : value) {
    SEMRANK_RETURN_IF_ERROR(
        SetText("a tag", tag, document.tags.emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status SetJsonPayload(const Json& value, FileDocument& document) {
  std::string base64;
  SEMRANK_RETURN_IF_ERROR(SetText("payload", value, base64));
  // Protobuf's JSON has standard base64 and accepts the one for URLs.
  return absl::Base64Unescape(base64, &document.payload) ||
                 absl::WebSafeBase64Unescape(base64, &document.payload)
             ? absl::OkStatus()
             : JsonError("payload is not base64");
}

absl::Status SetJsonField(const std::string& name, const Json& value,
                          FileDocument& document) {
  if (name == "title") return SetText(name, value, document.title);
  if (name == "tags") return SetJsonTags(value, document);
  if (name == "payload") return SetJsonPayload(value, document);
  // Protobuf prints documentId unless it is asked to keep the names of fields.
  const bool is_name = name == "document_id" || name == "documentId";
  if (!is_name && name != "id") {
    return JsonError(absl::StrFormat(
        "unknown field \"%s\"; a document has id or document_id, title, tags "
        "and payload",
        name));
  }
  // The order of members in an object is not fixed, so the first one found must
  // not win.
  if (!document.id.empty()) return JsonError("id and document_id are given");
  return is_name ? SetText(name, value, document.id)
                 : SetJsonId(value, document);
}

}  // namespace

DocumentFormat DocumentFormatOf(std::string_view path) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(path));
  std::string_view name = lower;
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (name.ends_with(compressed)) name.remove_suffix(compressed.size());
  }
  if (name.ends_with(".csv")) return DocumentFormat::kCsv;
  // Many programs name a file of JSON lines .json; an array in it has an error
  // of its own.
  return name.ends_with(".jsonl") || name.ends_with(".ndjson") ||
                 name.ends_with(".json")
             ? DocumentFormat::kJsonl
             : DocumentFormat::kTsv;
}

// A tag cannot be empty in the API, and scripts often end a list with a comma.
std::vector<std::string> SplitTags(std::string_view tags) {
  return absl::StrSplit(ToAbsl(tags), ',', absl::SkipEmpty());
}

absl::Status ParseTsvDocument(std::string_view line,
                              const DocumentFormOptions& options,
                              FileDocument& document) {
  const std::size_t tab = line.find('\t');
  if (options.ids_are_optional && tab == line.npos) {
    document.title = line;
    return absl::OkStatus();
  }
  if (tab == line.npos || (tab == 0 && !options.ids_are_optional)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("\"%s\" has no id: want \"doc_id<TAB>title\"",
                        line.substr(tab == line.npos ? 0 : tab + 1)));
  }
  // A line may begin with a tab, an empty id, only where ids are optional.
  SEMRANK_RETURN_IF_ERROR(SetId(line.substr(0, tab), options, document));
  const std::string_view text = line.substr(tab + 1);
  // The last tab: a title may contain tabs.
  const std::size_t last = options.with_tags ? text.rfind('\t') : text.npos;
  document.title = text.substr(0, last);
  if (last != text.npos) document.tags = SplitTags(text.substr(last + 1));
  return absl::OkStatus();
}

absl::Status ParseJsonDocument(std::string_view line, FileDocument& document) {
  // Many exports are one array. It could be megabytes long in one line, and all
  // other lines would be bad, so this is an error of the file.
  if (line.starts_with('[')) {
    return absl::FailedPreconditionError(
        "a JSON array: want JSON lines (.jsonl), an object per line, as "
        "jq -c '.[]' prints them");
  }
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return JsonError("the line is not a JSON object");
  for (const auto& [name, value] : json.items()) {
    // As in Protobuf, null means that the field is not there.
    if (value.is_null()) continue;
    SEMRANK_RETURN_IF_ERROR(SetJsonField(name, value, document));
  }
  return absl::OkStatus();
}

absl::Status CheckCsvColumns(const std::vector<std::string>& columns,
                             const DocumentFormOptions& options) {
  for (const std::string& column : columns) {
    if (std::ranges::find(kColumns, column) != std::end(kColumns)) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "column '%s': the first line must name columns out of %s", column,
        absl::StrJoin(kColumns, ", ", [](std::string* out, std::string_view c) {
          out->append(c);
        })));
  }
  const auto count = [&](std::string_view name) {
    return std::ranges::count(columns, name);
  };
  // Two columns of one name would leave open which of them counts.
  const auto num_ids = count("id") + count("document_id");
  return count("title") == 1 &&
                 (num_ids == 1 || (num_ids == 0 && options.ids_are_optional))
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "want one column id (or document_id) and one column title");
}

absl::Status ParseCsvDocument(const std::vector<std::string>& columns,
                              std::vector<std::string>& fields,
                              const DocumentFormOptions& options,
                              FileDocument& document) {
  if (fields.size() != columns.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s for %d columns",
        CountText(static_cast<std::int64_t>(fields.size()), "field"),
        columns.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& column = columns[i];
    if (column == "title") {
      document.title = std::move(fields[i]);
    } else if (column == "tags") {
      document.tags = SplitTags(fields[i]);
    } else if (column == "payload") {
      // CSV has no way to write bytes, so a payload is text as it stands here,
      // and base64 in JSON.
      document.payload = std::move(fields[i]);
    } else if (!fields[i].empty()) {
      SEMRANK_RETURN_IF_ERROR(SetId(fields[i], options, document));
    } else if (!options.ids_are_optional) {
      // A document with the name "" could not be requested by a flag.
      return absl::InvalidArgumentError("no id");
    }
  }
  return absl::OkStatus();
}

void CsvRecord::Clear() {
  fields_.clear();
  quoted_ = false;
  num_lines_ = 0;
  quote_line_ = 0;
}

absl::StatusOr<bool> CsvRecord::AddLine(std::string_view line) {
  if (num_lines_ == 0) {
    fields_.emplace_back();
  } else {
    // The line break belongs to the quoted field; LineReader has removed it.
    fields_.back() += '\n';
  }
  ++num_lines_;
  bool was_quoted = false;  // this field, which has ended
  for (std::size_t i = 0; i < line.size(); ++i) {
    // The order of the cases is that of a state machine: inside quotes first,
    // then the comma, then what RFC 4180 forbids.
    const char c = line[i];
    if (quoted_ && c == '"' && line.substr(i + 1).starts_with('"')) {
      fields_.back() += line[++i];
    } else if (quoted_ && c == '"') {
      quoted_ = false;
      was_quoted = true;
    } else if (!quoted_ && c == ',') {
      fields_.emplace_back();
      was_quoted = false;
    } else if (!quoted_ && was_quoted) {
      return absl::InvalidArgumentError("text after a closing quote");
    } else if (c == '"' && !fields_.back().empty()) {
      return absl::InvalidArgumentError("a quote in an unquoted field");
    } else if (c == '"') {
      quoted_ = true;
      quote_line_ = num_lines_ - 1;
    } else {
      fields_.back() += c;
    }
  }
  return !quoted_;
}

}  // namespace semrank
