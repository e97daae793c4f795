// How EmbedTexts and EmbedTextsStream read their requests.
#ifndef SEMRANK_SERVER_REQUESTS_EMBED_HANDLER_H_
#define SEMRANK_SERVER_REQUESTS_EMBED_HANDLER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "semrank/v1/common.pb.h"
#include "server/requests/message_fields.h"

namespace semrank {

// An EmbedTextsRequest or an EmbedTextsStreamRequest, which have the same
// fields, read in place. Unspecified values stay unspecified.
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

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_EMBED_HANDLER_H_
