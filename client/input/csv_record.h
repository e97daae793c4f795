// One record of a CSV file (RFC 4180), which may have several lines. Debian's
// libcsv calls back for each field, and a reader around it is not shorter.
//
//   Quotes   a quoted field may have commas, "" for a quote, and line breaks.
//            After its closing quote only a comma or the line's end may follow,
//            which is how a quote that was never closed is noticed as soon as
//            the next quoted field opens.
#ifndef SEMRANK_CLIENT_INPUT_CSV_RECORD_H_
#define SEMRANK_CLIENT_INPUT_CSV_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace semrank {

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

#endif  // SEMRANK_CLIENT_INPUT_CSV_RECORD_H_
