// The tensors of an SSI model (FORMAT.md, "SSI"): which there are, what their
// values may be, and what they make.
//
//   Config   has passed CheckModelConfig, and its tower is SSI.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_MODEL_FORMAT_SSI_TENSORS_H_
#define SEMRANK_MODEL_FORMAT_SSI_TENSORS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/format/model_config.h"
#include "model/format/model_tensors.h"
#include "model/nn/two_tower_model.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

// Names of the tensors that are SSI's alone.
inline constexpr char kIdfTensor[] = "idf";
inline constexpr char kDiagonalTensor[] = "diagonal";
inline constexpr char kMatrixTensor[] = "matrix";
inline constexpr char kPairWeightsTensor[] = "pair_weights";
inline constexpr char kCorrelatedTensor[] = "correlated_words";

// Words of a whole W: its square in floats is a gigabyte.
inline constexpr int kMaxMatrixWords = 16384;
inline constexpr int kMaxPairHashBuckets = 1 << 28;
inline constexpr int kMaxCorrelatedTopK = 64;
// Row numbers are kept as floats, which are whole up to here.
inline constexpr int kMaxFrequentWords = 1 << 24;

// False for variants that score by the words alone, without U and V.
bool HasSsiVectors(v1::SsiVariant variant);
// Rows of their tensors, U' and V'; 0 without them.
std::int64_t NumSsiRows(const v1::SsiSpec& ssi, std::int64_t num_words);

// In the order of writing.
std::vector<ExpectedTensor> ExpectedSsiTensors(const v1::ModelConfig& config);

// InvalidArgument for a value with which a score could leave single precision,
// an idf below 0, or a correlated word that is no row. Names and shapes are
// right.
absl::Status CheckSsiValues(const v1::ModelConfig& config,
                            const TensorMap& tensors);

// As MakeModel.
absl::StatusOr<std::shared_ptr<const TwoTowerModel>> MakeSsiModel(
    ModelVersion version, v1::ModelConfig config, Featurizer featurizer,
    const TensorMap& tensors, std::shared_ptr<const void> storage);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_SSI_TENSORS_H_
