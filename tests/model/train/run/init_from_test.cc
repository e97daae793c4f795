// --init_from of the built program: training begins from a published model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/format/model_bundle.h"
#include "model/format/safetensors.h"
#include "tests/support/run_program.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class InitFromTest : public ::testing::Test {
 protected:
  ProgramResult Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), SEMRANK_BINARY_DIR "/semrank-train");
    return RunProgram(flags);
  }

  TempDir dir_;
  std::string train_ = "--train=" + dir_.Write("pairs.tsv",
                                               "cheap flights\tair fares\n"
                                               "good pizza\titalian food\n");
  std::string model_ = "--model_dir=" + dir_.File("models/shop");
};

// The floats of a tensor of the first version in `model_dir`.
std::vector<float> TensorOf(const std::string& model_dir, const char* name) {
  const auto file = ReadFile(model_dir + "/1/weights.safetensors", 1 << 24);
  const auto tensors = ParseSafetensors(*file, model_dir).value();
  const auto values = tensors.at(name).values();
  return {values.begin(), values.end()};
}

TEST_F(InitFromTest, KeepsTheRowsOfKnownFeaturesAndAddsNewOnes) {
  for (const std::string tower : {"dssm", "linear", "clsm"}) {
    const std::string first = dir_.File("first_" + tower);
    const std::string second = dir_.File("second_" + tower);
    ASSERT_EQ(
        Run({train_, "--model_dir=" + first, "--tower=" + tower,
             "--features=letters", "--ngram_length=2", "--embedding_dim=8",
             "--noshared_towers", "--epochs=1", "--lexical=none"})
            .exit_code,
        0);
    // A step too small to change a weight, on other words.
    const ProgramResult result =
        Run({"--train=" + dir_.Write("other.tsv", "red wine\tdrinks\na\tb\n"),
             "--model_dir=" + second, "--init_from=" + first, "--epochs=1",
             "--optimizer=sgd", "--learning_rate=1e-30", "--lexical=none"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string before = *ReadFile(first + "/1/ngrams.txt", 1 << 24);
    const std::string after = *ReadFile(second + "/1/ngrams.txt", 1 << 24);
    EXPECT_THAT(after, StartsWith(before));
    EXPECT_THAT(after, HasSubstr("wi\n"));
    for (const char* name : {"query.0.weight", "document.0.weight"}) {
      const std::vector<float> rows = TensorOf(first, name);
      std::vector<float> known = TensorOf(second, name);
      EXPECT_GT(known.size(), rows.size());
      known.resize(rows.size());
      EXPECT_EQ(known, rows);
    }
    ASSERT_OK_AND_ASSIGN(const auto from, LoadModel(first));
    ASSERT_OK_AND_ASSIGN(const auto to, LoadModel(second));
    EXPECT_EQ(to->config().training().init_weights_sha256(),
              from->version().weights_sha256);
  }
}

TEST_F(InitFromTest, TheNextRunSeesThePairsThatTheModelHasKept) {
  ASSERT_EQ(Run({train_, model_, "--epochs=1"}).exit_code, 0);
  EXPECT_THAT(*ReadFile(dir_.File("models/shop/1/pairs.tsv"), 1 << 20),
              HasSubstr("good pizza\titalian food\t1\n"));
  const std::string init = "--init_from=" + dir_.File("models/shop");
  ProgramResult result =
      Run({"--train=" + dir_.Write("night.tsv", "red wine\tdrinks\na b\tc d\n"),
           model_, init, "--epochs=1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 new pairs; 2 earlier ones"));
  const std::string kept =
      *ReadFile(dir_.File("models/shop/2/pairs.tsv"), 1 << 20);
  EXPECT_THAT(kept, HasSubstr("good pizza\titalian food\t1\n"));
  EXPECT_THAT(kept, HasSubstr("red wine\tdrinks\t1\n"));

  result = Run({train_, model_, init, "--epochs=1", "--keep_pairs=0"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("has learned 100 % of the pairs"));
  EXPECT_FALSE(std::filesystem::exists(dir_.File("models/shop/3/pairs.tsv")));
}

TEST_F(InitFromTest, TheLexicalWeightOfTheModelStays) {
  ASSERT_EQ(Run({train_, model_, "--epochs=1", "--lexical=0.25"}).exit_code, 0);
  const ProgramResult result =
      Run({train_, model_, "--init_from=" + dir_.File("models/shop"),
           "--epochs=1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(dir_.File("models/shop")));
  EXPECT_EQ(model->version().version, 2);
  EXPECT_EQ(model->config().lexical().weight(), 0.25);
}

TEST_F(InitFromTest, AGeneralModelGivesItsFeaturesBesideThoseOfTheRun) {
  const std::string general = dir_.File("models/general");
  ASSERT_EQ(Run({train_, "--model_dir=" + general, "--preset=general",
                 "--embedding_dim=8"})
                .exit_code,
            0);
  ASSERT_OK_AND_ASSIGN(const auto from, LoadModel(general));
  EXPECT_TRUE(from->config().training().general_start());
  EXPECT_EQ(from->config().weight_encoding(), v1::WEIGHT_ENCODING_INT8);
  const ProgramResult result =
      Run({"--train=" + dir_.Write("shop.tsv",
                                   "red wine\tdrinks\nred wine a\tdrinks b\n"
                                   "good red wine\tgood drinks\n"),
           model_, "--init_from=" + general, "--embedding_dim=8", "--epochs=1",
           "--optimizer=sgd", "--learning_rate=1e-30"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_OK_AND_ASSIGN(const auto model, LoadModel(dir_.File("models/shop")));
  EXPECT_EQ(model->config().features().kind(),
            v1::FEATURE_KIND_LETTERS_WORDS_AND_BIGRAMS);
  EXPECT_FALSE(model->config().training().general_start());
  EXPECT_EQ(model->config().weight_encoding(), v1::WEIGHT_ENCODING_UNSPECIFIED);
  // "good" is known from the general model: its rows are longer than random
  // ones.
  const auto rows = TensorOf(dir_.File("models/shop"), "query.0.weight");
  const float largest = *std::ranges::max_element(rows);
  EXPECT_GT(largest, 0.1f);
}

TEST_F(InitFromTest, WithoutClicksTheCatalogueMakesTheModel) {
  const std::string docs =
      "--docs=" + dir_.Write("docs.tsv", "1\tair fares\n2\titalian food\n");
  ProgramResult result =
      Run({docs, model_, "--init_from=none", "--output=json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"titles\":2,\"has_general\":false"));
  EXPECT_THAT(result.err, HasSubstr("letter trigrams alone are the score"));
  ASSERT_OK_AND_ASSIGN(const auto alone, LoadModel(dir_.File("models/shop")));
  EXPECT_GT(alone->lexical()->weight(), 0.99);

  const std::string general = dir_.File("models/general");
  ASSERT_EQ(
      Run({train_, "--model_dir=" + general, "--preset=general"}).exit_code, 0);
  result = Run({docs, model_, "--init_from=" + general});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("knows 100 % of their words"));
  EXPECT_THAT(result.out, HasSubstr("next: semrank-server --model_dir=" +
                                    dir_.File("models/shop")));
  ASSERT_OK_AND_ASSIGN(const auto joined, LoadModel(dir_.File("models/shop")));
  EXPECT_EQ(joined->lexical()->weight(), 0.7);
  EXPECT_EQ(joined->config().weight_encoding(), v1::WEIGHT_ENCODING_INT8);
}

TEST_F(InitFromTest, AModelWithoutBiasesStaysWithoutThem) {
  const std::string first = dir_.File("first"), second = dir_.File("second");
  ASSERT_EQ(Run({train_, "--model_dir=" + first, "--preset=clsm2014",
                 "--hidden=9", "--embedding_dim=8", "--epochs=1"})
                .exit_code,
            0);
  ASSERT_EQ(Run({train_, "--model_dir=" + second, "--init_from=" + first,
                 "--epochs=1", "--learning_rate=0.5"})
                .exit_code,
            0);
  ASSERT_OK_AND_ASSIGN(const auto file,
                       LoadedFile::Read(second + "/1/weights.safetensors"));
  ASSERT_OK_AND_ASSIGN(const auto tensors,
                       ParseSafetensors(file->content(), second));
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(".bias")) continue;
    EXPECT_THAT(std::vector<float>(tensor.data, tensor.data + tensor.shape[0]),
                Each(0.0f))
        << name;
  }
}

TEST_F(InitFromTest, FlagsThatContradictTheInitialModelAreRefused) {
  ASSERT_EQ(Run({train_, model_, "--hidden=7", "--epochs=1"}).exit_code, 0);
  const std::string init = "--init_from=" + dir_.File("models/shop/1");
  for (const auto& [flag, reason] :
       {std::pair{"--hidden=8", "has 7"},
        {"--tower=linear", "--init_from has dssm"},
        {"--embedding_dim=16", "has 128"},
        {"--noshared_towers", "has true"},
        {"--features=words", "--init_from has letters"},
        {"--hash_buckets=64", "has 0"}}) {
    const ProgramResult result = Run({train_, model_, init, flag});
    EXPECT_EQ(result.exit_code, 2) << flag;
    EXPECT_THAT(result.err, HasSubstr(reason)) << flag;
  }
  EXPECT_EQ(Run({train_, model_, init, "--hidden=7", "--epochs=1"}).exit_code,
            0);
  EXPECT_EQ(Run({train_, model_, "--init_from=" + dir_.File("none")}).exit_code,
            1);
}

// By the flags of a kind of SSI model.
class SsiInitFromTest : public InitFromTest,
                        public ::testing::WithParamInterface<
                            std::pair<const char*, std::vector<std::string>>> {
 protected:
  // Titles are the words of the query, each some places further on.
  static std::string Pairs(int distance) {
    std::string pairs;
    for (int i = 0; i < 200; ++i) {
      const int a = i % 40, b = (7 * i + i / 40) % 40;
      absl::StrAppendFormat(&pairs, "word%d word%d\tword%d word%d\n", a, b,
                            (a + distance) % 40, (b + distance) % 40);
    }
    return pairs;
  }
  ProgramResult Train(const std::string& model_dir,
                      std::vector<std::string> more) {
    more.insert(more.end(),
                {"--model_dir=" + dir_.File(model_dir), "--embedding_dim=8",
                 "--batch_size=50", "--epochs=2", "--valid_fraction=0",
                 "--output=json", "--threads=1"});
    return Run(more);
  }
  std::string Content(const std::string& path) {
    return ReadFile(dir_.File(path), 1 << 24).value();
  }
  std::vector<float> Tensor(const std::string& model_dir, const char* name) {
    const std::string content = Content(model_dir + "/1/weights.safetensors");
    const auto tensors = ParseSafetensors(content, model_dir).value();
    if (!tensors.contains(name)) return {};
    const TensorView& tensor = tensors.at(name);
    std::size_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    return {tensor.data, tensor.data + count};
  }
};

// train_loss of what --output=json says.
double TrainLoss(const std::string& json) {
  return nlohmann::json::parse(json)["best_epoch"]["train_loss"];
}

TEST_P(SsiInitFromTest, GoesOnWithTheModelsWordsAndTheirIdf) {
  std::vector<std::string> flags = GetParam().second;
  flags.push_back("--train=" + dir_.Write("first.tsv", Pairs(3)));
  flags.push_back("--tower=ssi");
  const ProgramResult first = Train("first", flags);
  ASSERT_EQ(first.exit_code, 0) << first.err;

  // A step too small to change a weight.
  ProgramResult result =
      Train("same", {flags.end()[-2], "--init_from=" + dir_.File("first"),
                     "--optimizer=sgd", "--learning_rate=1e-44"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Content("same/1/weights.safetensors"),
            Content("first/1/weights.safetensors"));
  ASSERT_OK_AND_ASSIGN(const auto from, LoadModel(dir_.File("first")));
  ASSERT_OK_AND_ASSIGN(const auto to, LoadModel(dir_.File("same")));
  EXPECT_EQ(to->config().ssi().SerializeAsString(),
            from->config().ssi().SerializeAsString());
  EXPECT_EQ(to->config().training().init_weights_sha256(),
            from->version().weights_sha256);

  result =
      Train("longer", {flags.end()[-2], "--init_from=" + dir_.File("first/1")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(TrainLoss(result.out), TrainLoss(first.out));

  // Other pairs, in which the words occur otherwise, or for the first time.
  result = Train(
      "other", {"--train=" + dir_.Write("other.tsv",
                                        Pairs(5) + "word1 new\tword1 word2\n"),
                "--init_from=" + dir_.File("first")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Content("other/1/words.txt"), Content("first/1/words.txt"));
  for (const char* given : {"idf", "correlated_words"}) {
    EXPECT_EQ(Tensor("other", given), Tensor("first", given)) << given;
  }
  EXPECT_NE(Content("other/1/weights.safetensors"),
            Content("first/1/weights.safetensors"));
}

INSTANTIATE_TEST_SUITE_P(
    Variants, SsiInitFromTest,
    ::testing::Values(
        std::pair{"LowRank", std::vector<std::string>{}},
        std::pair{"Symmetric", std::vector<std::string>{"--ssi=symmetric"}},
        std::pair{"Diagonal", std::vector<std::string>{"--ssi=diagonal"}},
        std::pair{"Full", std::vector<std::string>{"--ssi=full"}},
        std::pair{"HashedPairs",
                  std::vector<std::string>{"--ssi=full",
                                           "--ssi_pair_hash_buckets=64"}},
        std::pair{"Constrained",
                  std::vector<std::string>{"--ssi_dense_words=20"}},
        std::pair{"Correlated",
                  std::vector<std::string>{"--ssi_frequent_words=20",
                                           "--ssi_correlated_top_k=3"}},
        std::pair{"HashKernel",
                  std::vector<std::string>{"--ssi=full_no_identity",
                                           "--ssi_pair_hash_buckets=64"}},
        std::pair{"MixedParts",
                  std::vector<std::string>{"--ssi_frequent_words=20",
                                           "--ssi_correlated_top_k=3",
                                           "--ssi_correlated_pairing=same_rank",
                                           "--ssi_mix_parts"}}),
    [](const auto& tested) { return tested.param.first; });

TEST_F(InitFromTest, FlagsThatContradictAnSsiModelAreRefused) {
  ASSERT_EQ(Run({train_, model_, "--tower=ssi", "--ssi_dense_words=3",
                 "--embedding_dim=4", "--epochs=1"})
                .exit_code,
            0);
  const std::string init = "--init_from=" + dir_.File("models/shop");
  for (const auto& [flag, reason] :
       {std::pair{"--ssi=symmetric", "--init_from has low_rank"},
        {"--tower=dssm", "--init_from has ssi"},
        {"--embedding_dim=16", "has 4"},
        {"--ssi_dense_words=2", "has 3"},
        {"--ssi_pair_hash_buckets=64", "has 0"},
        {"--ssi_frequent_words=2", "has 0"},
        {"--ssi_correlated_top_k=2", "has 0"},
        {"--ssi_init_scale=1", "begin as those of --init_from"},
        {"--max_words=5", "has 8"},
        {"--preset=dssm2013", "model of --tower=ssi"}}) {
    const ProgramResult result = Run({train_, model_, init, flag});
    EXPECT_EQ(result.exit_code, 2) << flag;
    EXPECT_THAT(result.err, HasSubstr(reason)) << flag;
  }
  for (const char* agrees :
       {"--tower=ssi", "--ssi_dense_words=3", "--max_words=9"}) {
    EXPECT_EQ(Run({train_, model_, init, agrees, "--epochs=1"}).exit_code, 0);
  }
}

}  // namespace
}  // namespace semrank
