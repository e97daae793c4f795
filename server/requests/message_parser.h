// Protobuf's parser, with its complaints turned into statuses. Left alone it
// prints a line to standard error for each bad message, a gift to whoever wants
// to fill a disk, and keeps each field that it does not know, two bytes on the
// wire in some sixty of memory.
#ifndef SEMRANK_SERVER_REQUESTS_MESSAGE_PARSER_H_
#define SEMRANK_SERVER_REQUESTS_MESSAGE_PARSER_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace semrank {

// Once, before the first ParseMessage: takes over Protobuf's log of the whole
// process.
void CatchProtobufLog();

// Unknown fields in a message, those of newer clients; more are refused.
inline constexpr std::int64_t kMaxUnknownFields = 100'000;

// Replaces `message`, of a type that does not contain itself.
// INVALID_ARGUMENT with MALFORMED_MESSAGE, or with INVALID_UTF8 when a string
// field holds something else.
absl::Status ParseMessage(std::string_view bytes,
                          google::protobuf::Message& message);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_MESSAGE_PARSER_H_
