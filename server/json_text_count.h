// How many texts a JSON body asks for, before anything is made of it: admission
// is asked with this number, so that a request which does not fit is refused
// for the price of one pass over its bytes.
#ifndef SEMRANK_SERVER_JSON_TEXT_COUNT_H_
#define SEMRANK_SERVER_JSON_TEXT_COUNT_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace semrank {

// The values of these fields of the outermost object: 1 for a string or a
// number, for an array one each element. Of bytes that are no JSON, what is
// there up to the first error. Memory: the longest string, and a bit a level of
// nesting. Any thread.
std::int64_t CountJsonTexts(std::string_view json,
                            std::span<const std::string_view> fields);

}  // namespace semrank

#endif  // SEMRANK_SERVER_JSON_TEXT_COUNT_H_
