#include <string>

#include "absl/flags/flag.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/cli/settable_flag.h"
#include "model/train/options/flag_groups.h"
#include "model/train/options/option_names.h"

namespace {

using Text = semrank::Settable<std::string>;
using Int = semrank::Settable<int>;
using Double = semrank::Settable<double>;

// Defaults are those of the options struct, which has no other home for them.
semrank::LossOptions Defaults() { return {}; }

}  // namespace

ABSL_FLAG(Text, negative_sampling, Text{"in_batch"},
          "Where unclicked titles come from: in_batch (other pairs of the "
          "mini-batch; one product scores all of them), uniform (drawn from "
          "all titles, each embedded for itself; the paper's) or shown "
          "(drawn from those shown for the same query that did worse: fewer "
          "clicks, a lower click rate where all have impressions, a lower "
          "grade with --judged; uniform ones fill up). Left out are titles "
          "equal to the clicked one, of in_batch also those of an equal "
          "query, of uniform all that were clicked for it.");
ABSL_FLAG(Int, negatives, Int{Defaults().negatives},
          absl::StrFormat("Unclicked titles beside each clicked one, J. "
                          "in_batch: 0 = all other titles of the batch. -1 = "
                          "all with in_batch, %d otherwise.",
                          semrank::kDefaultNegatives));
ABSL_FLAG(Int, hard_negatives, Int{Defaults().hard_negatives},
          "Beside the titles of the batch, up to so many that were shown for "
          "the same query and did worse, as --negative_sampling=shown has it. "
          "Only with --negative_sampling=in_batch.");
ABSL_FLAG(std::string, clicks, "ignore",
          "What click counts do: ignore (each line counts once), weight (the "
          "loss of a pair counts as often as it was clicked; the mean of a "
          "mini-batch is over its clicks) or repeat (the pair occurs that "
          "often in an epoch, each time in another batch and against other "
          "titles).");
ABSL_FLAG(Double, gamma, Double{Defaults().gamma},
          "Factor on the cosine in the softmax; --tower=ssi has no softmax.");
ABSL_FLAG(Double, margin, Double{Defaults().margin},
          "--tower=ssi: how much higher than an unclicked title the clicked "
          "one has to score.");

namespace semrank {

absl::Status ReadFlags(LossOptions& options) {
  SEMRANK_RETURN_IF_ERROR(
      ReadName(absl::GetFlag(FLAGS_negative_sampling), options.sampling));
  absl::GetFlag(FLAGS_negatives).CopyIfSet(options.negatives);
  absl::GetFlag(FLAGS_hard_negatives).CopyIfSet(options.hard_negatives);
  absl::GetFlag(FLAGS_gamma).CopyIfSet(options.gamma);
  absl::GetFlag(FLAGS_margin).CopyIfSet(options.margin);
  return ParseOption(absl::GetFlag(FLAGS_clicks), options.clicks);
}

}  // namespace semrank
