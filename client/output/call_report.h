// What a command reports about a call on standard error: an error with a hint,
// refused items, or timings.
#ifndef SEMRANK_CLIENT_OUTPUT_CALL_REPORT_H_
#define SEMRANK_CLIENT_OUTPUT_CALL_REPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "semrank/v1/common.pb.h"

namespace semrank {

// The status of a failed call for a user of the command line: the same code, a
// message on one line without control characters and, where one is known, a
// hint at its end. OK stays OK.
absl::Status WithHint(const absl::Status& status);

// Reports on standard error which items of a request the server refused: a line
// "not ranked: title 3 (gimp): why" for each of the first ten.
class ProblemReport {
 public:
  // "not ranked"; must outlive the report.
  explicit ProblemReport(std::string_view action) : action_(action) {}

  void Add(std::string_view item, const v1::Problem& problem);
  // "not ranked: 5 more titles", if there were more than ten.
  void PrintNumberOfOthers(std::string_view items) const;

  std::int64_t count() const { return count_; }

 private:
  const std::string_view action_;
  std::int64_t count_ = 0;
};

// "; 3 lines skipped", the end of a summary; "" for none.
std::string DescribeSkipped(std::int64_t num_lines);

// "title 3 (gimp)": what, number and, if there is one, id of an item.
std::string DescribeItem(std::string_view what, std::int64_t index,
                         std::string_view id);

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

// The model that answered.
nlohmann::ordered_json ModelToJson(const v1::ModelRef& model);

// The server's stages in milliseconds, by name.
nlohmann::ordered_json TimingsToJson(const v1::Timings& timings);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_CALL_REPORT_H_
