// Where the time of a call went, for people who ask with --timings.
#ifndef SEMRANK_CLIENT_OUTPUT_TIMINGS_H_
#define SEMRANK_CLIENT_OUTPUT_TIMINGS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/time.h"
#include "semrank/v1/common.pb.h"

namespace semrank {

struct CallFacts {
  absl::Duration round_trip = {};  // as seen here
  v1::Timings server = {};
  v1::ModelRef model = {};
  std::uint32_t cache_hits = 0;
  std::uint32_t cache_misses = 0;
  // Part of cache_hits; 0 where the call does not tell.
  std::uint32_t store_hits = 0;
};

// "timings: 1.23 ms round trip, server 0.91 ms (queue 0.01, parse 0.10, cache
// 0.05, embed 0.70, score 0.05); 3 vectors cached, 2 computed; model shop/3".
std::string DescribeCall(const CallFacts& facts);

// Prints that on standard error if --timings is set.
void PrintTimingsIfWanted(const CallFacts& facts);

// The server's stages in milliseconds, by name.
nlohmann::ordered_json TimingsToJson(const v1::Timings& timings);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_TIMINGS_H_
