// Each variant of SSI on a corpus in which it can succeed, and where it says
// something, one that cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "absl/strings/str_format.h"
#include "model/format/model_bundle.h"
#include "model/train/data/load_training_data.h"
#include "model/train/options/resolve_options.h"
#include "model/train/run/train.h"
#include "tests/model/train/recipe_options.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

// Files of a corpus, line by line.
struct Corpus {
  std::string pairs, queries, docs, qrels;

  void AddPair(const std::string& query, const std::string& title,
               int clicks = 1) {
    absl::StrAppendFormat(&pairs, "%s\t%s\t%d\n", query, title, clicks);
  }
  void AddDoc(const std::string& id, const std::string& title) {
    docs += id + "\t" + title + "\n";
  }
  void AddJudgement(const std::string& query, const std::string& doc) {
    qrels += query + " 0 " + doc + " 1\n";
  }
  void AddQuery(const std::string& id, const std::string& query) {
    queries += id + "\t" + query + "\n";
  }
};

// Queries and titles have no word in common. With `by_title_words` the judged
// queries are words of titles, which no training query has.
Corpus Synonyms(bool by_title_words) {
  Corpus corpus;
  for (int i = 0; i < 24; ++i) {
    const std::string id = std::to_string(i);
    const std::string query = "qa" + id + " qb" + id;
    const std::string title = "ta" + id + " tb" + id;
    corpus.AddPair(query, title);
    corpus.AddPair("qa" + id, title);
    corpus.AddDoc("d" + id, title);
    corpus.AddQuery("q" + id, by_title_words ? "tb" + id : query);
    corpus.AddJudgement("q" + id, "d" + id);
  }
  return corpus;
}

// A title shares one word with its query, others share three that mean nothing.
Corpus NoiseWords() {
  Corpus corpus;
  const auto noise = [](int i) {
    return absl::StrFormat(" a%d b%d c%d", i % 4, i % 4, i % 4);
  };
  for (int i = 0; i < 24; ++i) {
    const std::string id = std::to_string(i);
    const std::string query = "t" + id + noise(i);
    const std::string title = "t" + id + noise(i + 1);
    corpus.AddPair(query, title);
    corpus.AddDoc("d" + id, title);
    corpus.AddQuery("q" + id, query);
    corpus.AddJudgement("q" + id, "d" + id);
  }
  return corpus;
}

// Eight topics, whose queries and titles have one frequent word each; the
// documents to rank have a title's rare word alone, or beside the frequent one.
Corpus Topics(bool rare_alone) {
  Corpus corpus;
  for (int i = 0; i < 8; ++i) {
    const std::string topic = std::to_string(i);
    corpus.AddQuery("q" + topic, "q" + topic);
    for (int j = 0; j < 6; ++j) {
      const std::string id = topic + "x" + std::to_string(j);
      corpus.AddPair("q" + topic + " x" + id, "f" + topic + " r" + id);
      corpus.AddDoc("d" + id, (rare_alone ? "" : "f" + topic + " ") + "r" + id);
      corpus.AddJudgement("q" + topic, "d" + id);
    }
  }
  return corpus;
}

// Queries of one word, which training knows beside either of two others: with
// one it means a title that is clicked often, with the other one that is not.
Corpus Meanings() {
  Corpus corpus;
  for (int i = 0; i < 12; ++i) {
    const std::string id = std::to_string(i);
    const bool odd = i % 2 == 1;
    corpus.AddPair("q" + id + " a" + id, "ta" + id, odd ? 1 : 9);
    corpus.AddPair("q" + id + " b" + id, "tb" + id, odd ? 9 : 1);
    corpus.AddDoc("da" + id, "ta" + id);
    corpus.AddDoc("db" + id, "tb" + id);
    corpus.AddQuery("q" + id, "q" + id);
    corpus.AddJudgement("q" + id, (odd ? "db" : "da") + id);
  }
  return corpus;
}

// What is clicked shares a word with the query, what was shown beside it two.
Corpus Shown(int clicks_of_shown) {
  Corpus corpus;
  for (int i = 0; i < 12; ++i) {
    const std::string id = std::to_string(i);
    const std::string query = "q" + id + " p" + id;
    const std::string clicked = "q" + id + " good" + id;
    const std::string shown = query + " bad" + id;
    corpus.AddPair(query, clicked, 2);
    corpus.AddPair(query, shown, clicks_of_shown);
    corpus.AddDoc("d" + id, clicked);
    corpus.AddDoc("s" + id, shown);
    corpus.AddQuery("q" + id, query);
    corpus.AddJudgement("q" + id, "d" + id);
  }
  return corpus;
}

