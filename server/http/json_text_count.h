// How many texts a JSON body has, before anything is made of it: admission is
// asked with this number, so that a request for which there is no room costs
// one pass over its bytes.
#ifndef SEMRANK_SERVER_HTTP_JSON_TEXT_COUNT_H_
#define SEMRANK_SERVER_HTTP_JSON_TEXT_COUNT_H_

#include <deque>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/requests/text_count.h"

namespace semrank {

// Objects and arrays within each other. A message of the API has two;
// Protobuf's parser, which reads the body next, bounds objects but not arrays.
inline constexpr int kMaxJsonDepth = 32;

// As CountTexts (rpc/text_count.h) counts the message that the body stands for.
// What the views in `count` see is kept in `held`. InvalidArgument
// MALFORMED_MESSAGE for what is not JSON as RFC 8259 has it and for what is
// nested deeper than kMaxJsonDepth; `count` then holds what came before.
// Memory: the longest string.
// Any thread.
absl::Status CountJsonTexts(std::string_view json, const MessageTexts& texts,
                            TextCount& count, std::deque<std::string>& held);

}  // namespace semrank

#endif  // SEMRANK_SERVER_HTTP_JSON_TEXT_COUNT_H_
