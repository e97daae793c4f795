// Three real servers share one real redis-server, which the tests kill, empty
// and trim. Another test replaces a server's model during searches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "tests/integration/server_program.h"
#include "tests/support/http_client.h"
#include "tests/support/redis_process.h"
#include "tests/support/run_program.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

HttpAnswer Post(const ServerProcess& server, const std::string& path,
                const std::string& body) {
  return CallHttp(server.http_address(), "POST", path, {.body = body});
}

HttpAnswer Put(const ServerProcess& server, const std::string& id,
               const std::string& title) {
  return Post(server, "/v1/put",
              absl::StrFormat(
                  R"({"documents": [{"document_id": "%s", "title": "%s"}]})",
                  id, title));
}

// MustPut and MustDelete expect that the server acknowledges the write.
void MustPut(const ServerProcess& server, const std::string& id,
             const std::string& title) {
  const HttpAnswer answer = Put(server, id, title);
  ASSERT_EQ(answer.status, 200) << answer.body;
}
void MustDelete(const ServerProcess& server, const std::string& id) {
  const HttpAnswer answer = Post(
      server, "/v1/delete", absl::StrFormat(R"({"document_ids": ["%s"]})", id));
  ASSERT_EQ(answer.status, 200) << answer.body;
}

// Returns the answer's body, which has the first hit.
std::string Search(const ServerProcess& server, const std::string& query) {
  return Post(server, "/v1/search",
              absl::StrFormat(R"({"query": "%s", "top_k": 1})", query))
      .body;
}

void WaitUntil(const std::function<bool()>& holds) {
  const auto limit =
      std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
    std::this_thread::yield();
  }
}

class ReplicasTest : public ::testing::Test {
 protected:
  explicit ReplicasTest(std::vector<std::string> redis_arguments = {})
      : redis_(std::move(redis_arguments)) {
    PublishTinyModel(dir_.File("tiny"));
    for (auto& server : servers_) {
      server = std::make_unique<ServerProcess>(
          kServer, std::vector<std::string>{"--model_dir=" + dir_.File("tiny"),
                                            "--store=" + redis_.url()});
    }
  }

