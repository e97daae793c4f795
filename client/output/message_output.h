// Messages of the server as they are.
#ifndef SEMRANK_CLIENT_OUTPUT_MESSAGE_OUTPUT_H_
#define SEMRANK_CLIENT_OUTPUT_MESSAGE_OUTPUT_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/statusor.h"
#include "client/output/table.h"

namespace semrank {

// Rows (field, value) of a message of unsigned numbers, also those that are 0.
Table NumberTable(const google::protobuf::Message& message);

// The message in Protobuf's JSON with the field names of the .proto files, as
// the server's JSON has it, on one line, "\n" included.
absl::StatusOr<std::string> MessageJsonLine(
    const google::protobuf::Message& message);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_MESSAGE_OUTPUT_H_
