#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "model/base/random.h"
#include "model/train/data/load_training_data.h"
#include "model/train/options/resolve_options.h"
#include "model/train/ssi/ssi_weights.h"
#include "tests/model/train/recipe_options.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

// Words a to f are 0 to 5; text 5 is not a document.
class SsiStatisticsTest : public ::testing::Test {
 protected:
  static TextBags MakeBags() {
    TextInterner texts;
    for (const char* text :
         {"a b e", "a a e", "b c e f", "a b c", "d", "d e f f"}) {
      texts.Intern(text);
    }
    auto words = WordVocabulary::FromList({"a", "b", "c", "d", "e", "f"});
    auto featurizer = Featurizer::Create(std::nullopt, *std::move(words));
    return TextBags(texts, *featurizer);
  }

  std::vector<float> Correlated(const std::vector<TextId>& documents,
                                const CorrelationOptions& options) const {
    return CorrelatedWords(bags_, documents, options);
  }

  const TextBags bags_ = MakeBags();
  const std::vector<TextId> documents_ = {0, 1, 2, 3, 4};
};

TEST_F(SsiStatisticsTest, IdfCountsDocumentsNotOccurrences) {
  const auto idf = [](double n) {
    return FloatNear(static_cast<float>(std::log(6 / (n + 1)) + 1), 1e-6f);
  };
  EXPECT_THAT(InverseDocumentFrequencies(bags_, documents_, 6),
              ElementsAre(idf(3), idf(3), idf(2), idf(1), idf(3), idf(1)));
}

TEST_F(SsiStatisticsTest, CorrelatedWordsAreTheHighestDice) {
  // e: a and b in 2 of 3 + 3 documents each, c in 1 of 3 + 2. f: c 2/3, b 2/4.
  // d stands alone.
  EXPECT_THAT(Correlated(documents_, {6, 3, 2}),
              ElementsAre(-1, -1, 0, 1, 2, 1));
  EXPECT_THAT(Correlated(documents_, {6, 4, 4}),
              ElementsAre(0, 1, 2, -1, 2, 1, -1, -1));
}

TEST_F(SsiStatisticsTest, AFrequentWordIsItsOwnFirst) {
  // a and b: 2 of 3 + 3 documents; a and c: 1 of 3 + 2; b and c: 2 of 3 + 2.
  EXPECT_THAT(Correlated(documents_, {6, 3, 2, /*of_all_words=*/true}),
              ElementsAre(0, 1, 1, 2, 2, 1, -1, -1, 0, 1, 2, 1));
  // In these a and e are always together, so their DICE is 1 too.
  EXPECT_THAT(Correlated({0, 1}, {6, 6, 2, /*of_all_words=*/true}),
              ElementsAre(0, 4, 1, 0, 2, -1, 3, -1, 4, 0, 5, -1));
}

TEST_F(SsiStatisticsTest, TheOrderOfDocumentsDoesNotMatter) {
  const std::vector<TextId> turned = {4, 3, 2, 1, 0};
  EXPECT_EQ(Correlated(turned, {6, 3, 2}), Correlated(documents_, {6, 3, 2}));
}

// A log of 20,000 titles of five words, one of them its own, the others such
// that word r is about r times rarer than the first. One more title stands
// there as often as all of them.
class SampledStatisticsTest : public ::testing::Test {
 protected:
  SampledStatisticsTest() {
    Random random(1, RandomPurpose::kPairOrder);
    std::string lines;
    for (int i = 0; i < 20'000; ++i) {
      lines += "q\tt" + std::to_string(i);
      for (int w = 0; w < 4; ++w) {
        const int rank = static_cast<int>(std::pow(400, random.Between(0, 1)));
        lines += " w" + std::to_string(rank);
      }
      // A second query, since nothing can be learned from one that clicked
      // every title.
      lines += i == 0 ? "\nq2\tw1 often\n" : "\nq\tw1 often\n";
    }
    options_.data.train_files = {dir_.Write("pairs.tsv", lines)};
    options_.data.model_dir = "unused";
    options_.data.valid_fraction = 0;
    options_.features.max_words = 0;
    options_.tower.embedding_dim = 2;
    options_.batch_size = 16;
    EXPECT_THAT(ResolveOptions(options_), IsOk());
  }

  absl::StatusOr<TrainingData> Stream(std::int64_t memory_limit) {
    options_.data.memory_limit = memory_limit;
    BadLines bad_lines(0);
    return LoadStreamedData(options_, bad_lines);
  }

  // idf by word, as training gets it.
  static std::map<std::string, double> Idf(
      const absl::StatusOr<TrainingData>& data) {
    EXPECT_THAT(data, IsOk());
    const std::vector<float> idf = InverseDocumentFrequencies(
        data->bags, data->titles, data->featurizer.num_features());
    std::map<std::string, double> by_word;
    // After the listed words come buckets of unknown ones.
    const std::vector<std::string>& words = data->featurizer.words()->words();
    for (std::size_t w = 0; w < words.size(); ++w) by_word[words[w]] = idf[w];
    return by_word;
  }

  std::map<std::string, double> ExactIdf() {
    options_.data.memory_limit = 0;
    BadLines bad_lines(0);
    return Idf(LoadTrainingData(options_, bad_lines));
  }

  const TempDir dir_;
  TrainOptions options_ = DefaultOptions(v1::TOWER_KIND_SSI);
};

TEST_F(SampledStatisticsTest, ASampleOfAllTitlesGivesTheSameNumbers) {
  EXPECT_EQ(Idf(Stream(1 << 28)), ExactIdf());
}

// For each word five standard deviations, over all words little more than one.
TEST_F(SampledStatisticsTest, ASampleIsAsWrongAsTheHeaderSays) {
  const auto exact = ExactIdf();
  const absl::StatusOr<TrainingData> streamed = Stream(8 << 20);
  const auto sampled = Idf(streamed);
  const auto size = static_cast<double>(streamed->titles.size());
  EXPECT_LT(size, 2000);
  const double highest = std::log(size + 1) + 1;
  double sum = 0;
  int num_words = 0;
  for (const auto& [word, idf] : sampled) {
    EXPECT_LE(idf, highest + 1e-5) << word;
    if (exact.at(word) > highest) continue;
    // Titles of the sample that have it, plus one.
    const double count = (size + 1) / std::exp(idf - 1);
    const double deviations = (idf - exact.at(word)) * std::sqrt(count);
    EXPECT_LT(std::abs(deviations), 5) << word << ", " << count;
    sum += deviations * deviations;
    ++num_words;
  }
  EXPECT_GT(num_words, 350);
  EXPECT_LT(std::sqrt(sum / num_words), 1.25);
}

}  // namespace
}  // namespace semrank
