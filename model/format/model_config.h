// Reads and checks config.json, and derives from it what the other files must
// have (FORMAT.md).
#ifndef SEMRANK_MODEL_FORMAT_MODEL_CONFIG_H_
#define SEMRANK_MODEL_FORMAT_MODEL_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

inline constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
inline constexpr int kMaxHiddenLayers = 15;
inline constexpr int kMaxLayerWidth = 16384;
// Words of a full W: its square in floats is a gigabyte.
inline constexpr int kMaxMatrixWords = 30000;
inline constexpr int kMaxPairHashBuckets = 1 << 28;
inline constexpr int kMaxCorrelatedTopK = 64;
inline constexpr int kMaxUnknownWordBuckets = 1 << 20;
// Row numbers are stored as floats, which are exact up to here.
inline constexpr int kMaxFrequentWords = 1 << 24;

// InvalidArgument for malformed JSON or a field of the wrong type. Unknown
// fields are ignored. The values are not checked: see CheckModelConfig.
absl::StatusOr<v1::ModelConfig> ParseModelConfig(std::string_view json);
absl::StatusOr<std::string> FormatModelConfig(const v1::ModelConfig& config);

// Checks every rule of FORMAT.md's table. InvalidArgument names the field, its
// value and what is allowed. FailedPrecondition for a model of a newer release,
// Unimplemented for a tower, weighting or score that this release cannot
// compute.
absl::Status CheckModelConfig(const v1::ModelConfig& config);

// The functions below take configurations that CheckModelConfig has accepted.

// The features of a kind, whose number is a sum of 1, 2 and 4.
bool HasLetters(v1::FeatureKind kind);
bool HasWords(v1::FeatureKind kind);
bool HasBigrams(v1::FeatureKind kind);

bool ListsNgrams(const v1::ModelConfig& config);
bool ListsWords(const v1::ModelConfig& config);
bool ListsBigrams(const v1::ModelConfig& config);
// All files of a version but the manifest, sorted.
std::vector<std::string> ExpectedFiles(const v1::ModelConfig& config);

// The format_version of a configuration: 4 with int8 weights, else 3 with a
// form of SSI that version 2 does not have, else 2 with a lexical part or
// bigrams, else 1, so that older readers keep reading models that they can
// compute.
int FormatVersionOf(const v1::ModelConfig& config);

// The tensor of a lexical part.
inline constexpr char kLexicalIdfTensor[] = "lexical.idf";

// Names of the tensors that only SSI has.
inline constexpr char kIdfTensor[] = "idf";
inline constexpr char kDiagonalTensor[] = "diagonal";
inline constexpr char kMatrixTensor[] = "matrix";
inline constexpr char kPairWeightsTensor[] = "pair_weights";
inline constexpr char kCorrelatedTensor[] = "correlated_words";
inline constexpr char kMixingTensor[] = "mixing";

// Whether the variant has U and V; false if it scores words alone.
bool HasSsiVectors(v1::SsiVariant variant);
// Whether W has I, or a diagonal in its place, so that any word can match
// itself; a W that is stored whole has the words of its dictionary alone.
bool MatchesUnknownWords(v1::SsiVariant variant, bool hashes_pairs);
// Rows of the tensors of U and V, of `num_words` words and bigrams; 0 without
// them.
std::int64_t NumSsiRows(const v1::SsiSpec& ssi, std::int64_t num_words);
// Rows of kCorrelatedTensor; 0 without correlated feature hashing.
std::int64_t NumCorrelatedWords(const v1::SsiSpec& ssi, std::int64_t num_words);
// Blocks of embedding_dim elements in a vector (SsiRows).
std::int64_t NumSsiBlocks(const v1::SsiSpec& ssi);
bool PairsSameRank(const v1::SsiSpec& ssi);

struct ExpectedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool is_int8 = false;
};

// The tensors of int8 rows, of side "query" or "document".
std::string Int8WeightName(std::string_view side);
std::string Int8ScaleName(std::string_view side);

// N-grams, words with the buckets of unknown ones, and bigrams together.
std::int64_t NumFeatures(const v1::FeatureSpec& features);
// "query", and "document" unless towers are shared.
std::vector<std::string> TensorPrefixes(const v1::ModelConfig& config);
// Widths from the input to the vector: one more than there are layers. The
// input has one row a feature, or with CLSM one a feature and window place.
std::vector<std::int64_t> LayerWidths(const v1::ModelConfig& config);
// weight and bias of each layer of each tower, then the lexical part's, or what
// SSI has, in the order of writing.
std::vector<ExpectedTensor> ExpectedTensors(const v1::ModelConfig& config);

}  // namespace semrank

#endif  // SEMRANK_MODEL_FORMAT_MODEL_CONFIG_H_
