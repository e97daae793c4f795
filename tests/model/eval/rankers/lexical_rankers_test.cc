// BM25 and letter TF-IDF against numbers worked out from the formulas in their
// headers, and against plain double-precision scorers without an index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "model/eval/rankers/bm25_ranker.h"
#include "model/eval/rankers/tfidf_ranker.h"
#include "tests/model/eval/rankers/score_queries.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

using Texts = std::vector<std::string>;
using Counts = std::map<std::string, double>;

std::vector<std::string> WordsOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Counts WordCounts(const std::string& text) {
  Counts counts;
  for (const std::string& word : WordsOf(text)) ++counts[word];
  return counts;
}

// ASCII only.
Counts TrigramCounts(const std::string& text) {
  Counts counts;
  for (const std::string& word : WordsOf(text)) {
    const std::string marked = "#" + word + "#";
    for (std::size_t i = 0; i + 3 <= marked.size(); ++i) {
      ++counts[marked.substr(i, 3)];
    }
  }
  return counts;
}

double HowManyHold(const std::vector<Counts>& documents,
                   const std::string& feature) {
  double n = 0;
  for (const Counts& document : documents) n += document.count(feature);
  return n;
}

std::vector<double> PlainBm25(const Texts& documents, const std::string& query,
                              double k1, double b) {
  std::vector<Counts> bags;
  double total_length = 0;
  for (const std::string& text : documents) {
    bags.push_back(WordCounts(text));
    total_length += static_cast<double>(WordsOf(text).size());
  }
  const auto count = static_cast<double>(documents.size());
  std::vector<double> scores(documents.size());
  for (std::size_t d = 0; d < documents.size(); ++d) {
    const double relative_length =
        static_cast<double>(WordsOf(documents[d]).size()) * count /
        total_length;
    for (const std::string& word : WordsOf(query)) {
      const double n = HowManyHold(bags, word);
      const auto found = bags[d].find(word);
      if (found == bags[d].end()) continue;
      const double tf = found->second;
      scores[d] += std::log(1 + (count - n + 0.5) / (n + 0.5)) * tf /
                   (tf + k1 * (1 - b + b * relative_length));
    }
  }
  return scores;
}

std::vector<double> PlainTrigramCosine(const Texts& documents,
                                       const std::string& query) {
  std::vector<Counts> bags;
  for (const std::string& text : documents) bags.push_back(TrigramCounts(text));
  const auto weigh = [&](Counts bag) {
    double squares = 0;
    for (auto& [feature, value] : bag) {
      const double n = HowManyHold(bags, feature);
      const auto count = static_cast<double>(documents.size());
      value = n == 0 ? 0 : value * (std::log((count + 1) / (n + 1)) + 1);
      squares += value * value;
    }
    for (auto& [feature, value] : bag) {
      if (squares > 0) value /= std::sqrt(squares);
    }
    return bag;
  };
  Counts query_vector = weigh(TrigramCounts(query));
  std::vector<double> scores;
  for (const Counts& bag : bags) {
    double cosine = 0;
    for (const auto& [feature, value] : weigh(bag)) {
      if (query_vector.count(feature)) cosine += value * query_vector[feature];
    }
    scores.push_back(cosine);
  }
  return scores;
}

// Words over few letters, so that texts share words and trigrams.
std::string RandomText(std::mt19937& random, int max_words) {
  std::string text;
  const int num_words = static_cast<int>(random() % (max_words + 1));
  for (int w = 0; w < num_words; ++w) {
    if (w > 0) text += ' ';
    const int length = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < length; ++i) text += "abc"[random() % 3];
  }
  return text;
}

const Texts kDesserts = {"apple pie", "apple apple tart with cream",
                         "banana bread", "cream"};

TEST(Bm25RankerTest, FourDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateBm25Ranker(kDesserts, {}));
  EXPECT_EQ(ranker->name(), "bm25");
  // Lengths 2, 5, 2, 1 with mean 2.5; both words are in two documents, so the
  // idf is ln(1 + 2.5 / 2.5).
  const double idf = std::log(2.0);
  ExpectNear(ScoresOf(*ranker, "apple cream"),
             {idf * 1 / 1.828, idf * (2 / 3.26 + 1 / 2.26), 0, idf / 1.684});
}

TEST(Bm25RankerTest, RepeatedQueryWordCountsTwice) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateBm25Ranker(kDesserts, {}));
  const float once = ScoresOf(*ranker, "banana")[2];
  EXPECT_FLOAT_EQ(ScoresOf(*ranker, "banana banana")[2], 2 * once);
}

