#include "model/eval/inspect_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/base/file_io.h"
#include "model/format/model_bundle.h"
#include "tests/model/format/tiny_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

class InspectCommandTest : public ::testing::Test {
 protected:
  void Publish(const TinyModelOptions& options) {
    TinyModel model(options);
    ASSERT_THAT(PublishModel(dir_.File("model"), model.bundle()), IsOk());
    options_.model_dir = dir_.File("model");
    options_.output = OutputFormat::kJson;
  }
  std::vector<nlohmann::json> Run() {
    std::stringstream out;
    EXPECT_THAT(RunInspectCommand(options_, out), IsOk());
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(out, line);) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  TempDir dir_;
  InspectCommandOptions options_;
};

TEST_F(InspectCommandTest, EachOutputUnitHasItsWordsMostActiveFirst) {
  Publish({});
  options_.words = dir_.Write("words", "cat car\ndog\n");
  options_.num_words = 2;
  const auto units = Run();
  ASSERT_EQ(units.size(), 4u);
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(options_.model_dir));
  EmbedScratch scratch;
  for (const auto& unit : units) {
    ASSERT_EQ(unit["words"].size(), 2u);
    EXPECT_GE(unit["words"][0]["activation"], unit["words"][1]["activation"]);
    const std::string word = unit["words"][0]["word"];
    const std::string_view text = word;
    float vector[4];
    model->EmbedTexts(Side::kDocument, {&text, 1}, scratch, vector);
    EXPECT_EQ(unit["words"][0]["activation"], vector[unit["unit"].get<int>()]);
  }
}

TEST_F(InspectCommandTest, UnitsOfAPairAreActiveInBoth) {
  Publish(
      {.tower = v1::TOWER_KIND_CLSM, .hidden_dims = {16}, .clsm_window = 3});
  options_.query = "Cat car";
  options_.title = "dog cat";
  options_.num_units = 3;
  options_.svg_out = dir_.File("units.svg");
  const auto units = Run();
  ASSERT_GE(units.size(), 1u);
  EXPECT_LE(units.size(), 3u);
  double before = 1;
  for (const auto& unit : units) {
    const double q = unit["query_activation"], t = unit["title_activation"];
    EXPECT_GT(q, 0);
    EXPECT_GT(t, 0);
    EXPECT_LE(q * t, before + 1e-6);
    before = q * t;
    EXPECT_THAT("cat car", HasSubstr(unit["query_word"].get<std::string>()));
    EXPECT_THAT("dog cat", HasSubstr(unit["title_word"].get<std::string>()));
  }
  ASSERT_OK_AND_ASSIGN(const std::string figure,
                       ReadFile(options_.svg_out, 1 << 20));
  EXPECT_THAT(figure, HasSubstr("<title>query, unit "));
  EXPECT_THAT(figure, HasSubstr("<title>title, unit "));
}

TEST_F(InspectCommandTest, ContextsOfAWordAreOrderedByTheirCosineWithTheFirst) {
  Publish(
      {.tower = v1::TOWER_KIND_CLSM, .hidden_dims = {16}, .clsm_window = 3});
  options_.words = dir_.Write(
      "texts", "cat car dog\ndog cat, a cat car\nThe cat CAR dog\ncar\nx\n");
  options_.context_word = "Car";
  const auto contexts = Run();
  ASSERT_EQ(contexts.size(), 3u);
  EXPECT_EQ(contexts[0]["context"], "cat [car] dog");
  EXPECT_NEAR(contexts[0]["cosine"], 1, 1e-6);
  EXPECT_GE(contexts[1]["cosine"], contexts[2]["cosine"]);
  EXPECT_LT(contexts[1]["cosine"], 1);
}

TEST_F(InspectCommandTest, CorrelatedWordsAreOrderedByDiceOverTheTexts) {
  // "car" is in 3 texts, "engine" in 2 of them.
  options_.words = dir_.Write("texts",
                              "Car engine, car\nengine of a car\n"
                              "red car\nred dress\nred rose\n");
  options_.correlated = {"CAR", "rose"};
  options_.num_words = 2;
  options_.output = OutputFormat::kJson;
  const auto words = Run();
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0]["word"], "car");
  EXPECT_EQ(words[0]["texts"], 3);
  ASSERT_EQ(words[0]["correlated"].size(), 2u);
  EXPECT_EQ(words[0]["correlated"][0]["word"], "engine");
  EXPECT_DOUBLE_EQ(words[0]["correlated"][0]["dice"], 4.0 / 5);
  // Before "of", and each in one text.
  EXPECT_EQ(words[0]["correlated"][1]["word"], "a");
  EXPECT_DOUBLE_EQ(words[0]["correlated"][1]["dice"], 2.0 / 4);
  ASSERT_EQ(words[1]["correlated"].size(), 1u);
  EXPECT_DOUBLE_EQ(words[1]["correlated"][0]["dice"], 2.0 / 4);
}

// The normaliser adds further words to these.
TEST_F(InspectCommandTest, WordsOfKoreanAndWithSignsAreFound) {
  options_.words = dir_.Write("texts", "한국 음식\n한국 책\nC++ 책\n");
  options_.correlated = {"한국", "C++"};
  options_.output = OutputFormat::kJson;
  const auto words = Run();
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0]["word"], "한국");
  EXPECT_EQ(words[0]["texts"], 2);
  EXPECT_EQ(words[1]["word"], "c");
  EXPECT_EQ(words[1]["texts"], 1);
  options_.correlated = {"node.js"};
  std::ostringstream out;
  EXPECT_THAT(RunInspectCommand(options_, out),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--correlated=node.js: is not one word")));
}

TEST_F(InspectCommandTest, WordsThatNoTextHasAreNamed) {
  options_.words = dir_.Write("texts", "cat car\n");
  options_.correlated = {"boat"};
  std::ostringstream out;
  const auto missing = [](const char* flag) {
    return StatusIs(
        absl::StatusCode::kInvalidArgument,
        HasSubstr(std::string(flag) + "=boat: is in no line of --words"));
  };
  EXPECT_THAT(RunInspectCommand(options_, out), missing("--correlated"));
  Publish(
      {.tower = v1::TOWER_KIND_CLSM, .hidden_dims = {16}, .clsm_window = 3});
  options_.correlated.clear();
  options_.context_word = "boat";
  EXPECT_THAT(RunInspectCommand(options_, out), missing("--context_word"));
}

TEST_F(InspectCommandTest, WrongFlagsAreNamed) {
  Publish({});
  std::ostringstream out;
  const auto expect_error = [&](const char* message) {
    EXPECT_THAT(
        RunInspectCommand(options_, out),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  expect_error("--words");
  options_.query = "cat";
  expect_error("--title");
  options_.title = "dog";
  expect_error("not a CLSM");
  options_.words = "words";
  expect_error("excludes");
  options_.query = options_.title = "";
  options_.context_word = "cat";
  expect_error("not a CLSM");
  options_.words = "";
  expect_error("--words");
  options_.correlated = {"dog"};
  expect_error("--correlated");
  options_ = InspectCommandOptions();
  options_.words = "words";
  expect_error("--model_dir");
  options_.model_dir = "model";
  options_.svg_out = "figure.svg";
  expect_error("--svg_out");
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace semrank
