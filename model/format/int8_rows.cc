// Only layer 0 is encoded: its rows, one for each feature, are most of
// the file.
#include "model/format/int8_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/format/model_config.h"

namespace semrank {
namespace {

constexpr float kMaxInt8 = 127;

// What the tensors point into. Lists, so that it does not move.
struct Storage {
  std::list<std::vector<float>> floats;
  std::list<std::vector<std::int8_t>> bytes;
  std::shared_ptr<const void> others;
};

TensorView& AddFloats(const std::string& name,
                      const std::vector<std::int64_t>& shape,
                      std::vector<float> values, Storage& storage,
                      TensorMap& tensors) {
  storage.floats.push_back(std::move(values));
  TensorView& view = tensors[name];
  view = {.name = name, .shape = shape, .data = storage.floats.back().data()};
  return view;
}

// The factor of a row; 0 for a row of zeros.
float ScaleOf(std::span<const float> row) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::fabs(value));
  return largest / kMaxInt8;
}

void EncodeMatrix(const std::string& side, const TensorView& weight,
                  Storage& storage, TensorMap& tensors) {
  const auto num_rows = static_cast<std::size_t>(weight.shape[0]);
  const auto width = static_cast<std::size_t>(weight.shape[1]);
  std::vector<float> scales;
  std::vector<std::int8_t> bytes;
  bytes.reserve(num_rows * width);
  for (std::size_t i = 0; i < num_rows; ++i) {
    const auto row = weight.values().subspan(i * width, width);
    scales.push_back(ScaleOf(row));
    for (const float value : row) {
      const float units = scales.back() > 0 ? value / scales.back() : 0;
      // The clamp is for a row of denormal values, whose factor is inexact: a
      // value could round beyond 127.
      bytes.push_back(static_cast<std::int8_t>(
          std::clamp(std::nearbyint(units), -kMaxInt8, kMaxInt8)));
    }
  }
  storage.bytes.push_back(std::move(bytes));
  TensorView& view = tensors[Int8WeightName(side)];
  view = {.name = Int8WeightName(side),
          .shape = weight.shape,
          .data = nullptr,
          .int8_data = storage.bytes.back().data()};
  AddFloats(Int8ScaleName(side), {weight.shape[0]}, std::move(scales), storage,
            tensors);
}

void DecodeMatrix(const std::string& side, const TensorView& weight,
                  const TensorView& scale, Storage& storage,
                  TensorMap& tensors) {
  const auto width = static_cast<std::size_t>(weight.shape[1]);
  std::vector<float> values;
  values.reserve(scale.values().size() * width);
  const std::int8_t* units = weight.int8_data;
  for (const float factor : scale.values()) {
    for (std::size_t k = 0; k < width; ++k) values.push_back(factor * *units++);
  }
  AddFloats(Int8WeightName(side), weight.shape, std::move(values), storage,
            tensors);
}

}  // namespace

v1::ModelConfig WithFloatWeights(v1::ModelConfig config) {
  config.clear_weight_encoding();
  return config;
}

OwnedTensors EncodeRows(const v1::ModelConfig& config,
                        const TensorMap& tensors) {
  OwnedTensors encoded = {.tensors = tensors, .storage = nullptr};
  if (config.weight_encoding() != v1::WEIGHT_ENCODING_INT8) return encoded;
  const auto storage = std::make_shared<Storage>();
  for (const std::string& side : TensorPrefixes(config)) {
    EncodeMatrix(side, tensors.at(Int8WeightName(side)), *storage,
                 encoded.tensors);
  }
  encoded.storage = storage;
  return encoded;
}

OwnedTensors DecodeRows(const v1::ModelConfig& config, const TensorMap& tensors,
                        std::shared_ptr<const void> storage) {
  OwnedTensors decoded = {.tensors = tensors, .storage = storage};
  if (config.weight_encoding() != v1::WEIGHT_ENCODING_INT8) return decoded;
  const auto owned = std::make_shared<Storage>();
  owned->others = std::move(storage);
  for (const std::string& side : TensorPrefixes(config)) {
    decoded.tensors.erase(Int8ScaleName(side));
    DecodeMatrix(side, tensors.at(Int8WeightName(side)),
                 tensors.at(Int8ScaleName(side)), *owned, decoded.tensors);
  }
  decoded.storage = owned;
  return decoded;
}

}  // namespace semrank
