// Rows and columns of text, for people (aligned) or for programs (TSV).
#ifndef SEMRANK_CLIENT_OUTPUT_TABLE_H_
#define SEMRANK_CLIENT_OUTPUT_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

namespace semrank {

class Table {
 public:
  enum class Align { kLeft, kRight };

  void AddColumn(std::string_view title, Align align = Align::kLeft);
  // After the columns: a cell for each of them.
  void AddRow(std::vector<std::string> cells);

  // A line of titles and the rows, columns two blanks apart, aligned by what
  // the characters take on a terminal; controls are escaped. No title line if
  // there are no rows, or no titles.
  std::string ToAlignedText() const;

  // The rows without titles, tabs between the cells. A tab or line end in a
  // cell becomes a blank. `escape_controls` for output to a terminal: other
  // bytes stay as they are without it.
  std::string ToTsv(bool escape_controls) const;

 private:
  struct Column {
    std::string title;
    Align align;
  };

  bool HasTitleLine() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_TABLE_H_
