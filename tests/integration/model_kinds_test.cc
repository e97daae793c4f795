// The same programs train, publish, evaluate and serve every kind of model of
// the papers. The server ranks like the evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/lib/semrank_client.h"
#include "model/base/file_io.h"
#include "tests/integration/click_pairs.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

struct ModelKind {
  std::string name;
  std::vector<std::string> flags;
  std::string config;  // a part of config.json, without blanks

  friend void PrintTo(const ModelKind& kind, std::ostream* out) {
    *out << kind.name;
  }
};

// n, F and H are small, so that some of the about 40 words are omitted.
const std::vector<ModelKind>& ModelKinds() {
  static const auto* const kinds = new std::vector<ModelKind>{
      {"Dssm", {"--tower=dssm"}, "TOWER_KIND_DSSM"},
      {"Words", {"--tower=dssm", "--features=words"}, "FEATURE_KIND_WORDS"},
      {"LettersAndWords",
       {"--tower=dssm", "--features=letters+words"},
       "FEATURE_KIND_LETTERS_AND_WORDS"},
      {"LettersAndWordBigrams",
       {"--tower=dssm", "--features=letters+bigrams"},
       "FEATURE_KIND_LETTERS_AND_BIGRAMS"},
      {"LetterBigrams",
       {"--tower=dssm", "--ngram_length=2"},
       "\"ngram_length\":2"},
      {"LetterFourgrams",
       {"--tower=dssm", "--ngram_length=4"},
       "\"ngram_length\":4"},
      {"HashBuckets",
       {"--tower=dssm", "--hash_buckets=61"},
       "\"hash_buckets\":61"},
      {"OneHiddenLayer", {"--hidden=24"}, "\"hidden_dims\":[24]"},
      {"ThreeHiddenLayers",
       {"--hidden=24,20,12"},
       "\"hidden_dims\":[24,20,12]"},
      {"SeparateTowers",
       {"--tower=dssm", "--noshared_towers"},
       "TOWER_KIND_DSSM"},
      {"Default", {}, "TOWER_KIND_LINEAR"},
      {"Linear", {"--tower=linear", "--hidden="}, "ACTIVATION_IDENTITY"},
      {"LinearTanh",
       {"--tower=linear", "--hidden=", "--activation=tanh"},
       "ACTIVATION_TANH"},
      {"ClsmWindow1", {"--tower=clsm", "--window=1"}, "\"clsm_window\":1"},
      {"ClsmWindow3", {"--tower=clsm", "--window=3"}, "\"clsm_window\":3"},
      {"ClsmWindow5", {"--tower=clsm", "--window=5"}, "\"clsm_window\":5"},
      {"SsiLowRank", {"--tower=ssi"}, "SSI_VARIANT_LOW_RANK"},
      {"SsiSymmetric",
       {"--tower=ssi", "--ssi=symmetric"},
       "SSI_VARIANT_SYMMETRIC"},
      {"SsiNoIdentity",
       {"--tower=ssi", "--ssi=low_rank_no_identity"},
       "SSI_VARIANT_LOW_RANK_NO_IDENTITY"},
      {"SsiDiagonal",
       {"--tower=ssi", "--ssi=diagonal"},
       "SSI_VARIANT_DIAGONAL"},
      {"SsiFull", {"--tower=ssi", "--ssi=full"}, "SSI_VARIANT_FULL"},
      {"SsiHashedPairs",
       {"--tower=ssi", "--ssi=full", "--ssi_pair_hash_buckets=97"},
       "\"pair_hash_buckets\":97"},
      {"SsiConstrained",
       {"--tower=ssi", "--ssi_dense_words=10"},
       "\"num_dense_words\":10"},
      {"SsiCorrelatedHashing",
       {"--tower=ssi", "--ssi_frequent_words=12", "--ssi_correlated_top_k=2"},
       "\"correlated_top_k\":2"},
      {"SsiHashKernel",
       {"--tower=ssi", "--ssi=full_no_identity", "--ssi_pair_hash_buckets=97"},
       "SSI_VARIANT_FULL_NO_IDENTITY"},
      {"SsiSameRank",
       {"--tower=ssi", "--ssi_frequent_words=12", "--ssi_correlated_top_k=2",
        "--ssi_correlated_pairing=same_rank"},
       "CORRELATED_PAIRING_SAME_RANK"},
      {"SsiMixedParts",
       {"--tower=ssi", "--ssi_frequent_words=12", "--ssi_correlated_top_k=2",
        "--ssi_correlated_pairing=same_rank", "--ssi_mix_parts"},
       "\"mixes_parts\":true"}};
  return *kinds;
}

// Rounding of a sum of 16 products below 1. The server adds them in another
// order than the evaluator, which multiplies matrices.
constexpr float kRounding = 1e-6f;

struct Scored {
  std::size_t document = 0;
  float score = 0;
};
using Ranking = std::vector<Scored>;

// Trains all models and starts one server for them before the first test.
class ModelKindsTest : public ::testing::TestWithParam<ModelKind> {
 protected:
  static void SetUpTestSuite() {
    collection_ = std::make_unique<Collection>();
    std::string served;
    for (const ModelKind& kind : ModelKinds()) {
      Train(kind);
      absl::StrAppend(&served, served.empty() ? "" : ",", kind.name, "=",
                      ModelDir(kind));
    }
    server_ = std::make_unique<ServerProcess>(
        kBinaries + "/semrank-server",
        std::vector<std::string>{"--model_dir=" + served});
    client_ =
        SemrankClient::Create({.address = server_->grpc_address()}).value();
  }
  static void TearDownTestSuite() {
    client_ = nullptr;
    server_ = nullptr;
    collection_ = nullptr;
  }