TEST(Bm25RankerTest, UnknownAndEmptyQueriesScoreZero) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateBm25Ranker(kDesserts, {}));
  ExpectNear(ScoresOf(*ranker, "zebra"), {0, 0, 0, 0});
  ExpectNear(ScoresOf(*ranker, ""), {0, 0, 0, 0});
}

TEST(Bm25RankerTest, IndexEqualsPlainScorer) {
  std::mt19937 random(11);
  Texts documents = {"a"};
  for (int d = 0; d < 60; ++d) documents.push_back(RandomText(random, 8));
  for (const Bm25Options& options :
       {Bm25Options{}, Bm25Options{1.2, 0.75}, Bm25Options{0, 0}}) {
    ASSERT_OK_AND_ASSIGN(const auto ranker,
                         CreateBm25Ranker(documents, options));
    for (int q = 0; q < 20; ++q) {
      const std::string query = RandomText(random, 5);
      SCOPED_TRACE(query);
      ExpectNear(ScoresOf(*ranker, query),
                 PlainBm25(documents, query, options.k1, options.b));
    }
  }
}

TEST(Bm25RankerTest, RefusesDocumentsWithoutAnyWord) {
  EXPECT_THAT(CreateBm25Ranker({"", ""}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no document has a word")));
}

TEST(LetterTfidfTest, FourDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(const auto ranker,
                       TfidfRanker::OfLetters({"ab", "ab cd", "cd cd", "xy"}));
  EXPECT_EQ(ranker->name(), "letter_tfidf");
  // #ab, ab#, #cd, cd# are in two of four documents, #xy and xy# in one; the
  // trigrams of "zz" are dropped.
  const double two = std::log(5 / 3.0) + 1, one = std::log(5 / 2.0) + 1;
  const double norm = std::sqrt(2 * two * two + 2 * one * one);
  ExpectNear(ScoresOf(*ranker, "ab xy zz"),
             {std::sqrt(2.0) * two / norm, two / norm, 0,
              std::sqrt(2.0) * one / norm});
}

TEST(LetterTfidfTest, IndexEqualsPlainScorer) {
  std::mt19937 random(13);
  Texts documents = {"a"};
  for (int d = 0; d < 60; ++d) documents.push_back(RandomText(random, 8));
  ASSERT_OK_AND_ASSIGN(const auto ranker, TfidfRanker::OfLetters(documents));
  for (int q = 0; q < 20; ++q) {
    const std::string query = RandomText(random, 5);
    SCOPED_TRACE(query);
    ExpectNear(ScoresOf(*ranker, query), PlainTrigramCosine(documents, query));
  }
}

TEST(LetterTfidfTest, EqualTextHasCosineOne) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, TfidfRanker::OfLetters(kDesserts, 2));
  EXPECT_NEAR(ScoresOf(*ranker, "bread banana")[2], 1, 2e-6);
}

TEST(LetterTfidfTest, RefusesBadLengthAndDocumentsWithoutAnyWord) {
  EXPECT_THAT(TfidfRanker::OfLetters(kDesserts, 0),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(TfidfRanker::OfLetters({""}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(WordTfidfTest, FourDocumentsByHand) {
  ASSERT_OK_AND_ASSIGN(const auto ranker,
                       TfidfRanker::OfWords({"ab", "ab cd", "cd cd", "xy"}));
  EXPECT_EQ(ranker->name(), "word_tfidf");
  // ab and cd are in two of four documents, xy in one.
  const double two = std::log(5 / 3.0) + 1, one = std::log(5 / 2.0) + 1;
  const double norm = std::sqrt(two * two + one * one);
  ExpectNear(ScoresOf(*ranker, "ab xy zz"),
             {two / norm, std::sqrt(0.5) * two / norm, 0, one / norm});
}

TEST(LexicalRankerTest, ScoreSomePicksOutOfScoreAll) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateBm25Ranker(kDesserts, {}));
  const std::vector<float> all = ScoresOf(*ranker, "cream pie");
  const std::vector<std::uint32_t> documents = {3, 0};
  std::vector<float> some(2);
  ranker->ScoreSome("cream pie", documents, some);
  EXPECT_EQ(some, (std::vector<float>{all[3], all[0]}));
}

TEST(LexicalRankerTest, QueriesOfACallAreIndependent) {
  ASSERT_OK_AND_ASSIGN(const auto ranker, CreateBm25Ranker(kDesserts, {}));
  const std::vector<std::string_view> queries = {"cream", "", "apple"};
  std::vector<float> scores(12, -1);
  ranker->ScoreAll(queries, scores.data());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    EXPECT_EQ(std::vector<float>(scores.begin() + 4 * q,
                                 scores.begin() + 4 * (q + 1)),
              ScoresOf(*ranker, queries[q]));
  }
}

}  // namespace
}  // namespace semrank
