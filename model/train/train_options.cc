#include "model/train/train_options.h"

#include <limits>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/program.h"
#include "model/base/status_macros.h"
#include "model/format/model_config.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

absl::Status CheckRange(std::string_view flag, std::int64_t value,
                        std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%d", value),
                   absl::StrFormat("must be %d to %d", lowest, highest));
}

absl::Status CheckPositive(std::string_view flag, double value,
                           double highest) {
  // Written so that NaN fails.
  if (value > 0 && value <= highest) return absl::OkStatus();
  return FlagError(flag, absl::StrFormat("%g", value),
                   absl::StrFormat("must be above 0, at most %g", highest));
}

absl::Status CheckValidation(const DataOptions& data) {
  const bool any = !data.valid_queries.empty() || !data.valid_docs.empty() ||
                   !data.valid_qrels.empty();
  for (const auto& [flag, file] :
       {std::pair<std::string_view, const std::string&>{"valid_queries",
                                                        data.valid_queries},
        {"valid_docs", data.valid_docs},
        {"valid_qrels", data.valid_qrels}}) {
    if (any && file.empty()) {
      return FlagError(flag, "",
                       "--valid_queries, --valid_docs and --valid_qrels "
                       "belong together; one is missing");
    }
  }
  if (!(data.valid_fraction >= 0 && data.valid_fraction <= 0.5)) {
    return FlagError("valid_fraction",
                     absl::StrFormat("%g", data.valid_fraction),
                     "must be 0 to 0.5, or -1");
  }
  if (!data.valid_pair_files.empty() && data.valid_fraction > 0) {
    return FlagError("valid_fraction",
                     absl::StrFormat("%g", data.valid_fraction),
                     "--valid_pairs are given, so none are held out");
  }
  return absl::OkStatus();
}

absl::Status ResolveData(DataOptions& data) {
  if (data.train_files.empty()) {
    return FlagError("train", "", "names no file of pairs");
  }
  if (data.model_dir.empty()) {
    return FlagError("model_dir", "", "names no folder for the model");
  }
  if (data.valid_fraction == -1) {
    const bool other =
        !data.valid_pair_files.empty() || !data.valid_queries.empty();
    data.valid_fraction = other ? 0 : kDefaultValidFraction;
  }
  SEMRANK_RETURN_IF_ERROR(CheckRange("max_bad_lines", data.max_bad_lines, 0,
                                     std::int64_t{1} << 40));
  return CheckValidation(data);
}

absl::Status CheckFeatures(const FeatureOptions& features) {
  SEMRANK_RETURN_IF_ERROR(CheckRange("ngram_length", features.ngram_length,
                                     kMinNgramLength, kMaxNgramLength));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("max_words", features.max_words, 0, kMaxVocabularySize));
  if (features.hash_buckets > 0 && features.kind == v1::FEATURE_KIND_WORDS) {
    return FlagError("hash_buckets",
                     absl::StrFormat("%d", features.hash_buckets),
                     "hashes letter n-grams, and --features=words has none");
  }
  return CheckRange("hash_buckets", features.hash_buckets, 0,
                    kMaxVocabularySize);
}

absl::Status CheckHidden(const std::vector<int>& dims) {
  const std::string text = absl::StrJoin(dims, ",");
  if (dims.size() > kMaxHiddenLayers) {
    return FlagError("hidden", text,
                     absl::StrFormat("at most %d layers", kMaxHiddenLayers));
  }
  for (const int dim : dims) {
    if (dim < 1 || dim > kMaxLayerWidth) {
      return FlagError(
          "hidden", text,
          absl::StrFormat("widths must be 1 to %d", kMaxLayerWidth));
    }
  }
  return absl::OkStatus();
}

absl::Status ResolveTower(TowerOptions& tower) {
  switch (tower.kind) {
    case v1::TOWER_KIND_DSSM:
      if (tower.activation == v1::ACTIVATION_IDENTITY) {
        return FlagError("activation", "linear",
                         "the layers of --tower=dssm are tanh; --tower=linear "
                         "has one layer without activation");
      }
      tower.activation = v1::ACTIVATION_TANH;
      break;
    case v1::TOWER_KIND_LINEAR:
      tower.hidden_dims.clear();
      if (tower.activation == v1::ACTIVATION_UNSPECIFIED) {
        tower.activation = v1::ACTIVATION_IDENTITY;
      }
      break;
    case v1::TOWER_KIND_CLSM:
      return FlagError("tower", "clsm",
                       "not available yet; this version trains dssm, linear");
    default:
      return FlagError("tower", "ssi",
                       "not available yet; this version trains dssm, linear");
  }
  SEMRANK_RETURN_IF_ERROR(CheckHidden(tower.hidden_dims));
  return CheckRange("embedding_dim", tower.embedding_dim, 1, kMaxLayerWidth);
}

absl::Status ResolveLoss(LossOptions& loss) {
  const bool in_batch = loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH;
  if (loss.negatives == -1) {
    loss.negatives = in_batch ? 0 : kDefaultUniformNegatives;
  }
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("negatives", loss.negatives, in_batch ? 0 : 1, kMaxNegatives));
  // Beyond, the softmax of single precision is an argmax.
  return CheckPositive("gamma", loss.gamma, 1000);
}

absl::Status CheckOptimizer(const OptimizerOptions& optimizer) {
  if (optimizer.kind == v1::OPTIMIZER_ADAGRAD) {
    return FlagError("optimizer", "adagrad",
                     "not available yet; this version has sgd, adam");
  }
  return CheckPositive("learning_rate", optimizer.learning_rate,
                       std::numeric_limits<float>::max());
}

}  // namespace

absl::Status ResolveOptions(TrainOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ResolveData(options.data));
  SEMRANK_RETURN_IF_ERROR(CheckFeatures(options.features));
  SEMRANK_RETURN_IF_ERROR(ResolveTower(options.tower));
  SEMRANK_RETURN_IF_ERROR(ResolveLoss(options.loss));
  SEMRANK_RETURN_IF_ERROR(CheckOptimizer(options.optimizer));
  // One pair alone has nothing to be told apart from.
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("batch_size", options.batch_size, 2, kMaxBatchSize));
  SEMRANK_RETURN_IF_ERROR(CheckRange("epochs", options.epochs, 1, 1'000'000));
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("patience", options.patience, 0, 1'000'000));
  return CheckRange("threads", options.threads, 0, 1024);
}

absl::StatusOr<TrainOptions> PresetOptions(std::string_view name) {
  if (name == "clsm2014" || name == "ssi2009") {
    return FlagError("preset", name,
                     "not available yet; this version has dssm2013");
  }
  if (name != "dssm2013") {
    return FlagError("preset", name, "not known; there is dssm2013");
  }
  TrainOptions options;
  options.tower = {.kind = v1::TOWER_KIND_DSSM,
                   .shared = true,
                   .hidden_dims = {300, 300},
                   .embedding_dim = 128};
  options.loss = {
      .sampling = v1::NEGATIVE_SAMPLING_UNIFORM, .negatives = 4, .gamma = 10};
  options.optimizer = {.kind = v1::OPTIMIZER_SGD, .learning_rate = 0.5};
  options.batch_size = 1024;
  options.epochs = 20;
  options.patience = 0;
  return options;
}

std::vector<int> TowerWidths(const TowerOptions& options, int num_features) {
  std::vector<int> widths = {num_features};
  widths.insert(widths.end(), options.hidden_dims.begin(),
                options.hidden_dims.end());
  widths.push_back(options.embedding_dim);
  return widths;
}

}  // namespace semrank
