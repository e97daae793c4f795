// A server with a tiny model and an empty catalog, in this process, for fuzzers
// of requests.
#ifndef SEMRANK_TESTS_FUZZ_FUZZ_SERVER_H_
#define SEMRANK_TESTS_FUZZ_FUZZ_SERVER_H_

#include "tests/fuzz/fuzz_check.h"
#include "tests/support/test_server.h"
#include "tests/support/tiny_model.h"

namespace semrank {

// Lives as long as the process.
inline Server& MakeFuzzServer() {
  static MemoryFolder& folder = *new MemoryFolder;
  ServerOptions options;
  options.limits = {.max_texts_per_request = 100, .max_inflight_texts = 1'000};
  options.max_catalog_documents = 1'000;
  return *MakeTestServer(folder, MakeTinyModel({.lexical_weight = 0.3}),
                         options)
              .release();
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_FUZZ_FUZZ_SERVER_H_
