// A server in the test's own process, without ports and without threads of its
// own: calls go through its parts, and time stands still until the test acts.
#ifndef SEMRANK_TESTS_SUPPORT_TEST_SERVER_H_
#define SEMRANK_TESTS_SUPPORT_TEST_SERVER_H_

#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "server/server.h"
#include "tests/support/memory_source.h"

namespace semrank {

// Serves version 1 of `folder`, which outlives the server, as "tiny" with the
// alias "lab/small", before the models of `substitutes`. One worker, unless
// `substitutes` asks for more.
inline std::unique_ptr<Server> MakeTestServer(
    MemoryFolder& folder, std::shared_ptr<const TwoTowerModel> model,
    ServerOptions options = {}, ServerSubstitutes substitutes = {}) {
  folder.Put(1, std::move(model));
  substitutes.models.insert(
      substitutes.models.begin(),
      ModelChoice{folder.Source("tiny"), 0, {"lab/small"}});
  if (substitutes.workers.num_threads == 0) substitutes.workers.num_threads = 1;
  substitutes.parts_only = true;
  options.cache_bytes = 8 << 20;
  auto server = Server::Create(options, std::move(substitutes)).value();
  if (const absl::Status started = server->Start(); !started.ok()) {
    std::cerr << started << "\n";
    std::abort();
  }
  return server;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_TEST_SERVER_H_
