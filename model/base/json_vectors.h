// Vectors as JSON has them, by SIMD instructions: as numbers in an array,
// "0.10000000,-1.0", or as bytes in base64.
#ifndef SEMRANK_MODEL_BASE_JSON_VECTORS_H_
#define SEMRANK_MODEL_BASE_JSON_VECTORS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace semrank {

// Element i of a vector as it is on the wire: little-endian, on any machine.
float Element(std::string_view vector, std::size_t i);
// Number of elements of a vector as it is on the wire, float32.
std::size_t NumElements(std::string_view vector);

// Appends the elements, separated by commas. Each number parses to the same
// float32 and never looks like an integer. Sizes from 2^-10 to 1, which nearly
// all elements of a normalised vector have, get 8, 9 or 10 decimals, as many as
// that takes; all others are the shortest text.
void AppendJsonElements(std::string_view vector, std::string& text);

// Appends the base64 of `bytes`, with padding (RFC 4648, section 4), as
// absl::Base64Escape writes it, in a tenth of the time.
void AppendBase64Text(std::string_view bytes, std::string& text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_JSON_VECTORS_H_
