// What a server tries on a share of the lists that are shown (EXPERIMENTS.md).
#ifndef SEMRANK_SERVER_RANKING_EXPERIMENTS_H_
#define SEMRANK_SERVER_RANKING_EXPERIMENTS_H_

#include <string>

namespace semrank {

struct Experiments {
  // The share of impressions that have two results exchanged (explore.h).
  double explore_rate = 0;
  // The share of impressions of model A that are interleaved with the ranking
  // of model B (interleave.h). Names of two served models; 0 = none.
  double interleave_share = 0;
  std::string interleave_a = {};
  std::string interleave_b = {};
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_EXPERIMENTS_H_
