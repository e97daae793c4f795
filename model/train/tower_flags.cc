#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_join.h"
#include "model/base/settable_flag.h"
#include "model/base/status_macros.h"
#include "model/train/flag_groups.h"
#include "model/train/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;
using Double = semrank::Settable<double>;
using Bool = semrank::Settable<bool>;

// Defaults are those of the options struct, which has no other home for them.
semrank::TowerOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, tower, Text{"dssm"},
          "Network: dssm (tanh layers), linear (one layer). clsm and ssi are "
          "not available yet.");
ABSL_FLAG(Bool, shared_towers, Bool{Defaults().shared},
          "One network for queries and titles; otherwise one for each.");
ABSL_FLAG(Text, hidden, Text{absl::StrJoin(Defaults().hidden_dims, ",")},
          "Widths of the layers between input and vector, with commas between "
          "them; may be empty. --tower=linear has none.");
ABSL_FLAG(Int, embedding_dim, Int{Defaults().embedding_dim},
          "Numbers in a vector.");
ABSL_FLAG(Double, dropout, Double{Defaults().dropout},
          "Share of the hidden units that each text loses in training, drawn "
          "anew each time, 0 to below 1.");
ABSL_FLAG(std::string, activation, "",
          "Of --tower=linear: linear (the default) or tanh. dssm is tanh.");

namespace semrank {

absl::Status ReadFlags(TowerOptions& options) {
  SEMRANK_RETURN_IF_ERROR(ReadName(absl::GetFlag(FLAGS_tower), options.kind));
  absl::GetFlag(FLAGS_shared_towers).CopyIfSet(options.shared);
  if (const Text hidden = absl::GetFlag(FLAGS_hidden); hidden.is_set) {
    SEMRANK_ASSIGN_OR_RETURN(options.hidden_dims, ParseWidths(hidden.value));
  }
  absl::GetFlag(FLAGS_embedding_dim).CopyIfSet(options.embedding_dim);
  absl::GetFlag(FLAGS_dropout).CopyIfSet(options.dropout);
  const std::string activation = absl::GetFlag(FLAGS_activation);
  return activation.empty() ? absl::OkStatus()
                            : ParseOption(activation, options.activation);
}

}  // namespace semrank