// The same words in both orders.
Corpus Orders() {
  Corpus corpus;
  for (int i = 0; i < 24; ++i) {
    const std::string id = std::to_string(i);
    const std::string n = std::to_string(i / 2);
    const auto words = [&](const std::string& side) {
      const std::string a = side + "a" + n, b = side + "b" + n;
      return i % 2 == 0 ? a + " " + b : b + " " + a;
    };
    const std::string query = words("q"), title = words("t");
    corpus.AddPair(query, title);
    corpus.AddDoc("d" + id, title);
    corpus.AddQuery("q" + id, query);
    corpus.AddJudgement("q" + id, "d" + id);
  }
  return corpus;
}

class SsiLearningTest : public ::testing::Test {
 protected:
  // NDCG@10 of the best epoch.
  double Learn(const Corpus& corpus, const SsiOptions& ssi) {
    TrainOptions options = DefaultOptions(v1::TOWER_KIND_SSI);
    options.loss = loss_;
    options.data.judged_file = judged_file_;
    options.data.train_files = {
        dir_.Write("pairs.tsv", RepeatBeyondMemory(corpus.pairs))};
    options.data.memory_limit = memory_limit_;
    options.data.valid_queries = dir_.Write("queries.tsv", corpus.queries);
    options.data.valid_docs = dir_.Write("docs.tsv", corpus.docs);
    options.data.valid_qrels = dir_.Write("qrels.txt", corpus.qrels);
    options.data.model_dir = dir_.File("model");
    // Some cannot learn their corpus.
    options.force = true;
    options.ssi = ssi;
    options.features.kind = features_;
    options.features.min_bigram_count = 1;
    options.tower.embedding_dim = 16;
    options.batch_size = 16;
    options.epochs = epochs_;
    options.patience = 0;
    options.optimizer.learning_rate = 0.1;
    EXPECT_EQ(IsStreamed(options), memory_limit_ > 0);
    const auto summary = TrainModel(options);
    EXPECT_THAT(summary, IsOk());
    if (!summary.ok()) return -1;
    const auto model = LoadModel(options.data.model_dir);
    EXPECT_THAT(model, IsOk());
    EXPECT_EQ((*model)->config().score_kind(), v1::SCORE_KIND_SSI_DOT);
    EXPECT_EQ((*model)->config().training().loss(), v1::LOSS_KIND_MARGIN);
    EXPECT_EQ((*model)->config().ssi().variant(), ssi.variant);
    return (*summary->best.validation.metrics)[kNdcgAt10];
  }

  // A pair takes 24 bytes of memory.
  std::string RepeatBeyondMemory(const std::string& pairs) const {
    const auto lines = std::count(pairs.begin(), pairs.end(), '\n');
    std::string repeated;
    for (auto i = memory_limit_ / (24 * lines) + 1; i > 0; --i) {
      repeated += pairs;
    }
    return repeated;
  }

  static bool IsStreamed(TrainOptions options) {
    BadLines bad_lines(0);
    EXPECT_THAT(ResolveOptions(options), IsOk());
    const auto data = LoadTrainingData(options, bad_lines);
    EXPECT_THAT(data, IsOk());
    return data.ok() && data->stream != nullptr;
  }

  const TempDir dir_;
  LossOptions loss_;
  std::string judged_file_;
  std::int64_t memory_limit_ = 0;  // > 0: the pairs are made more than fit
  int epochs_ = 40;
  v1::FeatureKind features_ = v1::FEATURE_KIND_WORDS;
};

TEST_F(SsiLearningTest, ClicksDecideBetweenMeanings) {
  for (const auto clicks : {v1::CLICK_USE_WEIGHT, v1::CLICK_USE_REPEAT}) {
    loss_.clicks = clicks;
    EXPECT_EQ(Learn(Meanings(), {}), 1) << v1::ClickUse_Name(clicks);
  }
  loss_.clicks = v1::CLICK_USE_IGNORE;
  EXPECT_LT(Learn(Meanings(), {}), 0.9);
}

