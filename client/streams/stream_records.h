// Copies the records of a stream of Redis or a topic of Kafka into a folder of
// events, where the join and the trainer read them, and deletes a user's
// records from a stream of Redis.
#ifndef SEMRANK_CLIENT_STREAMS_STREAM_RECORDS_H_
#define SEMRANK_CLIENT_STREAMS_STREAM_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/streams/event_stream.h"
#include "model/data/input_lines.h"
#include "model/events/event_deletion.h"

namespace semrank {

// Has the position of each stream that was imported into the folder.
inline constexpr std::string_view kPositionsFile = "positions";

struct StreamImportOptions {
  EventStream::Options stream = {};
  std::string folder = {};  // is created if it is missing
  BadLineLimit max_bad_lines = {};
  // Files of the folder that were written longer ago are removed at the end;
  // zero = none.
  absl::Duration max_age = {};
  // Memory for the records of one file; further records begin another file.
  std::size_t max_bytes = std::size_t{8} << 30;
};

struct StreamedRecords {
  std::int64_t impressions = 0;
  std::int64_t events = 0;
  std::int64_t bad_lines = 0;
  std::int64_t files = 0;          // that were written
  std::int64_t removed_files = 0;  // older than max_age
};

// Writes the records since the last import, in order of time, into a new file,
// or into several of max_bytes. A position is kept after the file that it
// belongs to, so that a crash between them imports records twice, which the
// join drops, and never loses any.
//
//   Time     blocks until the end that the stream had at first. An interrupt
//            (interrupt.h) ends the call with Cancelled.
//   Errors   FailedPrecondition while another program writes in the folder.
//            InvalidArgument once too many records cannot be read, or for a
//            line of `positions` that the stream does not understand. The error
//            of the stream or of the file system.
absl::StatusOr<StreamedRecords> ImportStream(
    const StreamImportOptions& options);

// Deletes the impressions of the user and the events on them that the stream
// has when the call begins; servers may write at the same time. It reads the
// stream twice and blocks for that long. An interrupted call can be repeated,
// as impressions are deleted last. `user_hash` is the user as impressions have
// it (keyed_hash.h). `files` of the result is 0.
//
//   Errors   Unimplemented for a topic of Kafka that has such records.
//            InvalidArgument for more entries than `max_bad_lines` that are not
//            records: what cannot be read may be the user's. The error of the
//            stream.
absl::StatusOr<DeletedRecords> DeleteUserOfStream(
    const EventStream::Options& stream, const std::string& user_hash,
    const BadLineLimit& max_bad_lines);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_STREAMS_STREAM_RECORDS_H_
