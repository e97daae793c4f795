#include "client/input/csv_record.h"

#include <cstddef>

namespace semrank {

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
    fields_.back() += '\n';
  }
  ++num_lines_;
  bool was_quoted = false;  // this field, which has ended
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted_ && c == '"' && line.substr(i + 1).starts_with('"')) {
      fields_.back() += line[++i];
    } else if (quoted_ && c == '"') {
      quoted_ = false;
      was_quoted = true;
    } else if (quoted_) {
      fields_.back() += c;
    } else if (c == ',') {
      fields_.emplace_back();
      was_quoted = false;
    } else if (was_quoted) {
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
