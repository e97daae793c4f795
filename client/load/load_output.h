// What a load run measured, for people and for programs.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_OUTPUT_H_
#define SEMRANK_CLIENT_LOAD_LOAD_OUTPUT_H_

#include <nlohmann/json.hpp>

#include "client/load/load.h"
#include "client/output/table.h"

namespace semrank {

// Rows (what, value): calls, calls a second, late and unsent ones, latencies,
// and one for each code that calls failed with.
Table LoadTable(const LoadReport& report);

// {"seconds", "calls", "calls_per_second", "late_sends", "unsent",
// "latency_ms": {"mean", "p50", "p90", "p99", "p99.9", "max"}, "failed":
// {"UNAVAILABLE": 3, ...}}; "calls" are those that went well.
nlohmann::ordered_json LoadJson(const LoadReport& report);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_OUTPUT_H_
