#include "client/output/model_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/output/output.h"
#include "tests/support/status_matchers.h"

namespace semrank {
namespace {

v1::Model MakeModel() {
  v1::Model model;
  model.set_name("shop");
  model.set_version(3);
  model.set_state(v1::MODEL_STATE_SERVING);
  model.set_current(true);
  model.set_is_default(true);
  model.set_embedding_dim(128);
  model.mutable_load_time()->set_seconds(1'700'000'000);
  v1::ModelConfig& config = *model.mutable_config();
  config.set_tower(v1::TOWER_KIND_DSSM);
  config.add_hidden_dims(300);
  config.set_embedding_dim(128);
  config.set_activation(v1::ACTIVATION_TANH);
  config.set_gamma(20);
  config.set_score_kind(v1::SCORE_KIND_COSINE);
  config.mutable_features()->set_kind(v1::FEATURE_KIND_LETTERS);
  config.mutable_features()->set_ngram_length(3);
  config.mutable_features()->set_num_ngrams(5000);
  v1::TrainingFacts& training = *config.mutable_training();
  training.set_num_pairs(1000);
  training.set_epochs_run(5);
  training.set_best_epoch(4);
  training.set_loss(v1::LOSS_KIND_SOFTMAX);
  training.set_negative_sampling(v1::NEGATIVE_SAMPLING_IN_BATCH);
  training.set_optimizer(v1::OPTIMIZER_ADAM);
  training.set_learning_rate(0.001);
  training.set_validation_ndcg_at_10(0.5);
  return model;
}

TEST(ModelTableTest, ShowsWhatIsKnown) {
  EXPECT_EQ(ModelTable(MakeModel()).ToAlignedText(),
            "model               shop\n"
            "version             3\n"
            "state               serving, current, default model\n"
            "loaded              2023-11-14T22:13:20+00:00\n"
            "embedding dim       128\n"
            "tower               dssm\n"
            "layers              5000 -> 300 -> 128\n"
            "activation          tanh\n"
            "towers              separate\n"
            "features            letters, 5000 n-grams of 3 letters\n"
            "scores              cosine\n"
            "gamma               20\n"
            "training pairs      1000\n"
            "epochs              5, best 4\n"
            "loss                softmax\n"
            "negatives           all, in_batch\n"
            "optimizer           adam, learning rate 0.001\n"
            "seed                0\n"
            "validation NDCG@10  0.5000\n");
}

TEST(ModelTableTest, UnloadedModelHasFewRows) {
  v1::Model model;
  model.set_name("shop");
  model.set_version(4);
  model.set_state(v1::MODEL_STATE_FAILED);
  model.mutable_failure()->set_message("weights.safetensors: cut");
  EXPECT_EQ(ModelTable(model).ToTsv(/*escape_controls=*/false),
            "model\tshop\nversion\t4\nstate\tfailed\n"
            "failure\tweights.safetensors: cut\n");
}

TEST(MessageJsonLineTest, UsesProtoFieldNames) {
  v1::Model model;
  model.set_name("shop\x1b");
  model.set_version(3);
  model.set_is_default(true);
  ASSERT_OK_AND_ASSIGN(const std::string line, MessageJsonLine(model));
  EXPECT_EQ(line,
            "{\"name\":\"shop\\u001b\",\"version\":\"3\","
            "\"is_default\":true}\n");
}

TEST(EnumWordTest, OmitsPrefixAndPrintsUnknownValuesAsNumbers) {
  EXPECT_EQ(EnumWord(v1::FEATURE_KIND_LETTERS_AND_WORDS), "letters_and_words");
  EXPECT_EQ(EnumWord(v1::SSI_VARIANT_UNSPECIFIED), "unspecified");
  EXPECT_EQ(EnumWord(static_cast<v1::TowerKind>(99)), "99");
}

}  // namespace
}  // namespace semrank