  static std::string ModelDir(const ModelKind& kind) {
    return collection_->dir.File("models/" + kind.name);
  }

  static void Train(const ModelKind& kind) {
    std::vector<std::string> command = {kBinaries + "/semrank-train",
                                        "--train=" + collection_->train_file,
                                        "--model_dir=" + ModelDir(kind),
                                        "--embedding_dim=16",
                                        "--batch_size=12",
                                        "--epochs=12",
                                        "--learning_rate=0.02",
                                        "--valid_fraction=0",
                                        "--threads=1"};
    command.insert(command.end(), kind.flags.begin(), kind.flags.end());
    const ProgramResult result = RunProgram(command);
    ASSERT_EQ(result.exit_code, 0) << kind.name << ": " << result.err;
  }

  // Rankings of semrank-eval's run file, by query.
  static std::map<std::string, Ranking> Evaluate() {
    const std::string run = collection_->dir.File(GetParam().name + ".run");
    const ProgramResult result = RunProgram(
        {kBinaries + "/semrank-eval", "--model_dir=" + ModelDir(GetParam()),
         "--docs=" + collection_->docs_file,
         "--queries=" + collection_->queries_file,
         "--qrels=" + collection_->qrels_file, "--run_out=" + run,
         "--threads=1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::map<std::string, Ranking> rankings;
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(
             *ReadFile(run, 1 << 20), '\n', absl::SkipEmpty()))) {
      const std::vector<std::string> fields = absl::StrSplit(line, ' ');
      Scored scored;
      EXPECT_TRUE(absl::SimpleAtoi(fields[2], &scored.document)) << line;
      EXPECT_TRUE(absl::SimpleAtof(fields[4], &scored.score)) << line;
      rankings[fields[0]].push_back(scored);
    }
    return rankings;
  }

  static absl::StatusOr<Ranking> AskServer(const std::string& query) {
    v1::RankRequest request;
    request.mutable_model()->set_name(GetParam().name);
    request.set_query(query);
    request.mutable_titles()->Assign(collection_->titles.begin(),
                                     collection_->titles.end());
    const auto response = client_->Rank(request);
    if (!response.ok()) return response.status();
    EXPECT_EQ(response->score_kind(), absl::StartsWith(GetParam().name, "Ssi")
                                          ? v1::SCORE_KIND_SSI_DOT
                                          : v1::SCORE_KIND_COSINE);
    Ranking ranking;
    for (int i = 0; i < response->indices_size(); ++i) {
      ranking.push_back({response->indices(i), response->scores(i)});
    }
    return ranking;
  }

  // A document's id is its number.
  struct Collection {
    Collection() {
      for (const auto& titles_of_one : TitlesByMeaning()) {
        titles.insert(titles.end(), titles_of_one.begin(), titles_of_one.end());
      }
      // These titles have words of queries, new words, and no known n-gram.
      titles.insert(titles.end(),
                    {"garage for auto", "auto", "xylophone quartz", "\u4e16"});
      std::string docs, query_lines, qrels;
      for (std::size_t i = 0; i < titles.size(); ++i) {
        absl::StrAppendFormat(&docs, "%d\t%s\n", i, titles[i]);
      }
      for (std::size_t i = 0; i < queries.size(); ++i) {
        absl::StrAppendFormat(&query_lines, "q%d\t%s\n", i, queries[i]);
        absl::StrAppendFormat(&qrels, "q%d 0 %d 1\n", i, i);
      }
      docs_file = dir.Write("docs.tsv", docs);
      queries_file = dir.Write("queries.tsv", query_lines);
      qrels_file = dir.Write("qrels.txt", qrels);
    }

    const TempDir dir;
    const std::string train_file = dir.Write("clicks.tsv", ClickPairs());
    const std::vector<std::string> queries = {"fix auto", "snapshot",
                                              "ticket overseas vehicle flights",
                                              "auto auto", "\u4e16"};
    std::vector<std::string> titles;
    std::string docs_file, queries_file, qrels_file;
  };

  static std::unique_ptr<Collection> collection_;
  static std::unique_ptr<ServerProcess> server_;
  static std::unique_ptr<SemrankClient> client_;
};

std::unique_ptr<ModelKindsTest::Collection> ModelKindsTest::collection_;
std::unique_ptr<ServerProcess> ModelKindsTest::server_;
std::unique_ptr<SemrankClient> ModelKindsTest::client_;

TEST_P(ModelKindsTest, TheServerRanksAsTheEvaluatorSays) {
  const auto config =
      ReadFile(ModelDir(GetParam()) + "/1/config.json", 1 << 20);
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(nlohmann::json::parse(*config).dump(),
              HasSubstr(GetParam().config));

  std::map<std::string, Ranking> evaluated = Evaluate();
  ASSERT_EQ(evaluated.size(), collection_->queries.size());
  for (std::size_t q = 0; q < collection_->queries.size(); ++q) {
    SCOPED_TRACE(collection_->queries[q]);
    const Ranking& want = evaluated[absl::StrFormat("q%d", q)];
    ASSERT_OK_AND_ASSIGN(const Ranking got, AskServer(collection_->queries[q]));
    ASSERT_EQ(got.size(), want.size());
    std::map<std::size_t, float> score_of;
    for (const Scored& scored : want) {
      score_of[scored.document] = scored.score;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      // Documents may swap places only if their scores differ by rounding.
      EXPECT_NEAR(got[i].score, want[i].score, kRounding) << i;
      ASSERT_TRUE(score_of.contains(got[i].document)) << got[i].document;
      EXPECT_NEAR(got[i].score, score_of[got[i].document], kRounding) << i;
    }
    if (q == 0) {
      EXPECT_GT(got.front().score, got.back().score + 0.1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, ModelKindsTest,
                         ::testing::ValuesIn(ModelKinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace semrank
