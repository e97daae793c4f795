#include "server/rpc/grpc_log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include "absl/time/clock.h"
#include "server/base/log_throttle.h"

namespace semrank {
namespace {

constexpr int kMaxLinesPerSecond = 10;

void LogGrpc(gpr_log_func_args* args) {
  static LogThrottle& throttle = *new LogThrottle(kMaxLinesPerSecond);
  std::int64_t num_dropped = 0;
  if (!throttle.Allow(absl::Now(), num_dropped)) return;
  const bool is_error = args->severity == GPR_LOG_SEVERITY_ERROR;
  spdlog::log(is_error ? spdlog::level::warn : spdlog::level::debug, "gRPC: {}",
              args->message);
  if (num_dropped > 0) {
    spdlog::warn("{} such lines were dropped before", num_dropped);
  }
}

}  // namespace

void CatchGrpcLog() { gpr_set_log_function(&LogGrpc); }

}  // namespace semrank
