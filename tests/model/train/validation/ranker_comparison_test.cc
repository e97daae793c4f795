#include "model/train/validation/ranker_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "model/base/interrupt.h"
#include "model/train/data/report_data.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;

TEST(HeldOutCollectionTest, ClickedTitlesAreRelevantAmongAllTitles) {
  TextInterner texts;
  const TextId query = texts.Intern("query");
  const TextId a = texts.Intern("a"), b = texts.Intern("b");
  const TextId c = texts.Intern("c");
  const std::vector<TextPair> held_out = {{query, a}, {query, c}, {query, a}};
  const std::vector<TextId> titles = {a, b};
  const auto collection =
      MakeHeldOutCollection(texts, held_out, titles, /*seed=*/1);
  EXPECT_THAT(collection->documents, ElementsAre("c", "b", "a"));
  ASSERT_EQ(collection->queries.size(), 1u);
  EXPECT_EQ(collection->queries[0].text, "query");
  ASSERT_EQ(collection->queries[0].judgements.size(), 2u);
  EXPECT_EQ(collection->queries[0].judgements[0].document, 0u);
  EXPECT_EQ(collection->queries[0].judgements[1].document, 2u);
  EXPECT_EQ(MakeHeldOutCollection(texts, {}, titles, 1), nullptr);
}

TEST(HeldOutCollectionTest, IsOfBoundedSizeAndTheSameEachTime) {
  TextInterner texts;
  std::vector<TextPair> held_out;
  std::vector<TextId> titles;
  for (int i = 0; i < 12'000; ++i) {
    titles.push_back(texts.Intern("title " + std::to_string(i)));
    if (i % 4 != 0) continue;
    held_out.push_back(
        {texts.Intern("query " + std::to_string(i)), titles.back()});
  }
  const auto first = MakeHeldOutCollection(texts, held_out, titles, 1);
  EXPECT_EQ(first->queries.size(), kMaxHeldOutQueries);
  EXPECT_EQ(first->documents.size(), kMaxHeldOutTitles);
  for (const JudgedQuery& query : first->queries) {
    EXPECT_EQ(first->documents[query.judgements.at(0).document].substr(6),
              query.text.substr(6));
  }
  const auto again = MakeHeldOutCollection(texts, held_out, titles, 1);
  EXPECT_EQ(first->documents, again->documents);
}

std::shared_ptr<const Collection> Judged() {
  auto judged = std::make_shared<Collection>();
  judged->documents = {"other thing", "red shoes"};
  judged->document_ids = {"b", "a"};
  judged->queries = {{.id = "q",
                      .text = "shoes",
                      .judgements = {{.document = 1, .grade = 1}},
                      .missing = {}}};
  return judged;
}

TEST(RankerComparerTest, MeasuresBaselinesOnTheCollectionThatThereIs) {
  const auto judged = Judged();
  ThreadPool pool(1);
  for (const bool has_judged : {true, false}) {
    RankerComparer comparer({}, has_judged ? judged : nullptr, judged);
    ASSERT_OK_AND_ASSIGN(const auto comparison,
                         comparer.MeasureBaselines(pool));
    ASSERT_TRUE(comparison.has_value());
    EXPECT_EQ(comparison->judged, has_judged);
    EXPECT_EQ(comparison->num_queries, 1u);
    EXPECT_EQ(comparison->num_titles, 2u);
    EXPECT_EQ(comparison->bm25.mean[kNdcgAt1], 1);
    EXPECT_EQ(comparison->letter_tfidf.mean[kNdcgAt1], 1);
    EXPECT_FALSE(comparer.DescribeLoss().has_value());
    EXPECT_FALSE(comparison->model.has_value());
  }
  ASSERT_OK_AND_ASSIGN(
      const auto none,
      RankerComparer({}, nullptr, nullptr).MeasureBaselines(pool));
  EXPECT_FALSE(none.has_value());
}

// As the normaliser writes "C++ book" and "C++".
TEST(RankerComparerTest, ExamplesShowNoFurtherWords) {
  auto judged = std::make_shared<Collection>(*Judged());
  judged->documents[1] = "c book\tc++";
  judged->queries[0].text = "c\tc++";
  ThreadPool pool(1);
  RankerComparer comparer({}, judged, nullptr);
  ASSERT_OK_AND_ASSIGN(auto comparison, comparer.MeasureBaselines(pool));
  ASSERT_THAT(comparer.AddModel(MakeTinyModel(), pool, *comparison), IsOk());
  ASSERT_EQ(comparison->examples.size(), 1u);
  EXPECT_EQ(comparison->examples[0].query, "c");
  EXPECT_THAT(comparison->examples[0].titles,
              Contains(Field(&ExampleTitle::title, "c book")));
}

// The best epoch is published after it, and must be compared before.
TEST(RankerComparerTest, CtrlCDoesNotEndAComparison) {
  ThreadPool pool(1);
  RankerComparer comparer({}, Judged(), nullptr);
  Interrupt();
  auto comparison = comparer.MeasureBaselines(pool);
  const absl::Status model =
      comparison.ok() ? comparer.AddModel(MakeTinyModel(), pool, **comparison)
                      : comparison.status();
  CatchInterrupts();  // clears the flag
  ASSERT_THAT(model, IsOk());
  EXPECT_TRUE((*comparison)->model.has_value());
}

}  // namespace
}  // namespace semrank
