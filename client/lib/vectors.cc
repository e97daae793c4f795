#include "client/lib/vectors.h"

#include <bit>
#include <cassert>
#include <cstdint>

namespace semrank {

std::vector<float> FloatVector(const v1::EmbedTextsResponse& response,
                               std::size_t row) {
  const std::size_t dim = response.embedding_dim();
  assert((row + 1) * dim * sizeof(float) <= response.vectors().size());
  const auto* bytes = reinterpret_cast<const unsigned char*>(
      response.vectors().data() + row * dim * sizeof(float));
  std::vector<float> vector(dim);
  for (float& number : vector) {
    // Little-endian on the wire, whatever this machine is.
    const std::uint32_t bits = bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
                               static_cast<std::uint32_t>(bytes[3]) << 24;
    number = std::bit_cast<float>(bits);
    bytes += sizeof(float);
  }
  return vector;
}

}  // namespace semrank
