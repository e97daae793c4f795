// Converts vectors to the bytes of a message: rows without padding,
// little-endian.
#ifndef SEMRANK_SERVER_BASE_VECTOR_ENCODING_H_
#define SEMRANK_SERVER_BASE_VECTOR_ENCODING_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semrank {

// IEEE 754 binary32, 4 bytes a number: copies the values.
void EncodeFloat32(std::span<const float> values, std::string& bytes);

// IEEE 754 binary16, 2 bytes a number, rounded to nearest even.
void EncodeFloat16(std::span<const float> values, std::string& bytes);

// One byte a number, -127 to 127, value = byte x scale within half a scale;
// one scale a row of `dim`, 0 for a row of zeros.
void EncodeInt8(std::span<const float> values, int dim, std::string& bytes,
                std::vector<float>& scales);

// Reverses EncodeFloat32. bytes.size() must be values.size() * 4.
void DecodeFloat32(std::string_view bytes, std::span<float> values);

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_VECTOR_ENCODING_H_
