// The requests that carry many texts, read in place from their bytes.
//
//   Views    into the bytes, which must outlive the result.
//   Memory   16 bytes a text beside the bytes themselves. How many there are is
//            known and admitted before (text_count.h); for `num_texts` room is
//            made at once.
//   Errors   MALFORMED_MESSAGE; INVALID_UTF8 for a model's name. Texts and ids
//            are not checked for UTF-8 here: the engine does, by name.
#ifndef SEMRANK_SERVER_REQUESTS_REQUEST_READER_H_
#define SEMRANK_SERVER_REQUESTS_REQUEST_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "semrank/v1/common.pb.h"
#include "server/ranking/rank_request.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

struct RankMessage {
  std::vector<std::string_view> titles;
  std::vector<std::uint64_t> ids;
  std::vector<std::string_view> document_ids;
  RankInput input;  // views the above
  v1::ModelRef model;
  bool with_titles = false;
};

struct RankStreamMessage {
  bool has_request = false;
  std::string_view request;  // bytes of a RankRequest
  std::string merged;        // holds them when they came in pieces
};

// What is said of all the texts of a call or a stream; as in the message, also
// unspecified.
struct EmbedSettings {
  v1::Side side = v1::SIDE_UNSPECIFIED;
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_UNSPECIFIED;
  v1::ModelRef model;
};

struct EmbedMessage {
  std::vector<std::string_view> texts;
  EmbedSettings settings;  // complete
  EmbedInput input;        // input.texts views `texts`
};

struct EmbedStreamMessage {
  std::vector<std::string_view> texts;
  EmbedSettings settings;
};

absl::Status ReadRankRequest(std::string_view bytes, std::size_t num_texts,
                             RankMessage& message);

// Views the request, not looking into it.
absl::Status ReadRankStreamRequest(std::string_view bytes,
                                   RankStreamMessage& message);

// INVALID_FIELD for a value that an enum does not have.
absl::Status ReadEmbedTextsRequest(std::string_view bytes,
                                   std::size_t num_texts,
                                   EmbedMessage& message);

absl::Status ReadEmbedStreamRequest(std::string_view bytes,
                                    std::size_t num_texts,
                                    EmbedStreamMessage& message);

// Puts the defaults in. INVALID_FIELD when the side is not said.
absl::Status CompleteSettings(EmbedSettings& settings);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_REQUEST_READER_H_
