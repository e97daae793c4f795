// `semrank model` and `semrank limits`.
#include "tests/client/commands/cli_test.h"

namespace semrank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(CliTest, ModelPrintsFacts) {
  server_.OnGetModel(
      [](const v1::GetModelRequest&, v1::GetModelResponse* response) {
        response->mutable_model()->set_name("shop");
        response->mutable_model()->set_version(3);
        response->mutable_model()->set_state(v1::MODEL_STATE_SERVING);
        return grpc::Status::OK;
      });
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
                    HasSubstr("max_connections\t0\n")));
  EXPECT_THAT(Run({"limits", "--output=json"}).out,
              HasSubstr("\"max_texts_per_request\":1000"));
}

}  // namespace
}  // namespace semrank
