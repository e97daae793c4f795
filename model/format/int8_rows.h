// The first layer of a model in int8 (WEIGHT_ENCODING_INT8): a file of a
// quarter of the size. A row of layer 0 is a factor times whole numbers from
// -127 to 127, the largest of which is 127 or -127.
//
//   Use      programs compute with float32: the rows are decoded as they are
//            read, so a model in int8 and its decoded copy give the same bits.
//   Threads  thread-safe.
#ifndef SEMRANK_MODEL_FORMAT_INT8_ROWS_H_
#define SEMRANK_MODEL_FORMAT_INT8_ROWS_H_

#include <memory>

#include "model/format/model_tensors.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Tensors that are not those of a file, with the memory that they point into.
struct OwnedTensors {
  TensorMap tensors;
  std::shared_ptr<const void> storage;
};

// `config` as it would be with float32 weights.
v1::ModelConfig WithFloatWeights(v1::ModelConfig config);

// `tensors` are those of WithFloatWeights(config), as CheckTensors accepts
// them. Returns those of `config`. Tensors that do not change are not copied.
OwnedTensors EncodeRows(const v1::ModelConfig& config,
                        const TensorMap& tensors);
// The reverse: `tensors` are those of `config`, in `storage`, which the result
// keeps alive.
OwnedTensors DecodeRows(const v1::ModelConfig& config, const TensorMap& tensors,
                        std::shared_ptr<const void> storage);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_INT8_ROWS_H_
