// The shape of the networks.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_TOWER_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_TOWER_OPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

class CommandLine;

struct TowerOptions {
  v1::TowerKind kind = v1::TOWER_KIND_DSSM;
  // Queries and titles have one tower, as in DSSM. CLSM reports separate ones
  // as better; on our collections, which have far fewer pairs, they are worse
  // (RESULTS.md).
  bool shared = true;
  // Widths between the input and the vector; of no effect for LINEAR. The first
  // of CLSM is that of its convolution.
  std::vector<int> hidden_dims = {300, 300};
  int embedding_dim = 128;
  // Share of hidden units put to 0 while learning, 0 to below 1.
  double dropout = 0;
  // Unspecified = tanh for DSSM and CLSM, which have no other; identity for
  // LINEAR.
  v1::Activation activation = v1::ACTIVATION_UNSPECIFIED;
  // Words in a window of CLSM, odd; 0 = kDefaultClsmWindow. The others have
  // none.
  int clsm_window = 0;
  // False = biases stay 0, as in the equations of the CLSM paper.
  bool biases = true;
};

// One layer learns more from a longer vector; several do not.
inline constexpr int kDefaultLinearDim = 256;
inline constexpr int kDefaultClsmWindow = 3;
// hidden_dims of CLSM: the paper (3.5) has one layer after the convolution.
inline constexpr int kDefaultConvolutionDim = 300;

void AddTowerOptions(CommandLine& command_line, TowerOptions& options);

// Replaces UNSPECIFIED and 0 by what it stands for, then checks; FlagError as
// ResolveOptions.
absl::Status Resolve(TowerOptions& options);

// Paddings "<s>" that stand around a text: none but for CLSM, window / 2 on
// each side. `options` are resolved.
int NumPaddings(const TowerOptions& options);

// Widths of the layers of a tower: input, hidden, vector. The input is
// num_features wide, times the places of CLSM's window.
std::vector<int> TowerWidths(const TowerOptions& options, int num_features);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_TOWER_OPTIONS_H_
