// EmbedTexts, and one message of an EmbedTextsStream: from the bytes to the
// response.
#ifndef SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_
#define SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "semrank/v1/embedding_service.pb.h"
#include "server/requests/message_fields.h"
#include "server/requests/request_run.h"

namespace semrank {

// An EmbedTextsRequest or an EmbedTextsStreamRequest, which have the same
// fields, read in place. Unspecified values stay so.
struct EmbedMessage {
  std::vector<std::string_view> texts;
  v1::Side side = v1::SIDE_UNSPECIFIED;
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_UNSPECIFIED;
  ModelRefView model;
};

// MALFORMED_MESSAGE; TOO_MANY_TEXTS for more than `max_texts`; INVALID_FIELD
// for a value that an enum does not have. `type` is the message's.
absl::Status ReadEmbedRequest(std::string_view bytes, std::int64_t max_texts,
                              const google::protobuf::Descriptor& type,
                              EmbedMessage& message);

std::unique_ptr<RequestWork> MakeEmbedWork(const ServerParts& parts);

// What the first message of a stream fixes, and how many texts are answered.
struct EmbedStreamState {
  v1::Side side = v1::SIDE_UNSPECIFIED;
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_UNSPECIFIED;
  ServedModelPtr served;  // null before the first message
  std::uint64_t num_answered = 0;
};

// One message of the stream that `state` belongs to; one message of a stream is
// worked on at a time.
std::unique_ptr<RequestWork> MakeStreamedEmbedWork(const ServerParts& parts,
                                                   EmbedStreamState& state);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EMBED_WORK_H_
