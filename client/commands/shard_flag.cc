#include "client/commands/shard_flag.h"

#include <string>

#include "absl/flags/flag.h"
#include "model/cli/program.h"

ABSL_FLAG(std::string, shard, "1/1",
          "Which part of the file is taken, for several machines: with 2/8, "
          "lines 2, 10, 18, ...; 1/8 to 8/8 together are all.");

namespace semrank {

absl::StatusOr<Shard> ShardFromFlags() {
  const std::string flag = absl::GetFlag(FLAGS_shard);
  if (const auto shard = ParseShard(flag)) return *shard;
  return FlagError("shard", flag, "want I/N, from 1/N to N/N");
}

}  // namespace semrank
