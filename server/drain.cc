#include "server/drain.h"

#include <spdlog/spdlog.h>

#include <thread>

#include "absl/time/time.h"
#include "server/stop.h"

namespace semrank {
namespace {

// What a stop may take beyond its flags before it counts as hanging.
constexpr absl::Duration kStopSlack = absl::Seconds(5);

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
  const bool all_ended = listeners.rpc->Stop(options.drain_timeout);
  // Waits for JSON calls that still run, under the watchdog's eyes.
  listeners.http.reset();
  spdlog::info("stopped; running calls {}",
               all_ended ? "ended" : "had to be cancelled");
}

}  // namespace semrank
