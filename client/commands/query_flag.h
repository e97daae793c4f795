#ifndef SEMRANK_CLIENT_COMMANDS_QUERY_FLAG_H_
#define SEMRANK_CLIENT_COMMANDS_QUERY_FLAG_H_

#include <string>

#include "absl/status/statusor.h"

namespace semrank {

// The value of --query. FlagError when there is none or it is not UTF-8.
absl::StatusOr<std::string> QueryFromFlag();

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_QUERY_FLAG_H_
