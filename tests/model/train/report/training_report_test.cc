#include "model/train/report/training_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "model/base/file_io.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

ReportContent TestContent() {
  ReportContent content;
  content.model_dir = "models/<b>shop</b>";
  content.config.set_gamma(20);
  content.config.set_tower(v1::TOWER_KIND_LINEAR);
  content.config.mutable_training()->set_learning_rate(0.25);
  content.data.train_pairs = 1'234'567;
  content.data.queries.Add("two words");
  content.data.titles.Add("");
  content.flags = {{"train", "<script>alert(1)</script>", "command line"},
                   {"gamma", "20", "environment"}};
  return content;
}

RunHistory ThreeEpochs() {
  RunHistory history;
  history.start = absl::FromUnixSeconds(1'700'000'000);
  for (int epoch = 1; epoch <= 3; ++epoch) {
    EpochRecord record;
    record.epoch = epoch;
    record.train_loss = 3.0 / epoch;
    record.validation.loss = 4.0 / epoch;
    record.best = epoch < 3;
    history.epochs.push_back(record);
  }
  return history;
}

TEST(LengthHistogramTest, CountsWordsAndKeepsLongTextsInTheLastBin) {
  LengthHistogram lengths;
  for (const char* text : {"a", "b", "a b", "a b c"}) lengths.Add(text);
  EXPECT_DOUBLE_EQ(lengths.Share(1), 0.5);
  EXPECT_DOUBLE_EQ(lengths.Share(2), 0.25);
  EXPECT_DOUBLE_EQ(lengths.MeanWords(), 7.0 / 4);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "w ";
  lengths.Add(many + "w");
  EXPECT_DOUBLE_EQ(lengths.Share(LengthHistogram::kMaxWords), 0.2);
}

TEST(LengthHistogramTest, FurtherWordsAreNotCounted) {
  LengthHistogram lengths;
  lengths.Add("c and c\tc++ c\u266f");
  EXPECT_EQ(lengths.MeanWords(), 3);
}

TEST(LengthHistogramTest, WithoutTextsEveryShareIsZero) {
  EXPECT_EQ(LengthHistogram().Share(3), 0);
  EXPECT_EQ(LengthHistogram().MeanWords(), 0);
}

TEST(TrainingReportTest, ShowsEpochsDataConfigurationAndFlags) {
  const std::string html = FormatReport(TestContent(), ThreeEpochs());
  EXPECT_THAT(html, HasSubstr("training, epoch 2: 1.5"));
  EXPECT_THAT(html, HasSubstr("validation, epoch 3: 1.33333"));
  EXPECT_THAT(html, HasSubstr("best: 2"));
  EXPECT_THAT(html, HasSubstr("1,234,567"));
  EXPECT_THAT(html, HasSubstr("training.learning_rate"));
  EXPECT_THAT(html, HasSubstr("<dt>tower</dt><dd>linear</dd>"));
  EXPECT_THAT(html, HasSubstr("<dt>--gamma</dt><dd>20 (environment)</dd>"));
  EXPECT_THAT(html,
              HasSubstr("queries, words (30 or more in the last) 2: 100"));
}

RankerComparison TestComparison() {
  return {.judged = true,
          .num_queries = 2345,
          .num_titles = 67'890,
          .bm25 = {.mean = {0.1234, 0.2345, 0.3456}},
          .letter_tfidf = {},
          .model = MetricSummary{.mean = {0.4321}, .standard_error = {0.0123}},
          .num_hits = 1432,
          .examples = {
              {.query = "it's <b>",
               .titles = {{.title = "one", .score = 0.75f},
                          {.title = "two", .score = 0.5f, .relevant = true}}}}};
}

TEST(TrainingReportTest, NamesBm25BesideTheModel) {
  ReportContent content = TestContent();
  EXPECT_THAT(FormatReport(content, ThreeEpochs()), Not(HasSubstr("BM25")));
  content.comparison = TestComparison();
  const std::string html = FormatReport(content, ThreeEpochs());
  for (const char* text : {">BM25<", ">0.1234 ± 0.0000<", ">0.2345 ± ",
                           ">0.3456 ± ", ">letter TF-IDF<", ">this model<",
                           ">0.4321 ± 0.0123<", "2,345", "67,890"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  EXPECT_THAT(html, Not(HasSubstr("So few queries")));
  content.comparison->model.reset();
  EXPECT_THAT(FormatReport(content, ThreeEpochs()),
              Not(HasSubstr(">this model<")));
}

TEST(TrainingReportTest, SaysThatFewQueriesMeanNothing) {
  ReportContent content = TestContent();
  content.comparison = TestComparison();
  content.comparison->num_queries = 5;
  EXPECT_THAT(FormatReport(content, ThreeEpochs()),
              AllOf(HasSubstr("So few queries (5) do not say"),
                    Not(HasSubstr("among so few titles"))));
  content.comparison->judged = false;
  EXPECT_THAT(FormatReport(content, ThreeEpochs()),
              HasSubstr("among so few titles each ranker looks better"));
}

TEST(TrainingReportTest, SaysHowManyQueriesAJudgementNeeds) {
  ReportContent content = TestContent();
  content.judgement.emplace();
  EXPECT_THAT(FormatReport(content, ThreeEpochs()),
              HasSubstr("on 20 queries or more, is not published"));
}

TEST(TrainingReportTest, NamesNoEnumerationAsTheFileDoes) {
  ReportContent content = TestContent();
  content.config.set_weight_encoding(v1::WEIGHT_ENCODING_INT8);
  const std::string html = FormatReport(content, ThreeEpochs());
  EXPECT_THAT(html, HasSubstr("<dd>int8</dd>"));
  EXPECT_THAT(html, Not(ContainsRegex("[A-Z]+_[A-Z]+_[A-Z]")));
}

TEST(TrainingReportTest, ShowsExampleRankingsWithWhatWasRelevant) {
  ReportContent content = TestContent();
  content.comparison = TestComparison();
  const std::string html = FormatReport(content, ThreeEpochs());
  EXPECT_THAT(html, HasSubstr("<h3>it&#39;s &lt;b&gt;</h3>"));
  EXPECT_THAT(html, HasSubstr("1,432 queries, of 2,345, that have a relevant"));
  EXPECT_THAT(html, HasSubstr("<li>one <span class=\"score\">0.7500</span>"
                              "</li>"));
  EXPECT_THAT(html, HasSubstr("0.5000</span> <span class=\"relevant\">"
                              "relevant</span></li>"));
}

TEST(TrainingReportTest, APublishedModelComesWithTheNextCommands) {
  ReportContent content = TestContent();
  content.comparison = TestComparison();
  EXPECT_THAT(FormatReport(content, ThreeEpochs()),
              Not(HasSubstr("semrank-server")));
  content.version_dir = "my models/shop/3";
  content.model_dir = "my models/shop";
  const std::string html = FormatReport(content, ThreeEpochs());
  EXPECT_THAT(html, HasSubstr("<code>semrank-server &#39;--model_dir="
                              "my models/shop&#39;\n"
                              "semrank rank &#39;--query=it&#39;\\&#39;&#39;s "
                              "&lt;b&gt;&#39; one two\n</code>"));
}

TEST(TrainingReportTest, ColumnsWithoutAValueAreLeftOut) {
  RunHistory history = ThreeEpochs();
  std::string html = FormatReport(TestContent(), history);
  EXPECT_THAT(html, HasSubstr(">validation loss<"));
  for (const char* empty : {">NDCG@10<", ">gradient norm<", ">peak MiB<"}) {
    EXPECT_THAT(html, Not(HasSubstr(empty)));
  }
  history.epochs[1].gradient_norm = 0.5;
  history.before_training = ValidationResult{.loss = 4.5, .metrics = {}};
  html = FormatReport(TestContent(), history);
  EXPECT_THAT(html, HasSubstr(">gradient norm<"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">before</th>"
                              "<td class=\"number\"></td>"
                              "<td class=\"number\">4.5000</td>"));
}

TEST(TrainingReportTest, WarnsOfALossThatGrows) {
  RunHistory history = ThreeEpochs();
  EXPECT_THAT(FormatReport(TestContent(), history),
              Not(HasSubstr("may be too high")));
  for (EpochRecord& record : history.epochs) record.train_loss = record.epoch;
  EXPECT_THAT(FormatReport(TestContent(), history),
              HasSubstr("--learning_rate=0.25 may be too high"));
}

TEST(TrainingReportTest, TextOfTheRunIsNeverMarkup) {
  const std::string html = FormatReport(TestContent(), ThreeEpochs());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
}

TEST(TrainingReportTest, NeedsNothingFromElsewhere) {
  const std::string html = FormatReport(TestContent(), ThreeEpochs());
  for (const char* part : {"http://", "https://", "src=", "url(", "@import"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
}

TEST(TrainingReportTest, IsReplacedAfterEachEpochAndAtTheEnd) {
  const TempDir dir;
  ReportContent content = TestContent();
  content.model_dir = dir.path();
  RunHistory history;
  history.epochs.emplace_back().epoch = 1;
  history.epochs.back().train_loss = 0.125;
  ASSERT_THAT(WriteReport(content, history), IsOk());
  const std::string path = dir.path() + "/report.html";
  ASSERT_OK_AND_ASSIGN(std::string html, ReadFile(path, 1 << 20));
  EXPECT_THAT(html, HasSubstr("training, epoch 1: 0.125"));
  EXPECT_THAT(html, HasSubstr("running"));
  content.state = "published as x/1";
  ASSERT_THAT(WriteReport(content, history), IsOk());
  ASSERT_OK_AND_ASSIGN(html, ReadFile(path, 1 << 20));
  EXPECT_THAT(html, HasSubstr("published as x/1"));
  // The page of a version stays.
  std::filesystem::create_directory(dir.File("1"));
  content.version_dir = dir.File("1");
  ASSERT_THAT(WriteReport(content, history), IsOk());
  content = TestContent();
  content.model_dir = dir.path();
  ASSERT_THAT(WriteReport(content, history), IsOk());
  ASSERT_OK_AND_ASSIGN(html, ReadFile(dir.File("1/report.html"), 1 << 20));
  EXPECT_THAT(html, HasSubstr("published as x/1"));
}

}  // namespace
}  // namespace semrank
