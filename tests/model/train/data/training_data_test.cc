#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "model/train/data/load_training_data.h"
#include "model/train/data/pair_split.h"
#include "model/train/data/read_pairs.h"
#include "model/train/data/unaccented_queries.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LoadTrainingDataTest : public ::testing::Test {
 protected:
  absl::StatusOr<TrainingData> Load(std::string_view lines) {
    options_.data.train_files = {dir_.Write("train.tsv", lines)};
    return LoadTrainingData(options_, bad_lines_);
  }

  // Pairs of q0..q(n-1), each with a title of its own.
  static std::string Lines(int n) {
    std::string lines;
    for (int i = 0; i < n; ++i) {
      lines +=
          "query" + std::to_string(i) + "\ttitle" + std::to_string(i) + "\n";
    }
    return lines;
  }

  TempDir dir_;
  BadLines bad_lines_{10};
  TrainOptions options_ = PlainOptions();
};

TEST_F(LoadTrainingDataTest, EqualTextsAfterNormalisingAreOne) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       Load("A b\tT\na  B!\tU\nT\ta b\n"));
  EXPECT_THAT(data.train_pairs, SizeIs(3));
  EXPECT_EQ(data.train_pairs[0].query, data.train_pairs[1].query);
  EXPECT_EQ(data.train_pairs[2],
            (TextPair{data.train_pairs[0].title, data.train_pairs[0].query}));
  EXPECT_THAT(data.titles, SizeIs(3));
  EXPECT_EQ(data.bags.num_bags(), 3u);
}

TEST_F(LoadTrainingDataTest, HeldOutTextsDoNotShapeTheVocabulary) {
  options_.data.valid_pair_files = {
      dir_.Write("valid.tsv", "zzz\txxx\nyyy\tt1\n")};
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load("a\tt1\nb\tt2\n"));
  EXPECT_THAT(data.valid_pairs, SizeIs(2));
  // #a# #b# #t1 t1# #t2 t2#
  EXPECT_EQ(data.featurizer.num_features(), 6);
  EXPECT_THAT(data.titles, SizeIs(2));
}

TEST_F(LoadTrainingDataTest, HoldsOutAShareOfTheQueries) {
  options_.data.valid_fraction = 0.2;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load(Lines(50)));
  EXPECT_THAT(data.valid_pairs, SizeIs(10));
  EXPECT_THAT(data.train_pairs, SizeIs(40));
  EXPECT_THAT(data.titles, SizeIs(40));
}

TEST_F(LoadTrainingDataTest, TooFewPairsAreNotHeldOut) {
  options_.data.valid_fraction = 0.05;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load(Lines(10)));
  EXPECT_THAT(data.valid_pairs, IsEmpty());
  EXPECT_THAT(data.train_pairs, SizeIs(10));
}

TEST_F(LoadTrainingDataTest, WithoutHeldOutPairsNdcgStillChoosesTheEpoch) {
  options_.data.valid_fraction = 0.05;
  const auto printed = [&] {
    ::testing::internal::CaptureStderr();
    EXPECT_THAT(Load(Lines(10)), IsOk());
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(printed(), HasSubstr("the last epoch is published"));
  options_.early_stopping = EpochMeasure::kNdcg;
  EXPECT_THAT(printed(), AllOf(HasSubstr("loss is not measured"),
                               Not(HasSubstr("published"))));
}

TEST_F(LoadTrainingDataTest, WordsAndHashedLetters) {
  options_.features = {.kind = v1::FEATURE_KIND_LETTERS_AND_WORDS,
                       .ngram_length = 2,
                       .hash_buckets = 100,
                       .max_words = 2};
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       Load("common rare\tcommon\ncommon\tother common\n"));
  EXPECT_EQ(data.featurizer.num_features(), 102);
  EXPECT_TRUE(data.featurizer.ngrams()->hashed());
  EXPECT_EQ(data.featurizer.ngrams()->ngram_length(), 2);
  EXPECT_EQ(data.featurizer.words()->words()[0], "common");
}

