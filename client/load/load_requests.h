// The requests that a load generator sends.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_REQUESTS_H_
#define SEMRANK_CLIENT_LOAD_LOAD_REQUESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

struct LoadRequestOptions {
  std::string query = "edit photos";
  // Taken in turn; empty = made-up ones of about 50 bytes.
  std::vector<std::string> titles = {};
  // Of one call; positive.
  int num_titles = 100;
  // Every title gets a word that no title had before, also in other runs, so
  // that no vector of it can be cached.
  bool new_titles = false;
};

// Not for several threads.
class LoadRequests {
 public:
  explicit LoadRequests(LoadRequestOptions options);

  // Valid until the next call.
  const v1::RankRequest& Next();

 private:
  const LoadRequestOptions options_;
  const std::string run_;  // a word of this run
  std::uint64_t num_titles_sent_ = 0;
  v1::RankRequest request_;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_REQUESTS_H_