  const ServerProcess& server(int i) const { return *servers_[i]; }
  // Waits until every server has `id` with this title, and finds it by the
  // title.
  void ExpectEverywhere(const std::string& id, const std::string& title) {
    for (const auto& server : servers_) {
      WaitUntil([&] {
        const std::string documents =
            Post(*server, "/v1/get",
                 absl::StrFormat(R"({"document_ids": ["%s"]})", id))
                .body;
        return documents.find(title) != std::string::npos &&
               Search(*server, title)
                       .find(absl::StrFormat("\"document_id\":\"%s\"", id)) !=
                   std::string::npos;
      });
    }
  }
  void ExpectNumDocuments(int count) {
    const std::string line =
        absl::StrFormat("\nsemrank_catalog_documents %d\n", count);
    for (const auto& server : servers_) {
      WaitUntil([&] {
        return HttpGet(server->http_address(), "/metrics").body.find(line) !=
               std::string::npos;
      });
    }
  }
  std::string Metrics(int i) const {
    return HttpGet(server(i).http_address(), "/metrics").body;
  }
  // Runs a command of redis-cli.
  void Redis(const std::string& command) {
    const ProgramResult result = RunProgram(
        {"/bin/sh", "-c",
         absl::StrFormat("redis-cli -p %d %s", redis_.port(), command)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  const TempDir dir_;
  RedisProcess redis_;
  std::unique_ptr<ServerProcess> servers_[3];
};

TEST_F(ReplicasTest, WhatOneAcknowledgesAllFind) {
  MustPut(server(0), "boots", "red boots");
  MustPut(server(1), "lamp", "a lamp");
  ExpectEverywhere("boots", "red boots");
  ExpectEverywhere("lamp", "a lamp");
  MustPut(server(2), "boots", "green wellingtons");
  ExpectEverywhere("boots", "green wellingtons");
  MustDelete(server(1), "boots");
  ExpectNumDocuments(1);
  WaitUntil([&] {
    return Metrics(1).find("semrank_catalog_followed_documents_total 2\n") !=
           std::string::npos;
  });
  EXPECT_THAT(Metrics(1), HasSubstr("semrank_catalog_rereads_total 0\n"));
  WaitUntil([&] {
    return Metrics(1).find("\nsemrank_catalog_lag_seconds 0.") !=
           std::string::npos;
  });
  EXPECT_THAT(HttpGet(server(0).http_address(), "/statusz").body,
              HasSubstr("changes of other servers"));
}

TEST_F(ReplicasTest, ATrimmedLogIsMadeUpFor) {
  MustPut(server(0), "boots", "red boots");
  ExpectEverywhere("boots", "red boots");
  Redis("xtrim semrank:changes maxlen 0");
  MustPut(server(1), "lamp", "a lamp");
  ExpectEverywhere("lamp", "a lamp");
  ExpectNumDocuments(2);
  for (int i = 0; i < 3; ++i) {
    WaitUntil([&] {
      return Metrics(i).find("semrank_catalog_rereads_total 0\n") ==
             std::string::npos;
    });
  }
}

TEST_F(ReplicasTest, AnEmptyRedisAfterAKillIsWhatAllHave) {
  MustPut(server(0), "boots", "red boots");
  ExpectNumDocuments(1);
  redis_.Kill();
  const HttpAnswer refused = Put(server(0), "lamp", "a lamp");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("STORE_UNAVAILABLE"));
  EXPECT_THAT(Search(server(2), "red boots"), HasSubstr("boots"));
  redis_.StartAgain();
  ExpectNumDocuments(0);
  MustPut(server(1), "hat", "a hat");
  ExpectEverywhere("hat", "a hat");
  ExpectNumDocuments(1);
}

class DurableReplicasTest : public ReplicasTest {
 protected:
  DurableReplicasTest()
      : ReplicasTest({"--appendonly", "yes", "--appendfsync", "always"}) {}
};

TEST_F(DurableReplicasTest, NothingIsLostNorReadAgainWhenRedisIsKilled) {
  MustPut(server(0), "boots", "red boots");
  ExpectNumDocuments(1);
  redis_.Kill();
  redis_.StartAgain();
  MustPut(server(1), "lamp", "a lamp");
  MustDelete(server(2), "boots");
  ExpectEverywhere("lamp", "a lamp");
  ExpectNumDocuments(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Metrics(i), HasSubstr("semrank_catalog_rereads_total 0\n"));
  }
}

TEST_F(DurableReplicasTest, AServerThatIsKilledFindsWhatItMissed) {
  servers_[2]->Signal(SIGKILL);
  servers_[2]->Wait();
  MustPut(server(0), "boots", "red boots");
  servers_[2] = std::make_unique<ServerProcess>(
      kServer, std::vector<std::string>{"--model_dir=" + dir_.File("tiny"),
                                        "--store=" + redis_.url()});
  EXPECT_THAT(Search(server(2), "red boots"), HasSubstr("boots"));
  MustPut(server(0), "lamp", "a lamp");
  ExpectEverywhere("lamp", "a lamp");
}

// A thread searches throughout. One of the two models answers each search, with
// that model's score. tests/chaos/replicas.py does this with many documents.
TEST(CatalogSwapTest, NoSearchFailsOrIsMixedWhileModelsTakeTurns) {
  const TempDir dir;
  PublishTinyModel(dir.File("tiny"));
  PublishTinyModel(dir.File("tiny"), {.seed = 2});
  const ServerProcess server(
      kServer, {"--model_dir=" + dir.File("tiny"), "--enable_admin_rpcs"});
  std::string documents = R"({"documents": [)";
  for (int i = 0; i < 2'000; ++i) {
    documents +=
        absl::StrFormat(R"(%s{"document_id": "%d", "title": "hat %d"})",
                        i == 0 ? "" : ",", i, i);
  }
  ASSERT_EQ(Post(server, "/v1/put", documents + "]}").status, 200);
  const auto pin = [&](int version) {
    const HttpAnswer answer =
        Post(server, "/v1/reload",
             absl::StrFormat(R"({"model": {"version": %d}})", version));
    ASSERT_EQ(answer.status, 200) << answer.body;
  };
  const auto search = [&] {
    const HttpAnswer answer =
        Post(server, "/v1/search", R"({"query": "some hats", "top_k": 3})");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body.substr(0, answer.body.find("\"timings\""));
  };
  const auto wait_for = [&](int version) {
    WaitUntil([&] {
      return search().find(absl::StrFormat("\"version\":\"%d\"", version)) !=
             std::string::npos;
    });
  };
  const std::string of_2 = search();
  pin(1);
  wait_for(1);
  const std::string of_1 = search();
  EXPECT_NE(of_1, of_2);
  std::atomic<bool> stop = false;
  std::thread searches([&] {
    while (!stop) EXPECT_THAT(search(), AnyOf(of_1, of_2));
  });
  const auto num_embedded = [&] {
    const std::string metrics = HttpGet(server.http_address(), "/metrics").body;
    const std::string name = "semrank_texts_embedded_total{side=\"document\"} ";
    return std::stoi(metrics.substr(metrics.find(name) + name.size()));
  };
  const int embedded_once = num_embedded();
  for (const int version : {2, 1, 2}) {
    pin(version);
    wait_for(version);
  }
  stop = true;
  searches.join();
  // Both models' vectors were in memory, so nothing was embedded again.
  EXPECT_EQ(num_embedded(), embedded_once);
}

}  // namespace
}  // namespace semrank
