// Sends Rank calls, or requests of RankStream, to a server for some time and
// measures them.
//
// With a rate, calls are sent when they are due, whether or not earlier ones
// were answered, and a latency begins when the call was due: a server that
// stalls is charged with all the waiting it causes ("coordinated omission" is
// what leaving that out is called). Otherwise a number of calls is kept in
// flight, each sent when another is answered, which shows what the server can
// take. No call is repeated: each refusal is counted.
#ifndef SEMRANK_CLIENT_LOAD_LOAD_H_
#define SEMRANK_CLIENT_LOAD_LOAD_H_

#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/lib/client_options.h"
#include "client/load/latency_recorder.h"
#include "client/load/load_requests.h"

namespace semrank {

struct LoadOptions {
  // Calls a second; 0 = keep `inflight` calls in flight.
  double rate = 0;
  // With a rate, the most that may be unanswered: then calls wait, and are
  // sent late.
  int inflight = 1;
  // Of what is measured.
  absl::Duration duration = absl::Seconds(10);
  // Before that, with the same load.
  absl::Duration warmup = absl::Seconds(1);
  // Connections, used in turn; positive.
  int connections = 1;
  // Send the calls of a connection as requests of one RankStream.
  bool stream = false;
  // A bar on standard error.
  bool show_progress = false;
};

struct LoadReport {
  absl::Duration duration = {};    // shorter than wanted after Ctrl-C
  LatencyRecorder latencies = {};  // of the calls that went well
  std::map<absl::StatusCode, std::int64_t> num_failed = {};
  absl::Status first_failure = {};  // OK = none
  // Calls sent more than a millisecond after they were due.
  std::int64_t num_late = 0;
  // Calls that were due and could not be sent: too many were unanswered.
  std::int64_t num_unsent = 0;
};

// Returns early after Ctrl-C (interrupt.h). InvalidArgument for bad client
// options; that calls fail is no error here.
absl::StatusOr<LoadReport> RunLoad(const ClientOptions& client,
                                   const LoadOptions& options,
                                   LoadRequests& requests);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LOAD_LOAD_H_
