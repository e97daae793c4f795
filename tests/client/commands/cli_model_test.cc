// `semrank model` and `semrank limits`.
#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

// What GetModel answers with.
auto Answer(const v1::Model& model) {
  return [model](const v1::GetModelRequest&, v1::GetModelResponse* response) {
    *response->mutable_model() = model;
    return grpc::Status::OK;
  };
}

TEST_F(CliTest, ModelPrintsWhatIsKnown) {
  server_.OnGetModel(Answer(MakeModel()));
  EXPECT_EQ(Run({"model"}, {.terminal = true}).out,
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

TEST_F(CliTest, ModelThatIsNotLoadedHasFewRows) {
  v1::Model model;
  model.set_name("shop");
  model.set_version(3);
  model.set_state(v1::MODEL_STATE_SERVING);
  server_.OnGetModel(Answer(model));
  EXPECT_EQ(Run({"model"}).out, "model\tshop\nversion\t3\nstate\tserving\n");
  EXPECT_EQ(Run({"model"}, {.terminal = true}).out,
            "model    shop\nversion  3\nstate    serving\n");
  EXPECT_EQ(Run({"model", "--output=json"}).out,
            "{\"name\":\"shop\",\"version\":\"3\","
            "\"state\":\"MODEL_STATE_SERVING\"}\n");
}

TEST_F(CliTest, ModelListHasEveryVersionAndItsFailure) {
  EXPECT_EQ(Run({"model", "--list"}, {.terminal = true}).out,
            "model  version  state             loaded  failure\n"
            "shop   4        failed                    "
            "weights.safetensors: cut\n"
            "shop   3        serving, current\n");
  EXPECT_EQ(Run({"model", "--list", "--output=json"}).out,
            "{\"name\":\"shop\",\"version\":\"4\",\"state\":"
            "\"MODEL_STATE_FAILED\",\"failure\":{\"message\":"
            "\"weights.safetensors: cut\"}}\n"
            "{\"name\":\"shop\",\"version\":\"3\",\"state\":"
            "\"MODEL_STATE_SERVING\",\"current\":true}\n");
}

TEST_F(CliTest, ModelReloadPrintsPreviousVersionOrFailure) {
  EXPECT_EQ(Run({"model", "--reload", "--model_version=2"}).out,
            "model\tshop\nversion\t2\nstate\tserving\nversion before\t3\n"
            "loaded\tnow\n");
  EXPECT_THAT(Run({"model", "--reload", "--model_version=3"}).out,
              HasSubstr("loaded\tno, it was current already\n"));
  EXPECT_THAT(
      Run({"model", "--reload", "--model_version=2", "--output=json"}).out,
      ::testing::EndsWith("\"changed\":true}\n"));
  const ProgramResult failed = Run({"model", "--reload", "--model_version=4"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("weights.safetensors: cut"));
}

TEST_F(CliTest, LimitsPrintsEveryLimit) {
  EXPECT_THAT(Run({"limits"}).out,
              AllOf(HasSubstr("max_texts_per_request\t1000\n"),
                    HasSubstr("max_request_bytes\t5000000000\n"),
                    HasSubstr("max_connections\t0\n"),
                    HasSubstr("max_share_per_caller\t0.5\n")));
  EXPECT_THAT(Run({"limits", "--output=json"}).out,
              HasSubstr("\"max_texts_per_request\":1000"));
}

}  // namespace
}  // namespace semrank