TEST_F(LoadTrainingDataTest, QueriesWithAccentsAreKnownWithoutThem) {
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       Load("uber\tT\nÜber\tDrüber\nÄpfel\tT\nйод\tT\n"));
  const std::vector<TextPair>& pairs = data.train_pairs;
  ASSERT_THAT(pairs, SizeIs(4));
  // The log has clicks of "uber" itself.
  ASSERT_THAT(data.unaccented, SizeIs(1));
  EXPECT_TRUE(data.unaccented.contains(pairs[2].query));
  EXPECT_THAT(data.featurizer.ngrams()->ngrams(), Contains("#ap"));
  // The file that a next run trains on has the log's own pairs alone.
  EXPECT_THAT(data.kept_pairs, Not(HasSubstr("apfel")));
}

TEST(UnaccentedQueriesTest, AQueryThatIsHeldOutIsNotTrained) {
  TextInterner texts;
  const TextId title = texts.Intern("t");
  const std::vector<TextPair> pairs = {{texts.Intern("über"), title, 1},
                                       {texts.Intern("äpfel"), title, 1}};
  const std::vector<TextPair> held_out = {{texts.Intern("uber"), title, 1}};
  const UnaccentedQueries unaccented =
      FindUnaccentedQueries(pairs, {held_out}, texts);
  ASSERT_THAT(unaccented, SizeIs(1));
  EXPECT_EQ(texts.text(unaccented.at(pairs[1].query)), "apfel");
}

TEST(UnaccentedQueriesTest, ATextThatTwoQueriesHaveIsNotTrained) {
  TextInterner texts;
  std::vector<TextPair> pairs;
  for (const char* query : {"pâte", "pâté", "äpfel", "pâte"}) {
    pairs.push_back({texts.Intern(query), texts.Intern("t"), 1});
  }
  const UnaccentedQueries unaccented = FindUnaccentedQueries(pairs, {}, texts);
  ASSERT_THAT(unaccented, SizeIs(1));
  EXPECT_TRUE(unaccented.contains(pairs[2].query));
}

TEST_F(LoadTrainingDataTest, ValidPairsDoNotChangeWhatIsTrained) {
  const std::string log = "über\tT\nÄpfel\tU\n";
  ASSERT_OK_AND_ASSIGN(const TrainingData alone, Load(log));
  options_.data.valid_pair_files = {dir_.Write("valid.tsv", "uber\tT\nx\tU\n")};
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load(log));
  EXPECT_THAT(data.unaccented, SizeIs(alone.unaccented.size()));
}

TEST_F(LoadTrainingDataTest, QueriesKeepTheirAccentsWhereAskedTo) {
  options_.loss.unaccented_queries = false;
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load("Über\tA\nÄpfel\tT\n"));
  EXPECT_THAT(data.unaccented, IsEmpty());
  EXPECT_THAT(data.featurizer.ngrams()->ngrams(), Not(Contains("#ub")));
}

TEST_F(LoadTrainingDataTest, BigramsOfPlainSpellingsCount) {
  options_.features = {.kind = v1::FEATURE_KIND_LETTERS_AND_BIGRAMS};
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       Load("für dich\tx\nfür dich\ty\nz\tw\n"));
  EXPECT_THAT(data.featurizer.bigrams()->words(),
              ::testing::UnorderedElementsAre("für dich", "fur dich"));
}

TEST_F(LoadTrainingDataTest, BigramsOfOnePairAreLeftOut) {
  options_.features = {.kind = v1::FEATURE_KIND_LETTERS_AND_BIGRAMS};
  ASSERT_OK_AND_ASSIGN(
      const TrainingData data,
      Load("edit photos\tan editor for photos\n"
           "photos for editing\tediting tools\n"
           "photos for editing\tan editor for photos and editor for pages\n"));
  EXPECT_THAT(data.featurizer.bigrams()->words(),
              ::testing::ElementsAre("editor for", "an editor", "for editing",
                                     "for photos", "photos for"));
  ASSERT_OK_AND_ASSIGN(const TrainingData without,
                       Load("edit photos\tan editor\nx\ty\n"));
  EXPECT_FALSE(without.featurizer.bigrams().has_value());
}

