// Removes a user's records from a stream of Redis.
#ifndef SEMRANK_CLIENT_STREAMS_STREAM_DELETION_H_
#define SEMRANK_CLIENT_STREAMS_STREAM_DELETION_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/streams/event_stream.h"
#include "model/data/input_lines.h"
#include "model/events/event_deletion.h"

namespace semrank {

// Deletes the impressions of the user and the events on them that the stream
// has when the call begins; servers may write at the same time. An interrupted
// call can be repeated. `files` of the result is 0.
//
//   Errors   Unimplemented for a topic of Kafka that has such records.
//            InvalidArgument for more entries than `max_bad_lines` that are no
//            records: what cannot be read may be the user's. The error of the
//            stream.
absl::StatusOr<DeletedRecords> DeleteUserOfStream(
    const EventStream::Options& stream, const std::string& user_hash,
    const BadLineLimit& max_bad_lines);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_STREAMS_STREAM_DELETION_H_
