#include "model/text/name_match.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

namespace semrank {
namespace {

struct NameMatchCase {
  const char* name;
  const char* query;
  const char* id;
  const char* title;
  NameMatch match;
};

class NameMatchTest : public ::testing::TestWithParam<NameMatchCase> {};

TEST_P(NameMatchTest, ReturnsTheStrongestMatch) {
  const NameMatchCase& p = GetParam();
  EXPECT_EQ(MatchName(p.query, p.id, p.title), p.match);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NameMatchTest,
    ::testing::Values(
        NameMatchCase{"IdIsTheQuery", "vim", "vim", "vi improved",
                      NameMatch::kSameSpelling},
        NameMatchCase{"TitleIsTheQuery", "vi improved", "p1", "vi improved",
                      NameMatch::kSameSpelling},
        NameMatchCase{"SpelledWithSigns", "c\tc++", "p1", "c\tc++",
                      NameMatch::kSameSpelling},
        NameMatchCase{"OtherSigns", "c\tc++", "p1", "c\tc\u266F",
                      NameMatch::kName},
        NameMatchCase{"WithoutSigns", "c\tc++", "p1", "c", NameMatch::kName},
        NameMatchCase{"FirstWordWithSigns", "c\tc++", "p1", "c primer\tc++",
                      NameMatch::kLeadingWords},
        NameMatchCase{"FirstWord", "vim", "p1", "vim vi improved",
                      NameMatch::kLeadingWords},
        NameMatchCase{"FirstWords", "libreoffice calc", "p1",
                      "libreoffice calc spreadsheet", NameMatch::kLeadingWords},
        NameMatchCase{"StartOfTheFirstWord", "postgres", "p1",
                      "postgresql database", NameMatch::kPrefix},
        NameMatchCase{"StartOfTheId", "postgres", "postgresql",
                      "object relational database", NameMatch::kUnfinishedName},
        NameMatchCase{"StartOfAnIdOfMoreWords", "postgres", "postgresql 15",
                      "object relational database", NameMatch::kPrefix},
        NameMatchCase{"StartOfTheLastWord", "libreoffice ca",
                      "libreoffice calc", "spreadsheet",
                      NameMatch::kUnfinishedName},
        NameMatchCase{"StartOfATitleOfOneWord", "postgres", "p1", "postgresql",
                      NameMatch::kUnfinishedName},
        NameMatchCase{"StartOfIdAndTitle", "postgres", "postgresql",
                      "postgresql database", NameMatch::kUnfinishedName},
        NameMatchCase{"FirstWordOfTheId", "vim", "vim gtk3", "editor",
                      NameMatch::kPrefix},
        NameMatchCase{"LaterWordOfTheTitle", "vim", "p1", "plugins for vim",
                      NameMatch::kNone},
        NameMatchCase{"OneEditOfTheId", "postgersql", "postgresql",
                      "object relational database", NameMatch::kOneEdit},
        NameMatchCase{"OneEditOfTheTitle", "pasword manager", "p1",
                      "password manager", NameMatch::kOneEdit},
        NameMatchCase{"OneEditOfTheFirstWordOnly", "zachura", "p1",
                      "zathura document viewer", NameMatch::kNone},
        NameMatchCase{"OneEditOfThreeLetters", "vin", "vim", "vi improved",
                      NameMatch::kNone},
        NameMatchCase{"PrefixBeforeOneEdit", "edito", "editor", "text editor",
                      NameMatch::kUnfinishedName},
        NameMatchCase{"QueryContinues", "vim editor", "vim", "vim vi improved",
                      NameMatch::kNone},
        NameMatchCase{"EmptyQuery", "", "", "", NameMatch::kNone},
        NameMatchCase{"EmptyIdAndTitle", "vim", "", "", NameMatch::kNone}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SameTextTest, ComposedAndDecomposedAccentsAreTheSame) {
  EXPECT_TRUE(IsSameText("Apple", "Apple"));
  EXPECT_TRUE(IsSameText("Apple ", "\tApple"));
  EXPECT_TRUE(IsSameText("Caf\u00E9", "Cafe\u0301"));
  EXPECT_TRUE(IsSameText("\uD55C", "\u1112\u1161\u11AB"));
  EXPECT_TRUE(IsSameText("1 K", "1 \u212A"));  // the sign of kelvins
}

TEST(SameTextTest, CaseWidthAccentsAndSignsMakeADifference) {
  EXPECT_FALSE(IsSameText("Apple", "apple"));
  EXPECT_FALSE(IsSameText("ABC", "\uFF21\uFF22\uFF23"));
  EXPECT_FALSE(IsSameText("Caf\u00E9", "Cafe"));
  EXPECT_FALSE(IsSameText("C++", "C"));
  EXPECT_FALSE(IsSameText("1/2", "\u00BD"));
}

// Such a run is sorted, and a sort by exchanging neighbours takes hours.
TEST(SameTextTest, LongRunsOfMarksAreQuick) {
  std::string marks, other;
  for (int i = 0; i < 200'000; ++i) {
    marks += i % 2 == 0 ? "\u0301" : "\u0316";
    other += i < 100'000 ? "\u0301" : "\u0316";
  }
  EXPECT_TRUE(IsSameText("a" + marks, "a" + other));
}

TEST(OneEditTest, ForgivesALetterInsertedDeletedReplacedOrSwapped) {
  for (const char* typo :
       {"zathurra", "zathra", "zathuru", "zatuhra", "zathura ", "zathuraö"}) {
    EXPECT_TRUE(IsOneEditApart("zathura", typo)) << typo;
    EXPECT_TRUE(IsOneEditApart(typo, "zathura")) << typo;
  }
  for (const char* other :
       {"zathura", "athura", "xathura", "azthura", "zatuhar", "zathurras",
        "zathura2", "zathur2", "", "z"}) {
    EXPECT_FALSE(IsOneEditApart("zathura", other)) << other;
    EXPECT_FALSE(IsOneEditApart(other, "zathura")) << other;
  }
}

TEST(OneEditTest, LettersOfSeveralBytesAreOneLetter) {
  EXPECT_TRUE(IsOneEditApart("größe", "grüße"));
  EXPECT_TRUE(IsOneEditApart("größe", "große"));
  EXPECT_TRUE(IsOneEditApart("größe", "grße"));
  EXPECT_TRUE(IsOneEditApart("größe", "grßöe"));
  EXPECT_FALSE(IsOneEditApart("größe", "grosse"));
  EXPECT_TRUE(ForgivesEdit("größ"));
  EXPECT_FALSE(ForgivesEdit("öäü"));
}

// Against the definition: every text that one edit makes.
TEST(OneEditTest, AgreesWithTryingEveryEdit) {
  std::mt19937 random(3);
  const auto text = [&] {
    std::string made(1 + random() % 5, 'a');
    for (char& c : made) c = "ab1"[random() % 3];
    return made;
  };
  const auto edits_of = [](const std::string& from) {
    std::set<std::string> edits;
    for (std::size_t i = 1; i <= from.size(); ++i) {
      for (const char c : {'a', 'b'}) {
        edits.insert(from.substr(0, i) + c + from.substr(i));
        if (i == from.size() || from[i] == '1') continue;
        edits.insert(from.substr(0, i) + c + from.substr(i + 1));
      }
      if (i == from.size() || from[i] == '1') continue;
      edits.insert(from.substr(0, i) + from.substr(i + 1));
      if (i + 1 == from.size() || from[i + 1] == '1') continue;
      std::string swapped = from;
      std::swap(swapped[i], swapped[i + 1]);
      edits.insert(swapped);
    }
    edits.erase(from);
    return edits;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = text(), b = text();
    const bool want = edits_of(a).contains(b);
    EXPECT_EQ(IsOneEditApart(a, b), want) << a << " " << b;
    const std::size_t shown_a = random() % 6, shown_b = random() % 6;
    if (want) {
      EXPECT_TRUE(
          MayBeOneEditApart(a.substr(0, 1 + shown_a), b.substr(0, 1 + shown_b)))
          << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace semrank