TEST_F(LoadTrainingDataTest, TitlesOfTheCatalogueCountInTheIdfAlone) {
  options_.features.lexical_weight = std::nullopt;
  const std::string lines = "a\ttitle one\nb\ttitle two\n";
  ASSERT_OK_AND_ASSIGN(const TrainingData without, Load(lines));
  options_.data.docs_file = dir_.Write(
      "docs.tsv", "1\tTitle one\n2\tthree\n3\tthree!\n4\tfour\n5\tfive\n");
  ASSERT_OK_AND_ASSIGN(const TrainingData data, Load(lines));
  EXPECT_THAT(data.catalogue, SizeIs(4));
  EXPECT_EQ(data.statistics.catalogue_titles, 4);
  EXPECT_EQ(data.statistics.known_share, 0.25);
  EXPECT_EQ(data.titles, without.titles);
  EXPECT_EQ(data.featurizer.num_features(), without.featurizer.num_features());
  EXPECT_NE(data.lexical_idf, without.lexical_idf);
  options_.features.lexical_weight = 0;
  ASSERT_OK_AND_ASSIGN(const TrainingData unused, Load(lines));
  EXPECT_THAT(unused.catalogue, IsEmpty());
}

// Each night reads all events of a folder.
TEST(PairsToKeepTest, ClicksOfHeldOutQueriesDoNotGrow) {
  TextInterner texts;
  const TextId query = texts.Intern("q"), a = texts.Intern("a"),
               b = texts.Intern("b");
  PairSplit split;
  split.judged_new = {{query, a, 2}, {query, a, 1}};
  split.judged_earlier = {{query, a, 3}, {query, b, 1}};
  EXPECT_THAT(FormatPairsToKeep(DataOptions(), texts, split),
              AllOf(HasSubstr("q\ta\t3\n"), HasSubstr("q\tb\t1\n")));
  std::swap(split.valid, split.judged_new);
  std::swap(split.omitted, split.judged_earlier);
  split.is_valid_held_out = true;
  EXPECT_THAT(FormatPairsToKeep(DataOptions(), texts, split),
              AllOf(HasSubstr("q\ta\t3\n"), HasSubstr("q\tb\t1\n")));
}

TEST_F(LoadTrainingDataTest, NoPairsIsAnError) {
  EXPECT_THAT(Load(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("no usable pair")));
  EXPECT_THAT(
      Load("bad line\nq\tt\t0\n"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 lines")));
}

TEST_F(LoadTrainingDataTest, OneTitleIsAnError) {
  EXPECT_THAT(Load("a\tSame title\nb\tsame, title\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"same title\"")));
}

TEST_F(LoadTrainingDataTest, QueriesThatClickedEveryTitleTeachNothing) {
  std::string lines;
  for (int i = 0; i < 9; ++i) {
    lines += "query" + std::to_string(i / 3) + "\ttitle" +
             std::to_string(i % 3) + "\n";
  }
  EXPECT_THAT(Load(lines), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("has clicked every title")));
  EXPECT_THAT(Load(lines + "query0\ttitle4\n"), IsOk());
}

TEST_F(LoadTrainingDataTest, ADocumentsFileIsNoFileOfPairs) {
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    lines += "d" + std::to_string(i) + "\ttitle" + std::to_string(i) + "\n";
  }
  EXPECT_THAT(Load(lines),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("looks like ids, such as \"d0\"")));
  options_.force = true;
  EXPECT_THAT(Load(lines), IsOk());
  options_.force = false;
  // Numbers that are asked for more than once are queries.
  EXPECT_THAT(Load(lines + "d7\ttitle8\n"), IsOk());
}

