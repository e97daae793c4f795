// A load generator: it sends Rank calls, or requests of RankStream, for some
// time and measures them.
//
//   Goodput      calls answered OK within the deadline, which starts when the
//                call is due.
//   Open loop    with a rate, calls are sent when they are due, whether or not
//                earlier ones were answered, and a latency starts when its call
//                is due. So a stalled server is charged for all the waiting it
//                causes; ignoring it is known as coordinated omission.
//   Closed loop  without a rate, a fixed number of calls stays in flight, which
//                shows the server's throughput.
//   Retries      none: every rejection is counted.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_H_
#define SEMRANK_CLIENT_LOAD_LOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "client/load/load_report.h"
#include "semrank/v1/ranking_service.pb.h"

namespace semrank {

struct LoadRequestOptions {
  std::string query = "edit photos";
  // The titles are used in turn; empty = generated titles of about 50 bytes.
  std::vector<std::string> titles = {};
  // Titles per call; positive.
  int num_titles = 100;
  // Add a word to every title that no title had before, in any run, so that
  // no vector can come from a cache.
  bool new_titles = false;
  // Each call ranks `num_titles` of the ids 0 to num_ids - 1 in turn instead of
  // titles; the catalog should have them. 0 = titles.
  std::int64_t num_ids = 0;
};

// Not thread-safe.
class LoadRequests {
 public:
  explicit LoadRequests(LoadRequestOptions options);

  // Valid until the next call.
  const v1::RankRequest& Next();

 private:
  void AddTitle();

  const LoadRequestOptions options_;
  const std::string run_;  // a word that is unique to this run
  std::uint64_t num_candidates_sent_ = 0;
  v1::RankRequest request_;
};

struct LoadOptions {
  // Calls per second; 0 = keep `inflight` calls in flight.
  double rate = 0;
  // With a rate, the most calls in flight: further calls are sent late. At
  // most MaxInflight of the requests.
  int inflight = 1;
  // How long to measure, after the same load for the time of the warm-up.
  absl::Duration duration = absl::Seconds(10);
  absl::Duration warmup = absl::Seconds(1);
  // Connections, used in turn; positive.
  int connections = 1;
  // Send the calls of each connection as requests of one RankStream.
  bool stream = false;
  // Show a progress bar on standard error.
  bool show_progress = false;
};

// The most calls that a run may have in flight, whatever their size.
inline constexpr int kMaxInflight = 10'000;
// How many such calls may be in flight: they take at most about 1 GiB, and
// there are at most kMaxInflight.
int MaxInflight(LoadRequests& requests);

// After SIGINT or SIGTERM (interrupt.h) it cancels the calls in flight and
// returns at once. InvalidArgument for bad client options; failed calls are
// part of the report.
absl::StatusOr<LoadReport> RunLoad(const ClientOptions& client,
                                   const LoadOptions& options,
                                   LoadRequests& requests);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_H_