TEST_F(SsiLearningTest, WhatWasShownAndNotClickedIsRankedBelow) {
  constexpr auto kShown = v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED;
  EXPECT_LT(Learn(Shown(0), {}), 0.7);
  loss_ = {.hard_negatives = 1};
  EXPECT_EQ(Learn(Shown(0), {}), 1);
  loss_ = {.sampling = kShown, .negatives = 1};
  EXPECT_EQ(Learn(Shown(0), {}), 1);
}

// By clicks the other title is better.
TEST_F(SsiLearningTest, GradesWinOverClicks) {
  std::string judged;
  for (int i = 0; i < 12; ++i) {
    absl::StrAppendFormat(&judged, "q%d p%d\tq%d good%d\t2\n", i, i, i, i);
    absl::StrAppendFormat(&judged, "q%d p%d\tq%d p%d bad%d\t0\n", i, i, i, i,
                          i);
  }
  loss_ = {.hard_negatives = 1};
  EXPECT_LT(Learn(Shown(5), {}), 0.7);
  judged_file_ = dir_.Write("judged.tsv", judged);
  EXPECT_EQ(Learn(Shown(5), {}), 1);
}

TEST_F(SsiLearningTest, LowRankLearnsSynonyms) {
  EXPECT_EQ(Learn(Synonyms(false), {}), 1);
}

TEST_F(SsiLearningTest, SymmetricLearnsSynonyms) {
  EXPECT_EQ(Learn(Synonyms(false), {.variant = v1::SSI_VARIANT_SYMMETRIC}), 1);
}

TEST_F(SsiLearningTest, FullLearnsSynonyms) {
  EXPECT_EQ(Learn(Synonyms(false), {.variant = v1::SSI_VARIANT_FULL}), 1);
}

TEST_F(SsiLearningTest, HashedPairsLearnSynonyms) {
  EXPECT_EQ(Learn(Synonyms(false),
                  {.variant = v1::SSI_VARIANT_FULL, .pair_hash_buckets = 4096}),
            1);
}

TEST_F(SsiLearningTest, TheHashKernelAloneKnowsNoWordByItself) {
  const SsiOptions kernel = {.variant = v1::SSI_VARIANT_FULL_NO_IDENTITY,
                             .pair_hash_buckets = 4096};
  EXPECT_EQ(Learn(Synonyms(false), kernel), 1);
  EXPECT_LT(Learn(Synonyms(true), kernel), 0.9);
}

TEST_F(SsiLearningTest, TheIdentityFindsWordsThatNoTrainingQueryHas) {
  EXPECT_EQ(Learn(Synonyms(true), {}), 1);
  EXPECT_EQ(
      Learn(Synonyms(false), {.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}),
      1);
  EXPECT_LT(
      Learn(Synonyms(true), {.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}),
      0.9);
}

// Words of judged queries and titles that no training text has.
TEST_F(SsiLearningTest, UnknownWordsMatchThemselves) {
  Corpus corpus = Synonyms(false);
  corpus.docs.clear();
  corpus.queries.clear();
  corpus.qrels.clear();
  for (int i = 0; i < 24; ++i) {
    const std::string id = std::to_string(i);
    corpus.AddDoc("d" + id, "ta" + id + " new" + id + " other" + id);
    corpus.AddQuery("q" + id, "new" + id);
    corpus.AddJudgement("q" + id, "d" + id);
  }
  epochs_ = 2;
  for (const SsiOptions& ssi :
       {SsiOptions(), SsiOptions{.variant = v1::SSI_VARIANT_SYMMETRIC},
        SsiOptions{.variant = v1::SSI_VARIANT_DIAGONAL},
        SsiOptions{.dense_words = 16},
        SsiOptions{.frequent_words = 16, .correlated_top_k = 2},
        SsiOptions{.frequent_words = 16,
        .correlated_top_k = 2,
        .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK,
        .mix_parts = true}}) {
    SsiOptions hashing = ssi;
    hashing.unknown_word_buckets = 1 << 18;
    EXPECT_EQ(Learn(corpus, hashing), 1);
    EXPECT_LT(Learn(corpus, ssi), 0.5);
  }
}