TEST_F(LoadTrainingDataTest, TitlesThatAreNumbersAreWarnedOf) {
  const auto warning = [&](const std::string& title) {
    std::string lines;
    for (int i = 0; i < 40; ++i) {
      lines += absl::StrFormat("query %d\t%s%d\n", i, title, i);
    }
    ::testing::internal::CaptureStderr();
    EXPECT_THAT(Load(lines), IsOk());
    return ::testing::internal::GetCapturedStderr();
  };
  for (const char* id : {"", "d", "doc-"}) {
    EXPECT_THAT(warning(id), HasSubstr("the second column of ")) << id;
  }
  for (const char* title : {"package", "red shoe "}) {
    EXPECT_THAT(warning(title), ::testing::Not(HasSubstr("warning")));
  }
}

// Words, which nothing but the file shows to be ids.
TEST_F(LoadTrainingDataTest, TheIdsOfAFileOfTheRunAreNoQueries) {
  std::string few = "android/am\tstart an activity\ngit-log\tshow commits\n";
  std::string lines = few;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    lines += absl::StrFormat("page-%c\tuse %c\n", letter, letter);
  }
  EXPECT_THAT(Load(lines), IsOk());
  const std::string file = dir_.Write("docs.tsv", lines + "ls\tlist files\n");
  for (std::string* flag : {&options_.data.docs_file, &options_.data.valid_docs,
                            &options_.data.valid_queries}) {
    *flag = file;
    EXPECT_THAT(Load(lines), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("has the ids of " + file +
                                                ", such as \"android am\"")));
    // A query that is not an id, or one that is asked for twice.
    EXPECT_THAT(Load(lines + "list\tlist files\n"), IsOk());
    EXPECT_THAT(Load(lines + "git-log\tlist commits\n"), IsOk());
    EXPECT_THAT(Load(few), IsOk());
    flag->clear();
  }
}

TEST_F(LoadTrainingDataTest, RepeatsThatDoNotFitAreRefusedBeforeTheyAreMade) {
  options_.loss.clicks = v1::CLICK_USE_REPEAT;
  options_.data.memory_limit = 1 << 30;
  EXPECT_THAT(Load("a\tt\t300000000\nb\tu\t1\n"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("--memory_limit=1600000006"),
                             HasSubstr("--clicks=weight"))));
}

TEST_F(LoadTrainingDataTest, TextsAreBoundedAfterNormalising) {
  // A ligature of 3 bytes is 33 as letters and blanks.
  std::string title;
  for (int i = 0; i < 10; ++i) title += "\uFDFA";
  options_.data.max_text_bytes = 100;
  ASSERT_OK_AND_ASSIGN(const TrainingData data,
                       Load("a\tt\nb\tu\nc\t" + title + "\n"));
  EXPECT_THAT(data.train_pairs, SizeIs(2));
  EXPECT_EQ(bad_lines_.count(), 1);
}

TEST_F(LoadTrainingDataTest, ValidationPairsCountForTheLimit) {
  options_.data.valid_pair_files = {dir_.Write("v.tsv", Lines(2000))};
  options_.data.memory_limit = 200'000;
  EXPECT_THAT(Load(Lines(3)), StatusIs(absl::StatusCode::kResourceExhausted,
                                       HasSubstr("--valid_pairs do not fit")));
}

TEST_F(LoadTrainingDataTest, LinesWithoutClicksCountForTheLimit) {
  std::string lines = "a\tt\nb\tu\n";
  for (int i = 0; i < 10'000; ++i) lines += "a\tu\t0\n";
  const std::string file = dir_.Write("train.tsv", lines);
  options_.data.memory_limit = 200'000;
  TextInterner texts;
  EXPECT_THAT(ReadPairs({file}, options_, {}, bad_lines_, texts,
                        /*shown=*/nullptr, /*counts=*/nullptr),
              IsOk());
  std::vector<ShownTitle> shown;
  EXPECT_THAT(ReadPairs({file}, options_, {}, bad_lines_, texts, &shown,
                        /*counts=*/nullptr),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(LoadTrainingDataTest, OneValidationTitleIsAnError) {
  options_.data.valid_pair_files = {dir_.Write("v.tsv", "a\tt\nb\tt\n")};
  EXPECT_THAT(Load(Lines(3)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("v.tsv")));
}

}  // namespace
}  // namespace semrank
