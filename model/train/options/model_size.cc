#include "model/train/options/model_size.h"

#include <algorithm>
#include <cstddef>

#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/train/options/ssi_options.h"

namespace semrank {
namespace {

// The sizes follow from options and the number of features alone, so that a run
// can refuse a model before it allocates one.

// All towers, or SSI.
absl::StatusOr<std::int64_t> NumLearned(const TrainOptions& options,
                                        int num_features) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return NumSsiParameters(options, num_features);
  }
  return NumParameters(TowerWidths(options.tower, num_features)) *
         (options.tower.shared ? 1 : 2);
}

// idf and correlated words.
std::int64_t NumSsiStatistics(const TrainOptions& options, int num_words) {
  const v1::SsiSpec spec = DescribeSsi(options.ssi, num_words);
  return num_words + NumCorrelatedWords(spec, num_words) *
                         std::int64_t{spec.correlated_top_k()};
}

}  // namespace

int NumPaddings(const TowerOptions& options) {
  // Window 2d + 1: d words at each end.
  return options.clsm_window / 2 * 2;
}

std::vector<int> TowerWidths(const TowerOptions& options, int num_features) {
  // W_c of CLSM has a row for each feature at each place (eq. 1, 2).
  std::vector<int> widths = {num_features * std::max(1, options.clsm_window)};
  widths.insert(widths.end(), options.hidden_dims.begin(),
                options.hidden_dims.end());
  widths.push_back(options.embedding_dim);
  return widths;
}

std::int64_t NumParameters(const std::vector<int>& widths) {
  std::int64_t count = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    // + 1 is the bias.
    count += (std::int64_t{widths[l]} + 1) * widths[l + 1];
  }
  return count;
}

int OptimizerStateSize(v1::Optimizer kind) {
  // Adam has the moments m and v of each weight, Adagrad the sum s of squares
  // (MATHEMATICS.md, "Initial weights and optimizers").
  if (kind == v1::OPTIMIZER_ADAM) return 2;
  return kind == v1::OPTIMIZER_ADAGRAD ? 1 : 0;
}

absl::StatusOr<std::int64_t> ModelBytes(const TrainOptions& options,
                                        int num_features, int num_processes) {
  constexpr std::int64_t kCopies = 2;  // the current and the best weights
  SEMRANK_ASSIGN_OR_RETURN(const std::int64_t learned,
                           NumLearned(options, num_features));
  // Clipping needs the length of the whole gradient, so all of it is kept.
  // Processes sum the gradients of towers, but of SSI only those of a step's
  // texts and words.
  const bool sums =
      num_processes > 1 && options.tower.kind != v1::TOWER_KIND_SSI;
  const int gradients =
      sums || options.optimizer.gradient_clip_norm > 0 ? 1 : 0;
  std::int64_t floats =
      learned *
      (kCopies + OptimizerStateSize(options.optimizer.kind) + gradients);
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    floats += NumSsiStatistics(options, num_features) * kCopies;
  }
  return floats * std::int64_t{sizeof(float)};
}

std::string_view ModelSizeFlags(const TowerOptions& options) {
  return options.kind == v1::TOWER_KIND_SSI
             ? "--max_words, --embedding_dim, --optimizer=sgd"
             : "--hash_buckets, --max_bigrams, --hidden, --shared_towers, "
               "--optimizer=sgd";
}

}  // namespace semrank
