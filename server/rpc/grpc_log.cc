#include "server/rpc/grpc_log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include <string>

#include "absl/time/clock.h"
#include "server/core/log_throttle.h"

namespace semrank {
namespace {

constexpr int kMaxLinesPerSecond = 10;

void LogThrottled(spdlog::level::level_enum level, const char* source,
                  const std::string& message) {
  static LogThrottle& throttle = *new LogThrottle(kMaxLinesPerSecond);
  std::int64_t num_dropped = 0;
  if (!throttle.Allow(absl::Now(), num_dropped)) return;
  spdlog::log(level, "{}: {}", source, message);
  if (num_dropped > 0) {
    spdlog::warn("{} such lines were dropped before", num_dropped);
  }
}

void LogGrpc(gpr_log_func_args* args) {
  const bool is_error = args->severity == GPR_LOG_SEVERITY_ERROR;
  LogThrottled(is_error ? spdlog::level::warn : spdlog::level::debug, "gRPC",
               args->message);
}

}  // namespace

void CatchGrpcLog() { gpr_set_log_function(&LogGrpc); }

void LogBug(const absl::Status& status) {
  LogThrottled(spdlog::level::err, "bug", status.ToString());
}

}  // namespace semrank
