// The --shard flag: which part of a file a command works on.
#ifndef SEMRANK_CLIENT_COMMANDS_SHARD_FLAG_H_
#define SEMRANK_CLIENT_COMMANDS_SHARD_FLAG_H_

#include "absl/status/statusor.h"
#include "client/input/text_reader.h"

namespace semrank {

absl::StatusOr<Shard> ShardFromFlags();

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_SHARD_FLAG_H_
