#include "model/text/name_match.h"

#include <gtest/gtest.h>

#include <string>

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

TEST_P(NameMatchTest, IsTheStrongestThatHolds) {
  const NameMatchCase& p = GetParam();
  EXPECT_EQ(MatchName(p.query, p.id, p.title), p.match);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NameMatchTest,
    ::testing::Values(
        NameMatchCase{"IdIsTheQuery", "vim", "vim", "vi improved",
                      NameMatch::kName},
        NameMatchCase{"TitleIsTheQuery", "vi improved", "p1", "vi improved",
                      NameMatch::kName},
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
        NameMatchCase{"QueryGoesOn", "vim editor", "vim", "vim vi improved",
                      NameMatch::kNone},
        NameMatchCase{"EmptyQuery", "", "", "", NameMatch::kNone},
        NameMatchCase{"EmptyIdAndTitle", "vim", "", "", NameMatch::kNone}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace semrank