TEST_F(SsiLearningTest, DiagonalLearnsWhichWordsMeanNothing) {
  EXPECT_EQ(Learn(NoiseWords(), {.variant = v1::SSI_VARIANT_DIAGONAL}), 1);
  // It has no way to bring different words together.
  EXPECT_LT(Learn(Synonyms(false), {.variant = v1::SSI_VARIANT_DIAGONAL}), 0.5);
}

TEST_F(SsiLearningTest, DenseWordsCarryTheirTopic) {
  EXPECT_EQ(Learn(Topics(/*rare_alone=*/false), {.dense_words = 16}), 1);
  // Rare words are zero in U and V.
  EXPECT_LT(Learn(Topics(/*rare_alone=*/true), {.dense_words = 16}), 0.9);
}

TEST_F(SsiLearningTest, CorrelatedWordsSpeakForRareOnes) {
  EXPECT_EQ(Learn(Topics(/*rare_alone=*/true),
                  {.frequent_words = 16, .correlated_top_k = 1}),
            1);
}

TEST_F(SsiLearningTest, CorrelatedWordsOfTheSameRankSpeakForRareOnes) {
  EXPECT_EQ(Learn(Topics(/*rare_alone=*/true),
                  {.frequent_words = 16,
                   .correlated_top_k = 2,
                   .correlated_pairing = v1::CORRELATED_PAIRING_SAME_RANK}),
            1);
}

TEST_F(SsiLearningTest, MixedPartsLearnFromFrequentAndFromRareWords) {
  for (const auto pairing :
       {v1::CORRELATED_PAIRING_ALL, v1::CORRELATED_PAIRING_SAME_RANK}) {
    const SsiOptions mixed = {.frequent_words = 16,
                              .correlated_top_k = 1,
                              .correlated_pairing = pairing,
                              .mix_parts = true};
    EXPECT_EQ(Learn(Topics(/*rare_alone=*/false), mixed), 1);
    EXPECT_EQ(Learn(Topics(/*rare_alone=*/true), mixed), 1);
  }
}

TEST_F(SsiLearningTest, BigramsTellTheOrderOfWords) {
  EXPECT_LT(Learn(Orders(), {}), 0.9);
  for (const auto kind :
       {v1::FEATURE_KIND_BIGRAMS, v1::FEATURE_KIND_WORDS_AND_BIGRAMS}) {
    features_ = kind;
    EXPECT_EQ(Learn(Orders(), {}), 1) << v1::FeatureKind_Name(kind);
  }
}

struct StreamCase {
  std::string name;
  Corpus corpus;
  SsiOptions ssi = {};

  friend void PrintTo(const StreamCase& c, std::ostream* out) {
    *out << c.name;
  }
};

class SsiStreamTest : public SsiLearningTest,
                      public ::testing::WithParamInterface<StreamCase> {
 protected:
  SsiStreamTest() {
    memory_limit_ = 400'000;
    epochs_ = 2;
  }
};

TEST_P(SsiStreamTest, LearnsFromPairsThatDoNotFitInMemory) {
  EXPECT_EQ(Learn(GetParam().corpus, GetParam().ssi), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, SsiStreamTest,
    ::testing::Values(
        StreamCase{"LowRank", Synonyms(true)},
        StreamCase{"Symmetric",
                   Synonyms(false),
                   {.variant = v1::SSI_VARIANT_SYMMETRIC}},
        StreamCase{"NoIdentity",
                   Synonyms(false),
                   {.variant = v1::SSI_VARIANT_LOW_RANK_NO_IDENTITY}},
        StreamCase{
            "Diagonal", NoiseWords(), {.variant = v1::SSI_VARIANT_DIAGONAL}},
        StreamCase{"Full", Synonyms(false), {.variant = v1::SSI_VARIANT_FULL}},
        StreamCase{
            "HashedPairs",
            Synonyms(false),
            {.variant = v1::SSI_VARIANT_FULL, .pair_hash_buckets = 4096}},
        StreamCase{"DenseWords", Topics(false), {.dense_words = 16}},
        StreamCase{"CorrelatedWords",
                   Topics(true),
                   {.frequent_words = 16, .correlated_top_k = 1}},
        StreamCase{
            "MixedParts",
            Topics(true),
            {.frequent_words = 16, .correlated_top_k = 1, .mix_parts = true}}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace semrank
