// A corpus whose documents differ only in the order of words: CLSM learns it,
// DSSM cannot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/format/model_bundle.h"
#include "model/nn/kernels.h"
#include "model/train/run/train.h"
#include "tests/model/train/recipe_options.h"
#include "tests/model/train/train_model.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

// Queries and titles share no word, so order must be learned, not copied.
const std::vector<std::string> kQueryWords = {"dog",  "man",  "bird",
                                              "fish", "king", "ship"};
const std::vector<std::string> kTitleWords = {"hund",   "mann",   "vogel",
                                              "qualle", "regent", "boot"};

// "dog bites man" and "man bites dog".
std::string Query(std::size_t who, std::size_t whom) {
  return kQueryWords[who] + " bites " + kQueryWords[whom];
}
std::string Title(std::size_t who, std::size_t whom) {
  return kTitleWords[who] + " zerrt " + kTitleWords[whom];
}

class WordOrderTest : public ::testing::Test {
 protected:
  WordOrderTest() {
    std::string pairs;
    ForEachPair([&](std::size_t who, std::size_t whom) {
      pairs += Query(who, whom) + "\t" + Title(who, whom) + "\n";
    });
    options_.data.train_files = {dir_.Write("pairs.tsv", pairs)};
    options_.data.valid_fraction = 0;
    options_.tower.embedding_dim = 16;
    options_.loss.gamma = 10;
    options_.optimizer.learning_rate = 0.01;
    options_.batch_size = 30;
    options_.epochs = 150;
    options_.threads = 1;
  }

  template <typename Visitor>
  static void ForEachPair(Visitor visit) {
    for (std::size_t who = 0; who < kQueryWords.size(); ++who) {
      for (std::size_t whom = 0; whom < kQueryWords.size(); ++whom) {
        if (who != whom) visit(who, whom);
      }
    }
  }

  // Trains, publishes and loads.
  std::shared_ptr<const TwoTowerModel> Learn(v1::TowerKind kind,
                                             std::vector<int> hidden_dims) {
    options_.tower.kind = kind;
    options_.tower.hidden_dims = std::move(hidden_dims);
    options_.data.model_dir = dir_.File(v1::TowerKind_Name(kind));
    EXPECT_THAT(TrainModel(options_), IsOk());
    auto model = LoadModel(options_.data.model_dir);
    EXPECT_THAT(model, IsOk());
    return std::move(model).value();
  }

  static std::vector<float> Embed(const TwoTowerModel& model, Side side,
                                  const std::string& text) {
    EmbedScratch scratch;
    std::vector<float> vector(model.embedding_dim());
    const std::vector<std::string_view> texts = {text};
    model.EmbedTexts(side, texts, scratch, vector.data());
    return vector;
  }

  const TempDir dir_;
  TrainOptions options_ = PlainOptions();
};

TEST_F(WordOrderTest, ClsmPrefersTheTitleInTheRightOrder) {
  const auto model = Learn(v1::TOWER_KIND_CLSM, {32});
  ForEachPair([&](std::size_t who, std::size_t whom) {
    const auto query = Embed(*model, Side::kQuery, Query(who, whom));
    const auto right = Embed(*model, Side::kDocument, Title(who, whom));
    const auto reversed = Embed(*model, Side::kDocument, Title(whom, who));
    // Far beyond rounding.
    EXPECT_GT(Dot(query.data(), right.data(), 16),
              Dot(query.data(), reversed.data(), 16) + 0.1f)
        << Query(who, whom);
  });
}

TEST_F(WordOrderTest, DssmCannotTellThemApart) {
  const auto model = Learn(v1::TOWER_KIND_DSSM, {32});
  ForEachPair([&](std::size_t who, std::size_t whom) {
    // The same terms in another order.
    EXPECT_THAT(Embed(*model, Side::kDocument, Title(who, whom)),
                Pointwise(FloatNear(1e-6f),
                          Embed(*model, Side::kDocument, Title(whom, who))));
  });
}

}  // namespace
}  // namespace semrank
