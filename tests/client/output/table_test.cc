#include "client/output/table.h"

#include <gtest/gtest.h>

namespace semrank {
namespace {

Table MakeTable() {
  Table table;
  table.AddColumn("rank", Table::Align::kRight);
  table.AddColumn("title");
  table.AddColumn("id");
  return table;
}

TEST(TableTest, AlignsByDisplayWidthWithoutTrailingBlanks) {
  Table table = MakeTable();
  table.AddRow({"1", "\u65e5\u672c\u8a9e", "a"});
  table.AddRow({"10", "caf\u00e9", ""});
  EXPECT_EQ(table.ToAlignedText(),
            "rank  title   id\n"
            "   1  \u65e5\u672c\u8a9e  a\n"
            "  10  caf\u00e9\n");
}

TEST(TableTest, ControlsDoNotReachTheTerminal) {
  Table table = MakeTable();
  table.AddRow({"1", "\x1b[2Jx\ty", "a"});
  EXPECT_EQ(table.ToAlignedText(),
            "rank  title              id\n"
            "   1  \\u001b[2Jx\\u0009y  a\n");
  EXPECT_EQ(table.ToTsv(Table::kAll), "1\t\\u001b[2Jx y\ta\n");
}

TEST(TableTest, TsvForProgramsKeepsAllButTerminalCommands) {
  Table table = MakeTable();
  table.AddRow({"\x1b[2J\x7f", "\u009b2J \u200fcaf\u00e9\u00a0", "\xff"});
  EXPECT_EQ(table.ToTsv(Table::kControls),
            "\\u001b[2J\\u007f\t\\u009b2J \u200fcaf\u00e9\u00a0\t\xff\n");
}

TEST(TableTest, TsvReplacesOnlySeparators) {
  Table table = MakeTable();
  table.AddRow({"1", "a\tb\r\nc \x1b\xff", "\\"});
  EXPECT_EQ(table.ToTsv(Table::kNone), "1\ta b  c \x1b\xff\t\\\n");
}

TEST(TableTest, WithoutRowsOrTitlesThereIsNoTitleLine) {
  EXPECT_EQ(MakeTable().ToAlignedText(), "");
  EXPECT_EQ(MakeTable().ToTsv(Table::kNone), "");
  Table facts;
  facts.AddColumn("");
  facts.AddColumn("");
  facts.AddRow({"model", "shop"});
  EXPECT_EQ(facts.ToAlignedText(), "model  shop\n");
}

}  // namespace
}  // namespace semrank
