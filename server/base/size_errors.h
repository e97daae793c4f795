// What is said of a whole request that is too large, before any of it is read.
//
//   Errors   as errors.h makes them.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_BASE_SIZE_ERRORS_H_
#define SEMRANK_SERVER_BASE_SIZE_ERRORS_H_

#include <cstddef>

#include "absl/status/status.h"

namespace semrank {

// RESOURCE_EXHAUSTED: whoever sends less is answered. Said of a whole message,
// and of all the metadata of a call.
absl::Status MessageTooLarge(std::size_t num_bytes,
                             std::size_t max_request_bytes);
absl::Status MetadataTooLarge(std::size_t num_bytes,
                              std::size_t max_metadata_bytes);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_SIZE_ERRORS_H_
