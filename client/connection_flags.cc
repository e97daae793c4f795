#include "client/connection_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "absl/time/time.h"
#include "client/server_address.h"
#include "model/base/program.h"
#include "model/base/strings.h"

ABSL_FLAG(std::string, address, "127.0.0.1:50051",
          "The server: HOST:PORT, [IPv6]:PORT, unix:PATH or dns:///HOST:PORT.");
ABSL_FLAG(absl::Duration, deadline, absl::Seconds(30),
          "How long to wait for an answer, connecting included; \"inf\" = "
          "without end.");

namespace semrank {

absl::StatusOr<std::unique_ptr<SemrankClient>> ClientFromFlags() {
  const ClientOptions options{absl::GetFlag(FLAGS_address),
                              absl::GetFlag(FLAGS_deadline)};
  const absl::Status address = CheckServerAddress(options.address);
  if (!address.ok()) {
    return FlagError("address", options.address, ToStd(address.message()));
  }
  if (options.deadline <= absl::ZeroDuration()) {
    return FlagError("deadline", absl::FormatDuration(options.deadline),
                     "must be positive");
  }
  return SemrankClient::Create(options);
}

}  // namespace semrank
