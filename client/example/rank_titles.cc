// rank_titles HOST:PORT QUERY TITLE...: prints the titles, best first.
#include <cstdio>

#include "client/lib/semrank_client.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto client = semrank::SemrankClient::Create({.address = argv[1]});
  if (!client.ok()) return 2;
  semrank::v1::RankRequest request;
  request.set_query(argv[2]);
  for (int i = 3; i < argc; ++i) request.add_titles(argv[i]);
  const auto ranking = (*client)->Rank(request);
  if (!ranking.ok()) {
    std::fprintf(stderr, "%s\n", ranking.status().ToString().c_str());
    return 1;
  }
  for (int i = 0; i < ranking->indices_size(); ++i) {
    const int index = static_cast<int>(ranking->indices(i));
    std::printf("%7.4f  %s\n", ranking->scores(i),
                request.titles(index).c_str());
  }
}
