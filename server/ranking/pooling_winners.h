// Which words a CLSM tower looked at: the most active units of its max-pooling
// layer, and the window that gave each its maximum (CLSM, table 3 and figure
// 4).
//
//   Threads  free function, from any thread.
#ifndef SEMRANK_SERVER_RANKING_POOLING_WINNERS_H_
#define SEMRANK_SERVER_RANKING_POOLING_WINNERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/nn/two_tower_model.h"

namespace semrank {

struct PoolingWinner {
  std::uint32_t unit = 0;
  float activation = 0;
  std::uint32_t position = 0;  // of the word, from 0
  std::string word;            // the middle of the window
  std::string window;          // its words, without the padding
};

// The `max_units` most active units, most active first, equal ones in order.
// Empty for a text without words and for towers without a pooling layer.
std::vector<PoolingWinner> FindPoolingWinners(const TwoTowerModel& model,
                                              Side side,
                                              std::string_view normalized,
                                              std::uint32_t max_units);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RANKING_POOLING_WINNERS_H_
