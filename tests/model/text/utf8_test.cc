#include "model/text/utf8.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace semrank {
namespace {

TEST(IsValidUtf8Test, RejectsWhatUnicodeForbids) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("caf\u00e9 \u65e5\u672c \U0001F4F7"));
  EXPECT_FALSE(IsValidUtf8("\xff"));
  EXPECT_FALSE(IsValidUtf8("caf\xc3"));           // cut
  EXPECT_FALSE(IsValidUtf8("\xc0\x80"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xed\xa0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xf4\x90\x80\x80"));  // over U+10FFFF
  EXPECT_TRUE(IsValidUtf8(std::string_view("\0", 1)));
}

TEST(IsValidUtf8Test, FindsABadByteAnywhereInAsciiText) {
  for (std::size_t i = 0; i < 20; ++i) {
    std::string text(20, 'a');
    EXPECT_TRUE(IsValidUtf8(text));
    text[i] = '\xff';
    EXPECT_FALSE(IsValidUtf8(text)) << i;
  }
}

TEST(DisplayWidthTest, CountsTerminalColumns) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("\u00e9"), 1);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);       // combining accent
  EXPECT_EQ(DisplayWidth("\u65e5\u672c"), 4);  // wide
  EXPECT_EQ(DisplayWidth("\uff76"), 1);        // half-width katakana
  EXPECT_EQ(DisplayWidth("\xff\xfe"), 2);      // one a bad byte
}

TEST(EscapeControlsTest, EscapesTerminalControls) {
  EXPECT_EQ(EscapeControls("\x1b[31mred\x07"), "\\u001b[31mred\\u0007");
  EXPECT_EQ(EscapeControls("a\tb\nc"), "a\\u0009b\\u000ac");
  EXPECT_EQ(EscapeControls("\x7f"), "\\u007f");
  EXPECT_EQ(EscapeControls("\u009b2J"), "\\u009b2J");  // one-byte CSI
  EXPECT_EQ(EscapeControls("\u2028\u202e\u2066"), "\\u2028\\u202e\\u2066");
  EXPECT_EQ(EscapeControls(std::string_view("a\0b", 3)), "a\\u0000b");
}

TEST(EscapeControlsTest, KeepsPrintableText) {
  const std::string text =
      "caf\u00e9 \u65e5\u672c \u0915\u094d\u200d\u0937 back\\slash";
  EXPECT_EQ(EscapeControls(text), text);
}

TEST(EscapeControlsTest, BytesThatAreNotUtf8BecomeReplacements) {
  EXPECT_EQ(EscapeControls("a\xff\x9b"), "a\uFFFD\uFFFD");
}

std::string JsonString(std::string_view text) {
  std::string json;
  AppendJsonString(text, json);
  return json;
}

TEST(AppendJsonStringTest, EscapesWhatJsonAndTerminalsTakeForControls) {
  EXPECT_EQ(JsonString(""), "\"\"");
  EXPECT_EQ(JsonString("say \"a\\b\""), R"("say \"a\\b\"")");
  EXPECT_EQ(JsonString("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(JsonString(std::string_view("a\0\x1b[m\x7f", 6)),
            R"("a\u0000\u001b[m\u007f")");
  EXPECT_EQ(JsonString("\u009b\u2028\u202e"), R"("\u009b\u2028\u202e")");
}

TEST(AppendJsonStringTest, KeepsPrintableTextAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(JsonString("caf\u00e9 \u65e5\u672c /'"),
            "\"caf\u00e9 \u65e5\u672c /'\"");
  EXPECT_EQ(JsonString("a\xff\xe2\x82"), "\"a\uFFFD\uFFFD\uFFFD\"");
}

TEST(AppendJsonStringTest, ParsesToTheSameText) {
  std::string text;
  for (int c = 0; c < 128; ++c) text += static_cast<char>(c);
  text += "\u00e9\u061c\u2066\U0001F4F7";
  EXPECT_EQ(nlohmann::json::parse(JsonString(text)), text);
}

}  // namespace
}  // namespace semrank
