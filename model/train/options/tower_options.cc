#include "model/train/options/tower_options.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/train/options/option_names.h"

namespace semrank {
namespace {

absl::Status ResolveClsm(TowerOptions& tower) {
  if (tower.activation == v1::ACTIVATION_IDENTITY) {
    return FlagError("activation", "linear",
                     "the layers of --tower=clsm are tanh");
  }
  tower.activation = v1::ACTIVATION_TANH;
  if (tower.clsm_window == 0) tower.clsm_window = kDefaultClsmWindow;
  // n = 2d + 1 (CLSM eq. 1).
  if (tower.clsm_window % 2 == 0) {
    return FlagError("window", tower.clsm_window,
                     "must be odd: a word and as many on each side");
  }
  if (!tower.hidden_dims.empty()) return absl::OkStatus();
  return FlagError("hidden", "",
                   "--tower=clsm needs the width of its convolution, such as "
                   "300");
}

}  // namespace

void AddTowerOptions(CommandLine& command_line, TowerOptions& options) {
  command_line.Group("Network");
  command_line.Add("tower", &options.kind,
                   "linear (bag of features, one layer), dssm (the same with "
                   "tanh layers; the default if --hidden is given), clsm (word "
                   "windows, convolution, max pooling: depends on the order of "
                   "words), ssi (tf-idf words compared through a learned "
                   "matrix, see --ssi; it has other defaults: MATHEMATICS.md).",
                   kTowerNames);
  command_line.Add("shared_towers", &options.shared,
                   "One network for queries and titles; otherwise one for "
                   "each. ssi: --ssi decides.");
  command_line.Add("hidden", &options.hidden_dims,
                   "Sizes of the hidden layers; may be empty. dssm: 300,300 by "
                   "default; clsm: 300 by default, its convolution comes "
                   "first; linear and ssi have none.",
                   {.min = 1, .max = kMaxLayerWidth});
  command_line.Add("embedding_dim", &options.embedding_dim,
                   "Elements of a vector. 128 by default for towers other "
                   "than linear. ssi: the rank of U and V.",
                   {.min = 1, .max = kMaxLayerWidth});
  command_line.Group("Network", CommandLine::Level::kAdvanced);
  command_line.Add("dropout", &options.dropout,
                   "Share of the hidden units that are dropped in training, "
                   "drawn again for each text, 0 to below 1.");
  command_line.Add("activation", &options.activation,
                   "--tower=linear: activation function, linear by default. "
                   "The other towers use tanh.",
                   kActivationNames);
  command_line.Add("biases", &options.biases,
                   "Layers learn biases; otherwise biases stay 0.");
  command_line.Add("window", &options.clsm_window,
                   absl::StrFormat("--tower=clsm: words in a window, odd. 0 = "
                                   "%d.",
                                   kDefaultClsmWindow),
                   {.min = 0, .max = kMaxClsmWindow});
}

absl::Status Resolve(TowerOptions& tower) {
  if (tower.kind != v1::TOWER_KIND_CLSM && tower.clsm_window != 0) {
    return FlagError("window", tower.clsm_window,
                     "only --tower=clsm has windows");
  }
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
      // Its default is that of DSSM; a linear tower has none.
      tower.hidden_dims.clear();
      if (tower.activation == v1::ACTIVATION_UNSPECIFIED) {
        tower.activation = v1::ACTIVATION_IDENTITY;
      }
      break;
    case v1::TOWER_KIND_CLSM:
      SEMRANK_RETURN_IF_ERROR(ResolveClsm(tower));
      break;
    default:  // SSI; ResolveSsi does the rest.
      if (tower.activation == v1::ACTIVATION_TANH) {
        return FlagError("activation", "tanh", "--tower=ssi has none");
      }
      tower.activation = v1::ACTIVATION_IDENTITY;
      break;
  }
  if (tower.hidden_dims.size() > kMaxHiddenLayers) {
    return FlagError("hidden", absl::StrJoin(tower.hidden_dims, ","),
                     absl::StrFormat("at most %d layers", kMaxHiddenLayers));
  }
  // Written so that NaN fails too. 1 would drop every unit and divide by 0.
  if (!(tower.dropout >= 0 && tower.dropout < 1)) {
    return FlagError("dropout", tower.dropout, "must be 0 to below 1");
  }
  if (tower.dropout > 0 && tower.hidden_dims.empty()) {
    return FlagError("dropout", tower.dropout,
                     "drops hidden units, and this network has none");
  }
  return absl::OkStatus();
}

int NumPaddings(const TowerOptions& options) {
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

}  // namespace semrank
