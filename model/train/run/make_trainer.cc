#include "model/train/run/make_trainer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/format/manifest.h"
#include "model/format/model_config.h"
#include "model/format/safetensors.h"
#include "model/format/version_reader.h"
#include "model/train/ssi/ssi_trainer.h"
#include "model/train/ssi/ssi_weights.h"
#include "model/train/start/vocabulary_union.h"
#include "model/train/towers/two_tower_trainer.h"

namespace semrank {
namespace {

// The start (--init_from) and the run may have different features. Their
// tensors have equal names, and layer 0 has a row for each feature: the rows of
// the start's features are copied to where the run has these features
// (vocabulary_union.h). Rows of new features keep their random values.

// .5 to 8 give nearly the same NDCG@10; random rows give vectors of length .1.
constexpr double kGeneralLength = 2;

absl::Status NoPlace(const TrainOptions& options, std::string_view tensor) {
  return absl::DataLossError(absl::StrFormat(
      "%s/%s: tensor \"%s\" has no place in the model that is trained",
      options.initial_model.version_dir, kWeightsFile, tensor));
}

// The rows of layer 0 are features; all other tensors have one size.
bool HasFeatureRows(std::string_view tensor) {
  return tensor.ends_with(".0.weight");
}

// Where the features of the start are in layer 0 of the run.
struct Rows {
  std::vector<FeatureRange> ranges;
  int num_features = 0;  // of the start
  int num_features_of_run = 0;
};

Rows RowsOf(const Featurizer& start, const Featurizer& run) {
  return {RangesOfStart(start, run), start.num_features(), run.num_features()};
}

// Whether the tensors have the same whole number of floats for each feature.
bool HaveSameRows(const Rows& rows, std::span<const float> from,
                  std::span<const float> to) {
  // CLSM has a row for each place of its window, so a feature has several rows
  // of the layer's width.
  const std::size_t width = from.size() / rows.num_features;
  return from.size() == width * rows.num_features &&
         to.size() == width * rows.num_features_of_run;
}

// Calls use(rows of the start, rows of the run) for each range.
template <typename Use>
void ForEachRange(const Rows& rows, std::span<const float> from,
                  std::span<float> to, Use use) {
  const std::size_t width = from.size() / rows.num_features;
  for (const FeatureRange& range : rows.ranges) {
    use(from.subspan(range.from * width, range.count * width),
        to.subspan(range.to * width, range.count * width));
  }
}

void Overwrite(std::span<const float> from, std::span<float> to) {
  std::ranges::copy(from, to.begin());
}

// The mean length of the vectors that the rows of `table`, one for each feature
// of the run, give the titles.
absl::StatusOr<double> MeanTitleLength(const TrainingData& data,
                                       std::span<const float> table) {
  // Some titles are enough for a mean.
  const std::span<const TextId> titles =
      std::span(data.titles)
          .first(std::min<std::size_t>(data.titles.size(), 10'000));
  // The first titles are the same in every process and with any number
  // of threads.
  BagBatch bags;
  SEMRANK_RETURN_IF_ERROR(data.bags.Layout(titles, bags));
  data.bags.Fill(titles, 0, static_cast<int>(titles.size()), bags);
  const std::size_t dim = table.size() / data.featurizer.num_features();
  std::vector<double> sum(dim);
  double length = 0;
  for (int title = 0; title < bags.num_texts(); ++title) {
    std::ranges::fill(sum, 0);
    const BagView bag = bags.Bag(title);
    for (std::size_t i = 0; i < bag.indices.size(); ++i) {
      const std::span<const float> row =
          table.subspan(bag.indices[i] * dim, dim);
      for (std::size_t k = 0; k < dim; ++k) sum[k] += bag.counts[i] * row[k];
    }
    length +=
        std::sqrt(std::inner_product(sum.begin(), sum.end(), sum.begin(), 0.0));
  }
  return length / static_cast<double>(titles.size());
}

// `random` are the random rows of the run.
absl::Status AddScaled(const TrainingData& data, const Rows& rows,
                       std::span<const float> from, std::span<float> random) {
  std::vector<float> general(random.size());
  ForEachRange(rows, from, general, Overwrite);
  SEMRANK_ASSIGN_OR_RETURN(const double length, MeanTitleLength(data, general));
  // No title has a known feature: there is nothing to add.
  if (length == 0) return absl::OkStatus();
  // The general rows are scaled to a known length, so that they neither drown
  // the random ones nor vanish beside them, whatever the general model was
  // trained with.
  const auto scale = static_cast<float>(kGeneralLength / length);
  for (std::size_t i = 0; i < random.size(); ++i) {
    random[i] += scale * general[i];
  }
  return absl::OkStatus();
}

absl::Status CopyTensor(const TrainOptions& options, const TrainingData& data,
                        const TensorView& tensor, std::span<float> to) {
  const std::span<const float> from = tensor.values();
  // The rows of SSI are not its features, and do not grow.
  if (!HasFeatureRows(tensor.name) || !options.features.grows_given) {
    if (from.size() != to.size()) return NoPlace(options, tensor.name);
    Overwrite(from, to);
    return absl::OkStatus();
  }
  const Rows rows = RowsOf(*options.features.given, data.featurizer);
  if (!HaveSameRows(rows, from, to)) return NoPlace(options, tensor.name);
  if (options.initial_model.is_general) return AddScaled(data, rows, from, to);
  ForEachRange(rows, from, to, Overwrite);
  return absl::OkStatus();
}

// Copies the weights of options.initial_model, which may be none, into the
// trainer, which has its random weights.
absl::Status CopyStartWeights(const TrainOptions& options,
                              const TrainingData& data, ModelTrainer& trainer) {
  if (options.initial_model.version_dir.empty()) return absl::OkStatus();
  SEMRANK_ASSIGN_OR_RETURN(const OwnedTensors start,
                           ReadWeights(options.initial_model.version_dir));
  // The state has the weights under the names of the file. The optimizer's part
  // has other names, which no file has, and stays 0.
  const std::vector<StateTensor> state_tensors = trainer.State();
  std::map<std::string_view, std::span<float>> state;
  for (const StateTensor& tensor : state_tensors) {
    state.emplace(tensor.name, tensor.values);
  }
  for (const auto& [name, tensor] : start.tensors) {
    // idf is counted over the run's texts; KeepIdfOfStart says when it is not.
    if (name == kLexicalIdfTensor) continue;
    const auto found = state.find(name);
    if (found == state.end()) return NoPlace(options, name);
    SEMRANK_RETURN_IF_ERROR(CopyTensor(options, data, tensor, found->second));
  }
  trainer.Restored(/*num_steps=*/0);
  return absl::OkStatus();
}

std::unique_ptr<ModelTrainer> MakeAtRandomWeights(const TrainOptions& options,
                                                  const TrainingData& data,
                                                  const Workers& workers) {
  if (options.tower.kind == v1::TOWER_KIND_SSI) {
    return std::make_unique<SsiTrainer>(InitialSsiWeights(options, data),
                                        options, workers);
  }
  return std::make_unique<TwoTowerTrainer>(
      InitialTwoTowerWeights(options.tower, data.featurizer.num_features(),
                             options.seed),
      options, workers);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelTrainer>> MakeTrainer(
    const TrainOptions& options, const TrainingData& data,
    const Workers& workers) {
  // Random weights first: a start overwrites the rows that it has, or is added
  // to them.
  std::unique_ptr<ModelTrainer> trainer =
      MakeAtRandomWeights(options, data, workers);
  SEMRANK_RETURN_IF_ERROR(
      workers.processes.Agree(CopyStartWeights(options, data, *trainer)));
  return trainer;
}

absl::Status KeepIdfOfStart(const TrainOptions& options, TrainingData& data) {
  const InitialModelOptions& model = options.initial_model;
  if (!options.features.grows_given || model.is_general ||
      data.num_kept_pairs > 0 || data.lexical_idf.empty()) {
    return absl::OkStatus();
  }
  SEMRANK_ASSIGN_OR_RETURN(const OwnedTensors start,
                           ReadWeights(model.version_dir));
  const auto idf = start.tensors.find(kLexicalIdfTensor);
  if (idf == start.tensors.end()) return absl::OkStatus();
  const std::span<const float> values = idf->second.values();
  if (values.size() != data.lexical_idf.size()) {
    return NoPlace(options, kLexicalIdfTensor);
  }
  // The night's pairs alone are few texts. Without earlier pairs beside them
  // their idf would be worse than that of the start.
  std::ranges::copy(values, data.lexical_idf.begin());
  return absl::OkStatus();
}

}  // namespace semrank
