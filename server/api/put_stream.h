// POST /v1/put_stream: PutDocumentsStream as lines of JSON, so that a file of
// any length is put with one request (curl -T docs.jsonl).
//
//   Request   each line is a v1::Document as JSON; empty lines are skipped.
//   Lines
//             are put in groups of at most 1,000, each visible as a whole.
//   Response  sent after the last line: a PutDocumentsStreamResponse a line,
//   one
//             a group. An error ends the stream; its google.rpc.Status is the
//             last line, and the response has its HTTP code. Documents that the
//             lines before it acknowledge stay.
//   Memory    256 KiB of lines, or one line of up to --max_http_body_bytes, and
//             the response: 16 MiB of problems end the stream.
#ifndef SEMRANK_SERVER_API_PUT_STREAM_H_
#define SEMRANK_SERVER_API_PUT_STREAM_H_

#include <memory>

#include "server/api/api_call.h"

namespace semrank {

HttpCall MakePutStream(const std::shared_ptr<const ApiCall>& call);

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_PUT_STREAM_H_
