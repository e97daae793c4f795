#ifndef SEMRANK_CLIENT_LIB_VECTORS_H_
#define SEMRANK_CLIENT_LIB_VECTORS_H_

#include <cstddef>
#include <vector>

#include "semrank/v1/embedding_service.pb.h"

namespace semrank {

// Vector `row` of an answer in VECTOR_ENCODING_FLOAT32 that is checked
// (response_check.h): embedding_dim numbers.
std::vector<float> FloatVector(const v1::EmbedTextsResponse& response,
                               std::size_t row);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_LIB_VECTORS_H_
