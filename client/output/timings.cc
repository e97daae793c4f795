#include "client/output/timings.h"

#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"

ABSL_FLAG(bool, timings, false,
          "Say on standard error how long the call took, stage by stage in "
          "milliseconds, and how many vectors were cached.");

namespace semrank {
namespace {

double Milliseconds(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e6;
}

}  // namespace

std::string DescribeCall(const CallFacts& facts) {
  const v1::Timings& server = facts.server;
  const std::string from_store =
      facts.store_hits == 0
          ? ""
          : absl::StrFormat(" (%d of them in the store)", facts.store_hits);
  return absl::StrFormat(
      "timings: %.2f ms round trip, server %.2f ms (queue %.2f, parse %.2f, "
      "cache %.2f, embed %.2f, score %.2f); %d vectors cached%s, %d computed; "
      "model %s/%d",
      absl::ToDoubleMilliseconds(facts.round_trip),
      Milliseconds(server.total_nanos()), Milliseconds(server.queue_nanos()),
      Milliseconds(server.parse_nanos()), Milliseconds(server.cache_nanos()),
      Milliseconds(server.embed_nanos()), Milliseconds(server.score_nanos()),
      facts.cache_hits, from_store, facts.cache_misses, facts.model.name(),
      facts.model.version());
}

void PrintTimingsIfWanted(const CallFacts& facts) {
  if (!absl::GetFlag(FLAGS_timings)) return;
  absl::FPrintF(stderr, "%s\n", DescribeCall(facts));
}

nlohmann::ordered_json TimingsToJson(const v1::Timings& timings) {
  return {{"queue", Milliseconds(timings.queue_nanos())},
          {"parse", Milliseconds(timings.parse_nanos())},
          {"cache", Milliseconds(timings.cache_nanos())},
          {"embed", Milliseconds(timings.embed_nanos())},
          {"score", Milliseconds(timings.score_nanos())},
          {"total", Milliseconds(timings.total_nanos())}};
}

}  // namespace semrank
