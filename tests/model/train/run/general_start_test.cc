#include "model/train/run/general_start.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "model/events/event.h"
#include "model/events/event_files.h"
#include "model/events/event_frames.h"
#include "tests/model/train/run/trainer_fixture.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

class GeneralStartTest : public ::testing::Test {
 protected:
  // A list of two titles with a click on the first.
  void Click(const std::string& query, const std::string& title) {
    const std::string id = "list" + std::to_string(num_lists_);
    const std::int64_t time_ms = 60'000 * num_lists_++;
    AppendLine(Impression{.id = id,
                          .time_ms = time_ms,
                          .query = query,
                          .results = {{.title = title}, {.title = "never"}}},
               lines_);
    AppendLine(Event{.id = "click of " + id,
                     .impression = id,
                     .kind = "click",
                     .position = 1,
                     .time_ms = time_ms + 10},
               lines_);
  }

  absl::StatusOr<LogLanguage> Read() {
    std::string file;
    AppendEventFrame(lines_, file);
    const std::string path = dir_.Write(EventFileName(0, 1), file);
    return ReadEvents(path);
  }
  absl::StatusOr<LogLanguage> ReadEvents(const std::string& path) {
    DataOptions data;
    data.event_paths = {path};
    return ReadLanguage(data, featurizer_);
  }

  TempDir dir_;
  std::string lines_;
  std::int64_t num_lists_ = 0;
  const Featurizer featurizer_ = *Featurizer::Create(
      std::nullopt, *WordVocabulary::FromList({"red", "shoe"}));
};

TEST_F(GeneralStartTest, EventsShowTheLanguageOfClickedPairs) {
  Click("Red shoe", "red sneaker");
  Click("Red shoe", "red sneaker");  // counts once
  Click("schuh", "roter schuh");
  ASSERT_OK_AND_ASSIGN(const LogLanguage language, Read());
  EXPECT_EQ(language.known.num_words, 7);
  EXPECT_EQ(language.known.num_known_words, 3);
  EXPECT_TRUE(language.is_small);
}

TEST_F(GeneralStartTest, EventsOfManyPairsAreNoSmallLog) {
  for (std::int64_t i = 0; i <= kMaxPairsForGeneral; ++i) {
    Click("red", "shoe " + std::to_string(i));
  }
  ASSERT_OK_AND_ASSIGN(const LogLanguage language, Read());
  EXPECT_FALSE(language.is_small);
}

TEST_F(GeneralStartTest, EventsThatCannotBeReadAreAnError) {
  EXPECT_THAT(ReadEvents(dir_.File("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

// Logs that begin from a model of the words of the tiny corpus, and logs that
// do not.
class GeneralModelTest : public TrainerTest {
 protected:
  GeneralModelTest() : general_(options_.data.model_dir) {
    options_.features.kind = v1::FEATURE_KIND_LETTERS_AND_WORDS;
    options_.epochs = 1;
    options_.force = true;
    EXPECT_THAT(TrainModel(options_), IsOk());
  }

  std::string ModelForPairs(const std::string& pairs) {
    DataOptions data;
    data.train_files = {dir_.Write("log.tsv", pairs)};
    return ModelFor(general_, data);
  }
  static std::string ModelFor(const std::string& general,
                              const DataOptions& data) {
    const auto model = GeneralModelFor(general, data);
    EXPECT_THAT(model, IsOk());
    return model.value_or("failed");
  }

  const std::string general_;
  const std::string known_pair_ = Word(1) + " " + Word(2) + "\t" + Word(203);
};

TEST_F(GeneralModelTest, SmallLogsOfItsLanguageBeginFromIt) {
  EXPECT_EQ(ModelForPairs(known_pair_ + " unknown\n"), general_);
  EXPECT_EQ(ModelForPairs("roter schuh\t" + Word(203) + "\n"), "");
}

TEST_F(GeneralModelTest, LargeLogsDoNotBeginFromIt) {
  std::string pairs;
  for (std::int64_t i = 0; i <= kMaxPairsForGeneral; ++i) {
    pairs += known_pair_ + "\n";
  }
  EXPECT_EQ(ModelForPairs(pairs), "");
}

TEST_F(GeneralModelTest, WithoutFilesToReadTwiceItIsNotChosen) {
  DataOptions data;
  data.docs_file = dir_.File("docs.tsv");
  EXPECT_EQ(ModelFor(general_, data), "");
  data.train_files = {"-"};
  EXPECT_EQ(ModelFor(general_, data), "");
}

TEST_F(GeneralModelTest, WithoutAModelNothingIsRead) {
  DataOptions data;
  data.train_files = {dir_.File("missing.tsv")};
  EXPECT_EQ(ModelFor("", data), "");
}

}  // namespace
}  // namespace semrank
