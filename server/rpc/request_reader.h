// The requests that carry many texts, read in place from their bytes.
//
//   Views    into the bytes, which must outlive the result.
//   Memory   16 bytes a text beside the bytes themselves, and no more texts
//            than the limit.
//   Errors   MALFORMED_MESSAGE, TOO_MANY_TEXTS, and what is not implemented.
//            Texts are not checked for UTF-8 here: the engine does, by name.
#ifndef SEMRANK_SERVER_RPC_REQUEST_READER_H_
#define SEMRANK_SERVER_RPC_REQUEST_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "semrank/v1/common.pb.h"
#include "server/core/ranking_engine.h"

namespace semrank {

struct RankMessage {
  std::vector<std::string_view> titles;
  RankInput input;  // input.titles views `titles`
  v1::ModelRef model;
  bool with_titles = false;
};

struct RankStreamMessage {
  std::uint64_t request_number = 0;
  bool has_request = false;
  std::string_view request;  // bytes of a RankRequest
  std::string merged;        // holds them when they came in pieces
};

struct EmbedMessage {
  std::vector<std::string_view> texts;
  EmbedInput input;  // input.texts views `texts`
  v1::VectorEncoding encoding = v1::VECTOR_ENCODING_FLOAT32;
  v1::ModelRef model;
};

absl::Status ReadRankRequest(std::string_view bytes, const Limits& limits,
                             RankMessage& message);

// Views the request, not looking into it.
absl::Status ReadRankStreamRequest(std::string_view bytes,
                                   RankStreamMessage& message);

absl::Status ReadEmbedTextsRequest(std::string_view bytes, const Limits& limits,
                                   EmbedMessage& message);

}  // namespace semrank

#endif  // SEMRANK_SERVER_RPC_REQUEST_READER_H_
