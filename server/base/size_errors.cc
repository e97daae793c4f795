#include "server/base/size_errors.h"

#include <string>

#include "absl/strings/str_format.h"
#include "server/base/errors.h"

namespace semrank {

absl::Status MessageTooLarge(std::size_t num_bytes,
                             std::size_t max_request_bytes) {
  return MakeError(
      absl::StatusCode::kResourceExhausted, "MESSAGE_TOO_LARGE",
      absl::StrFormat("a message of %d bytes, over the limit of %d that "
                      "--max_texts_per_request and --max_text_bytes make",
                      num_bytes, max_request_bytes),
      {{"value", std::to_string(num_bytes)},
       {"limit", std::to_string(max_request_bytes)},
       {"flag", "max_texts_per_request"}});
}

absl::Status MetadataTooLarge(std::size_t num_bytes,
                              std::size_t max_metadata_bytes) {
  return MakeError(absl::StatusCode::kResourceExhausted, "METADATA_TOO_LARGE",
                   absl::StrFormat("%d bytes of metadata, over the limit of %d "
                                   "(--max_metadata_bytes)",
                                   num_bytes, max_metadata_bytes),
                   {{"value", std::to_string(num_bytes)},
                    {"limit", std::to_string(max_metadata_bytes)},
                    {"flag", "max_metadata_bytes"}});
}

}  // namespace semrank
