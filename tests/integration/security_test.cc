// The server and the client with keys and certificates, as an operator and a
// caller use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/server_program.h"
#include "tests/support/http_client.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/test_certificates.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::HasSubstr;

const std::string kServer = SEMRANK_BINARY_DIR "/semrank-server";
const std::string kClient = SEMRANK_BINARY_DIR "/semrank";

TEST(SecurityTest, TheClientReachesAServerThatAsksForCertificateAndKey) {
  const TestCertificates files;
  files.Make("server");
  files.Make("client");
  const std::string model_dir = files.dir().File("tiny");
  PublishTinyModel(model_dir);
  const std::string keys = files.dir().Write(
      "keys",
      "read ec4408df15da46b328f6f3246fa723d0aa6cb0f0a0dd9c4626080ab1b02aa3b2");
  const ServerProcess server(
      kServer,
      {"--model_dir=" + model_dir, "--tls_cert=" + files.Cert("server"),
       "--tls_key=" + files.Key("server"), "--tls_client_ca=" + files.ca(),
       "--api_keys_file=" + keys});
  std::vector<std::string> rank = {kClient,
                                   "--address=" + server.grpc_address(),
                                   "--tls_ca=" + files.ca(),
                                   "--tls_cert=" + files.Cert("client"),
                                   "--tls_key=" + files.Key("client"),
                                   "rank",
                                   "--query=shoes",
                                   "a lamp",
                                   "blue shoes"};
  const ProgramResult refused = RunProgram(rank);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--api_key_file=FILE"));
  const ProgramResult ranked =
      RunProgram(rank, {.environment = {"SEMRANK_API_KEY=reader-key"}});
  EXPECT_EQ(ranked.exit_code, 0) << ranked.err;
  EXPECT_THAT(ranked.out, HasSubstr("blue shoes"));
  rank.insert(rank.begin() + 1,
              "--api_key_file=" + files.dir().Write("key", "reader-key\n"));
  EXPECT_EQ(RunProgram(rank).exit_code, 0);
  // JSON calls need both as well; pages need neither.
  const HttpClientTls no_certificate = {files.ca()};
  const HttpClientTls certificate = {files.ca(), files.Cert("client"),
                                     files.Key("client")};
  const HttpMessage json = {"Authorization: Bearer reader-key\r\n",
                            R"({"query": "q", "titles": ["a"]})"};
  const auto status = [&](const HttpMessage& message,
                          const HttpClientTls& tls) {
    return CallHttp(server.http_address(), "POST", "/v1/rank", message, tls)
        .status;
  };
  EXPECT_EQ(status(json, certificate), 200);
  EXPECT_EQ(status(json, no_certificate), 403);
  EXPECT_EQ(status({"", json.body}, certificate), 401);
  EXPECT_EQ(
      CallHttp(server.http_address(), "GET", "/readyz", {}, no_certificate)
          .status,
      200);
  // A stream sends key and certificate, too.
  std::vector<std::string> load(rank.begin(), rank.begin() + 6);
  load.insert(load.end(), {"load", "--stream", "--inflight=4",
                           "--duration=100ms", "--output=json"});
  const ProgramResult loaded = RunProgram(load);
  EXPECT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_THAT(loaded.out, HasSubstr("\"failed\":{}"));
}

TEST(SecurityTest, FilesThatCannotBeUsedFailTheStartAndAreNamed) {
  const TestCertificates files;
  files.Make("one");
  files.Make("two");
  const std::string bad_keys = files.dir().Write("keys", "reader abc");
  for (const auto& [flags, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--api_keys_file=" + bad_keys}, bad_keys + ": line 1"},
           {{"--api_keys_file=/none/keys"}, "/none/keys"},
           {{"--tls_cert=" + files.Cert("one"),
             "--tls_key=" + files.Key("two")},
            "not the key of"}}) {
    std::vector<std::string> command = {kServer, "--model_dir=x",
                                        "--http_address=127.0.0.1:0"};
    command.insert(command.end(), flags.begin(), flags.end());
    const ProgramResult result = RunProgram(command);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace semrank
