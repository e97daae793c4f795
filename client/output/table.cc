#include "client/output/table.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/text/utf8.h"

// Cells are escaped when they are printed, since the reader decides how: a
// person at a terminal, or a program. Widths count columns of a terminal, where
// a CJK character takes two and a combining mark none.
namespace semrank {
namespace {

constexpr std::string_view kGap = "  ";

struct Cell {
  std::string text;
  int width;
};

Cell MakeCell(std::string_view text) {
  std::string escaped = EscapeControls(text);
  const int width = DisplayWidth(escaped);
  return Cell{std::move(escaped), width};
}

std::string Pad(const Cell& cell, int width, bool right) {
  const std::string padding(width - cell.width, ' ');
  return right ? padding + cell.text : cell.text + padding;
}

// TSV has no escapes: a tab or a line break in a cell would make another column
// or row.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Direction marks stay: titles in Arabic and Hebrew have them, and programs
// compare titles.
std::string EscapeTerminalCommands(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next =
        static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&escaped, "\\u%04x", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      // U+0080 to U+009F in UTF-8.
      absl::StrAppendFormat(&escaped, "\\u%04x", next);
      ++i;
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

std::string Escape(std::string text, Table::Escapes escapes) {
  if (escapes == Table::kNone) return text;
  return escapes == Table::kAll ? EscapeControls(text)
                                : EscapeTerminalCommands(text);
}

}  // namespace

void Table::AddColumn(std::string_view title, Align align) {
  columns_.push_back(Column{std::string(title), align});
}

void Table::AddRow(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToAlignedText() const {
  std::vector<std::vector<Cell>> lines;
  // A table of names and values has columns without titles. Without rows the
  // titles would be all there is.
  const bool has_titles = std::ranges::any_of(
      columns_, [](const Column& column) { return !column.title.empty(); });
  if (has_titles && !rows_.empty()) {
    std::vector<Cell>& line = lines.emplace_back();
    for (const Column& column : columns_) {
      line.push_back(MakeCell(column.title));
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::vector<Cell>& line = lines.emplace_back();
    for (const std::string& text : row) line.push_back(MakeCell(text));
  }
  // Widths of escaped cells, which the terminal shows, not of the raw ones.
  std::vector<int> widths(columns_.size(), 0);
  for (const std::vector<Cell>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].width);
    }
  }
  std::string text;
  for (const std::vector<Cell>& line : lines) {
    std::string padded;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) padded += kGap;
      padded += Pad(line[i], widths[i], columns_[i].align == kRight);
    }
    // Trailing blanks would wrap on a narrow terminal.
    padded.erase(padded.find_last_not_of(' ') + 1);
    text += padded + "\n";
  }
  return text;
}

// There is no line of titles, which `cut` and `sort` would take for a row.
std::string Table::ToTsv(Escapes escapes) const {
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += '\t';
      text += Escape(OneLine(row[i]), escapes);
    }
    text += '\n';
  }
  return text;
}

}  // namespace semrank
