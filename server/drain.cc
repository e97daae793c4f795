#include "server/drain.h"

#include <spdlog/spdlog.h>

#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/stop.h"

namespace semrank {
namespace {

// How long a stop may exceed its flags before the watchdog ends it.
constexpr absl::Duration kStopSlack = absl::Seconds(5);
// Part of it: time for JSON calls to send that they were cancelled.
constexpr absl::Duration kBreakOffTime = absl::Seconds(1);

// False when some had to be cancelled.
bool EndHttpCalls(absl::Time limit, const HttpServer& http,
                  Lifecycle& lifecycle) {
  const bool all_ended = http.WaitForCalls(limit);
  lifecycle.Advance(Lifecycle::State::kEnding);
  if (!all_ended) http.WaitForCalls(absl::Now() + kBreakOffTime);
  return all_ended;
}

}  // namespace

void Drain(const ServerOptions& options, Lifecycle& lifecycle,
           Listeners listeners) {
  const Watchdog watchdog(options.drain_delay + options.drain_timeout +
                          kStopSlack);
  lifecycle.Advance(Lifecycle::State::kDraining);
  listeners.rpc->ReportNotServing();
  if (listeners.health != nullptr) listeners.health->ReportNotServing();
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(options.drain_delay));
  lifecycle.Advance(Lifecycle::State::kStopping);
  const absl::Time limit = absl::Now() + options.drain_timeout;
  bool all_ended = listeners.rpc->Stop(options.drain_timeout);
  all_ended &= EndHttpCalls(limit, *listeners.http, lifecycle);
  listeners.http.reset();
  spdlog::info("stopped; running calls {}",
               all_ended ? "ended" : "had to be cancelled");
}

}  // namespace semrank
