// Rank of documents that the catalog has.
#include <algorithm>
#include <string>

#include "tests/server/rpc/catalog_fixture.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class RankByIdTest : public CatalogFixture {};

TEST_F(RankByIdTest, GivesTheScoresOfTheTitlesToTheLastBit) {
  PutFour();
  v1::RankRequest by_title;
  by_title.set_query("edit photos");
  for (const char* title : {"image viewer", "music player", "photo editor"}) {
    by_title.add_titles(title);
  }
  ASSERT_THAT(Rank(by_title), Succeeds());
  const v1::RankResponse expected = ranked_;
  v1::RankRequest by_id;
  by_id.set_query("edit photos");
  by_id.add_ids(7);
  by_id.add_ids(8);
  by_id.add_document_ids("gimp");
  by_id.set_with_titles(true);
  ASSERT_THAT(Rank(by_id), Succeeds());
  EXPECT_TRUE(std::ranges::equal(ranked_.indices(), expected.indices()));
  EXPECT_TRUE(std::ranges::equal(ranked_.scores(), expected.scores()));
  EXPECT_EQ(ranked_.cache_hits() + ranked_.cache_misses(), 0u);
  EXPECT_EQ(ranked_.titles(0), by_title.titles(ranked_.indices(0)));
  ASSERT_THAT(Search(Query("edit photos")), Succeeds());
  EXPECT_GE(found_.hits(0).score(), ranked_.scores(0));
}

TEST_F(RankByIdTest, NumbersTitlesThenIdsThenNamesThenVectors) {
  PutFour();
  v1::RankRequest request;
  request.set_query("edit photos");
  request.add_titles("text editor");
  request.add_ids(8);
  request.add_ids(99);
  request.add_document_ids("gimp");
  request.add_document_ids("unknown");
  std::string vector(16 * sizeof(float), '\0');
  request.set_vectors(vector);
  ASSERT_THAT(Rank(request), Succeeds());
  EXPECT_THAT(ranked_.indices(), UnorderedElementsAre(0, 1, 3, 5));
  ASSERT_EQ(ranked_.problems_size(), 2);
  EXPECT_EQ(ranked_.problems(0).index(), 2u);
  EXPECT_EQ(ranked_.problems(1).index(), 4u);
  EXPECT_EQ(ErrorInfoOf(ranked_.problems(0).status()).reason(),
            "DOCUMENT_NOT_FOUND");
}

TEST_F(RankByIdTest, LargeListsRunInSlices) {
  v1::PutDocumentsRequest put;
  v1::RankRequest rank;
  rank.set_query("title 5");
  for (std::uint64_t i = 0; i < 2'500; ++i) {
    AddNumbered(i, "title " + std::to_string(i), put);
    rank.add_ids(i);
  }
  ASSERT_THAT(Put(put), Succeeds());
  rank.add_titles("title 5");
  rank.set_with_titles(true);
  ASSERT_THAT(Rank(rank), Succeeds());
  ASSERT_EQ(ranked_.indices_size(), 2'501);
  float own = -2, by_id = -3;
  for (int i = 0; i < ranked_.indices_size(); ++i) {
    if (ranked_.indices(i) == 0) own = ranked_.scores(i);
    if (ranked_.indices(i) == 6) by_id = ranked_.scores(i);
  }
  EXPECT_EQ(own, by_id);
}

TEST_F(RankByIdTest, LiftsWhatTheQueryNamesOnRequest) {
  v1::PutDocumentsRequest put;
  AddNumbered(7, "gimp plugins", put);
  AddNamed("gimp-data", "data files", put);
  AddNamed("GIMP", "an image editor", put);
  ASSERT_THAT(Put(put), Succeeds());
  v1::RankRequest rank;
  rank.set_query("Gimp");
  rank.add_titles("plugins for gimp gimp");
  rank.add_ids(7);
  for (const char* name : {"gimp-data", "GIMP"}) rank.add_document_ids(name);
  ASSERT_THAT(Rank(rank), Succeeds());
  EXPECT_EQ(ranked_.name_matches_size(), 0);
  rank.set_name_match(true);
  ASSERT_THAT(Rank(rank), Succeeds());
  EXPECT_THAT(ranked_.indices(), ElementsAre(3, 1, 2, 0));
  EXPECT_THAT(ranked_.name_matches(),
              ElementsAre(v1::NAME_MATCH_NAME, v1::NAME_MATCH_LEADING_WORDS,
                          v1::NAME_MATCH_PREFIX, v1::NAME_MATCH_UNSPECIFIED));
}

}  // namespace
}  // namespace semrank
