#include <string>

#include "absl/flags/flag.h"
#include "model/base/status_macros.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;
using Double = semrank::Settable<double>;
using Bool = semrank::Settable<bool>;

// Defaults are those of the options struct, which has no other home for them.
semrank::TowerOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, tower, Text{"linear"},
          "Network: linear (bag of features, one layer), dssm (the same with "
          "tanh layers; what --hidden stands for without --tower), clsm (word "
          "windows, convolution, max pooling: reads words in their "
          "order), ssi (tf-idf words compared through a learned matrix, see "
          "--ssi; other defaults go with it: TRAINING.md).");
ABSL_FLAG(Bool, shared_towers, Bool{Defaults().shared},
          "One network for queries and titles; otherwise one for each. ssi: as "
          "--ssi says.");
ABSL_FLAG(Text, hidden, Text{""},
          "Widths of the layers between input and vector, with commas between "
          "them; may be empty. Without it 300,300 for --tower=dssm and 300, "
          "its convolution, for clsm; linear and ssi have none.");
ABSL_FLAG(Int, window, Int{semrank::kDefaultClsmWindow},
          "Of --tower=clsm: words in a window, odd, 1 to 15.");
ABSL_FLAG(Int, embedding_dim, Int{semrank::kDefaultLinearDim},
          "Numbers in a vector. Without it 128 for the other towers than "
          "linear. For ssi the rank of U and V.");
ABSL_FLAG(Double, dropout, Double{Defaults().dropout},
          "Share of the hidden units that each text loses in training, drawn "
          "anew each time, 0 to below 1.");
ABSL_FLAG(std::string, activation, "",
          "Of --tower=linear: linear (the default) or tanh. The others are "
          "tanh.");
ABSL_FLAG(Bool, biases, Bool{Defaults().biases},
          "Whether layers learn biases; otherwise these stay 0.");

namespace semrank {

v1::TowerKind DefaultTowerFromFlags() {
  return absl::GetFlag(FLAGS_hidden).is_set ? v1::TOWER_KIND_DSSM
                                            : v1::TOWER_KIND_LINEAR;
}

absl::Status ReadFlags(TowerOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ReadName(absl::GetFlag(FLAGS_tower), options.kind));
  absl::GetFlag(FLAGS_shared_towers).CopyIfSet(options.shared);
  if (const Text hidden = absl::GetFlag(FLAGS_hidden); hidden.is_set) {
    SEMRANK_ASSIGN_OR_RETURN(options.hidden_dims, ParseWidths(hidden.value));
  } else if (absl::GetFlag(FLAGS_tower).is_set &&
             options.kind == v1::TOWER_KIND_CLSM) {
    options.hidden_dims = {kDefaultConvolutionDim};
  }
  absl::GetFlag(FLAGS_window).CopyIfSet(options.clsm_window);
  absl::GetFlag(FLAGS_biases).CopyIfSet(options.biases);
  absl::GetFlag(FLAGS_embedding_dim).CopyIfSet(options.embedding_dim);
  absl::GetFlag(FLAGS_dropout).CopyIfSet(options.dropout);
  const std::string activation = absl::GetFlag(FLAGS_activation);
  return activation.empty() ? absl::OkStatus()
                            : ParseOption(activation, options.activation);
}

}  // namespace semrank
