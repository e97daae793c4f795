// Protobuf's parser, with its complaints turned into statuses. Left alone it
// prints a line to standard error for each bad message: a gift to whoever wants
// to fill a disk.
#ifndef SEMRANK_SERVER_RPC_MESSAGE_PARSER_H_
#define SEMRANK_SERVER_RPC_MESSAGE_PARSER_H_

#include <google/protobuf/message_lite.h>

#include <string_view>

#include "absl/status/status.h"

namespace semrank {

// Once, before the first ParseMessage: takes over Protobuf's log of the whole
// process.
void CatchProtobufLog();

// Replaces `message`. INVALID_ARGUMENT with MALFORMED_MESSAGE, or with
// INVALID_UTF8 when a string field holds something else.
absl::Status ParseMessage(std::string_view bytes,
                          google::protobuf::MessageLite& message);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_MESSAGE_PARSER_H_
