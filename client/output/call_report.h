// What a command reports about a call on standard error: timings, or the error
// with a hint.
#ifndef SEMRANK_CLIENT_OUTPUT_CALL_REPORT_H_
#define SEMRANK_CLIENT_OUTPUT_CALL_REPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "semrank/v1/common.pb.h"

namespace semrank {

// The status of a failed call for a user of the command line: the same code, a
// message on one line without control characters and, where one is known, a
// hint at its end. OK stays OK.
absl::Status WithHint(const absl::Status& status);

struct CallFacts {
  absl::Duration round_trip = {};  // measured by the client
  v1::Timings server = {};
  v1::ModelRef model = {};
  std::uint32_t cache_hits = 0;
  std::uint32_t cache_misses = 0;
  // Part of cache_hits; 0 for calls that do not report it.
  std::uint32_t store_hits = 0;
};

// "timings: 1.23 ms round trip, server 0.91 ms (queue 0.01, parse 0.10, cache
// 0.05, embed 0.70, score 0.05); 3 vectors cached, 2 computed; model shop/3".
std::string DescribeCall(const CallFacts& facts);

// The server's stages in milliseconds, by name.
nlohmann::ordered_json TimingsToJson(const v1::Timings& timings);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_CALL_REPORT_H_
