#include "model/train/options/tower_options.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "model/base/status_macros.h"
#include "model/cli/program.h"
#include "model/format/model_config.h"
#include "model/nn/clsm_tower.h"
#include "model/train/options/option_checks.h"

namespace semrank {
namespace {

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

absl::Status ResolveClsm(TowerOptions& tower) {
  if (tower.activation == v1::ACTIVATION_IDENTITY) {
    return FlagError("activation", "linear",
                     "the layers of --tower=clsm are tanh");
  }
  tower.activation = v1::ACTIVATION_TANH;
  if (tower.clsm_window == 0) tower.clsm_window = kDefaultClsmWindow;
  SEMRANK_RETURN_IF_ERROR(
      CheckRange("window", tower.clsm_window, 1, kMaxClsmWindow));
  if (tower.clsm_window % 2 == 0) {
    return FlagError("window", absl::StrFormat("%d", tower.clsm_window),
                     "must be odd: a word and as many on each side");
  }
  if (!tower.hidden_dims.empty()) return absl::OkStatus();
  return FlagError("hidden", "",
                   "--tower=clsm needs the width of its convolution, such as "
                   "300");
}

}  // namespace

absl::Status Resolve(TowerOptions& tower) {
  if (tower.kind != v1::TOWER_KIND_CLSM && tower.clsm_window != 0) {
    return FlagError("window", absl::StrFormat("%d", tower.clsm_window),
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
  SEMRANK_RETURN_IF_ERROR(CheckHidden(tower.hidden_dims));
  if (!(tower.dropout >= 0 && tower.dropout < 1)) {
    return FlagError("dropout", absl::StrFormat("%g", tower.dropout),
                     "must be 0 to below 1");
  }
  if (tower.dropout > 0 && tower.hidden_dims.empty()) {
    return FlagError("dropout", absl::StrFormat("%g", tower.dropout),
                     "drops hidden units, and this network has none");
  }
  return CheckRange("embedding_dim", tower.embedding_dim, 1, kMaxLayerWidth);
}

int NumPaddings(const TowerOptions& options) {
  return options.clsm_window / 2 * 2;
}

std::vector<int> TowerWidths(const TowerOptions& options, int num_features) {
  std::vector<int> widths = {num_features * std::max(1, options.clsm_window)};
  widths.insert(widths.end(), options.hidden_dims.begin(),
                options.hidden_dims.end());
  widths.push_back(options.embedding_dim);
  return widths;
}

}  // namespace semrank
