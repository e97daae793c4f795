// Table of texts, printed aligned for people or as TSV for programs.
#ifndef SEMRANK_CLIENT_OUTPUT_TABLE_H_
#define SEMRANK_CLIENT_OUTPUT_TABLE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semrank {

class Table {
 public:
  enum Align { kLeft, kRight };
  // The characters that ToTsv writes as \u001b.
  enum Escapes {
    kNone,
    kControls,  // what begins the commands of a terminal
    kAll        // also what changes the order of a line, as in ToAlignedText
  };
  struct Column {
    std::string title;
    Align align = kLeft;
  };

  Table() = default;
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void AddColumn(std::string_view title, Align align = kLeft);
  // One cell per column; the columns must have been added.
  void AddRow(std::vector<std::string> cells);

  // Titles and rows in columns two blanks apart, aligned by their width on a
  // terminal, with controls escaped. Without the line of titles if there are no
  // rows or no titles.
  std::string ToAlignedText() const;

  // The rows, without titles. A tab or line break in a cell becomes a blank.
  std::string ToTsv(Escapes escapes) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_TABLE_H_
