// semrank-server: see kUsage.
#ifdef SEMRANK_MIMALLOC
#include <mimalloc.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/command_line.h"
#include "model/cli/standard_streams.h"
#include "server/auth/secrets.h"
#include "server/base/logging.h"
#include "server/open_files.h"
#include "server/options.h"
#include "server/server.h"
#include "server/supervisor.h"

namespace semrank {
namespace {

constexpr std::string_view kUsage =
    R"(semrank-server --model_dir=DIR [--listen_address=HOST:PORT] [--http_address=HOST:PORT]

Answers semrank.v1 over gRPC. Over HTTP: the same calls as JSON and in the
forms of other products (/openapi.json), /metrics, /healthz, /readyz and, for
people, a playground at / and /statusz. Once ready it prints one line on
standard output:
  semrank-server ready grpc=HOST:PORT http=HOST:PORT
SIGTERM or Ctrl-C ends it after the running calls; a second one at once.
New versions of a model are served as they appear; SIGHUP looks for them, and for
new keys and certificates, now.

  semrank-server --model_dir=models/shop
  semrank-server --model_dir=shop=models/shop,news=models/news --model_version=shop=3
  semrank-server --model_dir=models/shop --listen_address=0.0.0.0:50051 --drain_delay=5s
)";
constexpr ProgramInfo kProgram = {
    .name = "semrank-server",
    .summary = "ranks documents for queries over gRPC",
    .usage = kUsage};

// Returns a Cancelled error when a signal ends the start.
absl::Status Serve(const ServerOptions& options) {
  Signals signals;
  SEMRANK_ASSIGN_OR_RETURN(const auto server, Server::Create(options));
  SEMRANK_RETURN_IF_ERROR(server->Start(
      {.cancelled = [&] { return signals.stop_requested(); },
       .wait = [&](absl::Duration time) { signals.WaitFor(time); }}));
  absl::PrintF("semrank-server ready %s\n", server->addresses());
  // Scripts and tests wait for this line on a pipe, where standard output is
  // fully buffered.
  std::fflush(stdout);
  const int signal_number = signals.WaitForStop([&] { server->Reload(); });
  LogInfo("signal %d: draining", signal_number);
  server->Stop(absl::Now() + options.drain_delay + options.drain_timeout);
  return absl::OkStatus();
}

// Returns freed pages to the system after a second, where mimalloc would after
// 25 ms. Bodies and responses of 100 KB and more need the same pages call after
// call, and clearing new ones took half of the CPU time of a call with 100
// vectors in JSON. MIMALLOC_DECOMMIT_DELAY in the environment still counts.
void KeepFreedPages() {
#ifdef SEMRANK_MIMALLOC
  mi_option_set_default(mi_option_decommit_delay, /*milliseconds=*/1'000);
#endif
}

int Main(int argc, char** argv) {
  KeepFreedPages();
  ReserveStandardStreams();
  IgnoreBrokenPipes();
  // Before any other thread is made: threads inherit the mask.
  BlockSignals();
  ServerOptions options;
  CommandLine command_line(kProgram);
  AddServerFlags(command_line, options);
  if (const auto exit_code = command_line.Parse(argc, argv)) return *exit_code;
  // FinishOptions fits --max_connections into the limit.
  RaiseOpenFileLimit();
  const absl::Status finished = FinishOptions(command_line, options);
  if (!finished.ok()) return command_line.ExitCode(finished);
  // After FinishOptions, whose errors count here, too.
  if (options.print_config || options.check_config) {
    absl::PrintF("%s", DescribeConfig(command_line));
    return command_line.ExitCode(
        options.check_config ? Secrets::Check(options.security.api_keys_file,
                                              options.security.tls)
                             : absl::OkStatus());
  }
  // Errors up to here are those of the command line, and are not log lines.
  const bool json_log = options.log_format == LogFormat::kJson;
  InitLogging(json_log);
  if (!command_line.IsSet("max_connections")) {
    WarnAboutFewConnections(options.limits.max_connections);
  }
  const absl::Status served = Serve(options);
  // A signal during the start asks for a clean stop, which is not a failure.
  if (absl::IsCancelled(served)) {
    LogInfo("stopped before it was ready");
    return EXIT_SUCCESS;
  }
  if (!served.ok() && json_log) {
    // Programs that read the log as JSON find the reason there too.
    Log(LogLevel::kCritical, ToStd(served.message()));
    return EXIT_FAILURE;
  }
  return command_line.ExitCode(served);
}

}  // namespace
}  // namespace semrank

int main(int argc, char** argv) { return semrank::Main(argc, argv); }
