#include "model/train/options/loss_options.h"

#include "absl/strings/str_format.h"
#include "model/cli/command_line.h"
#include "model/cli/exit_code.h"

namespace semrank {

bool UsesShownTitles(const LossOptions& options) {
  return options.sampling == v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED ||
         options.hard_negatives > 0;
}

bool DrawsTitles(const LossOptions& options) {
  return options.sampling != v1::NEGATIVE_SAMPLING_IN_BATCH;
}

void AddLossOptions(CommandLine& command_line, LossOptions& options) {
  command_line.Group("Loss");
  command_line.Add(
      "negative_sampling", &options.sampling,
      "Source of the unclicked titles: in_batch (other pairs of the "
      "mini-batch; one product scores all of them), uniform (drawn from all "
      "titles, each embedded for itself, as in the papers) or shown (drawn "
      "from those that were shown for the same query and did worse: fewer "
      "clicks, a lower click rate where all have impressions, a lower grade "
      "with --judged; uniform ones fill up). Titles that were clicked for the "
      "query are ignored, except those that shown says did worse.",
      {{"uniform", v1::NEGATIVE_SAMPLING_UNIFORM},
       {"in_batch", v1::NEGATIVE_SAMPLING_IN_BATCH},
       {"shown", v1::NEGATIVE_SAMPLING_SHOWN_NOT_CLICKED}});
  command_line.Add(
      "negatives", &options.negatives,
      absl::StrFormat("Unclicked titles beside each clicked one, J. in_batch: "
                      "0 = all other titles of the batch. -1 = all with "
                      "in_batch, %d otherwise.",
                      kDefaultNegatives),
      {.min = -1, .max = kMaxNegatives});
  // Beyond, the softmax of single precision is an argmax.
  command_line.Add("gamma", &options.gamma,
                   "Factor on the cosine in the softmax; --tower=ssi has no "
                   "softmax. 0 = 10 when the training pairs have fewer than "
                   "20,000 distinct queries, otherwise 15.",
                   {.min = kAutoGamma, .max = 1000});
  command_line.Group("Loss", CommandLine::Level::kAdvanced);
  command_line.Add("hard_negatives", &options.hard_negatives,
                   "Titles beside those of the batch, at most, that were shown "
                   "for the same query and did worse, as with "
                   "--negative_sampling=shown. Only with "
                   "--negative_sampling=in_batch.",
                   {.min = 0, .max = kMaxNegatives});
  command_line.Add("clicks", &options.clicks,
                   "Meaning of click counts: ignore (each line counts once), "
                   "weight (the loss of a pair counts as often as it was "
                   "clicked; the mean of a mini-batch is over its clicks) or "
                   "repeat (the pair occurs that often in an epoch, each time "
                   "in another batch and against other titles).",
                   {{"ignore", v1::CLICK_USE_IGNORE},
                    {"weight", v1::CLICK_USE_WEIGHT},
                    {"repeat", v1::CLICK_USE_REPEAT}});
  command_line.Add(
      "logq", &options.logq,
      "Corrects the softmax for popular titles, which are "
      "negatives more often than others: subtracts X ln(n) from "
      "the logit of a title of n training pairs, in training "
      "only. 0 = no correction, 1 = that of Yi et al., 2019. Only "
      "with --negative_sampling=in_batch; not with --tower=ssi. "
      "-1 = 0.5 when a pair finds, on average, more than one other "
      "of its title in its mini-batch, otherwise 0; also 0 when "
      "the pairs do not fit in memory.",
      {.min = kAutoLogQ, .max = 1});
  command_line.Add("query_typos", &options.query_typos,
                   "Share of the training queries that get one random edit "
                   "(a letter deleted, inserted, replaced or swapped, in a "
                   "word of 3 letters or more), drawn anew in each epoch. "
                   "Needs letters among --features.",
                   {.min = 0, .max = 1});
  command_line.Add("margin", &options.margin,
                   "--tower=ssi: margin by which the clicked title has to "
                   "score higher than an unclicked one.",
                   {.min = 0, .max = 1000, .above_min = true});
}

absl::Status Resolve(LossOptions& loss) {
  const bool in_batch = loss.sampling == v1::NEGATIVE_SAMPLING_IN_BATCH;
  // In-batch negatives are embedded anyway and scored by one product, so all
  // are taken; each drawn one costs an embedding.
  if (loss.negatives == -1) {
    loss.negatives = in_batch ? 0 : kDefaultNegatives;
  }
  if (loss.negatives == 0 && !in_batch) {
    return FlagError("negatives", "0",
                     absl::StrFormat("must be 1 to %d, unless "
                                     "--negative_sampling=in_batch",
                                     kMaxNegatives));
  }
  if (loss.hard_negatives > 0 && !in_batch) {
    return FlagError("hard_negatives", loss.hard_negatives,
                     "they stand beside those of "
                     "--negative_sampling=in_batch; with shown, --negatives "
                     "says how many there are");
  }
  if (loss.logq < 0 && loss.logq != kAutoLogQ) {
    return FlagError("logq", loss.logq, "must be 0 to 1, or -1");
  }
  if (loss.logq == kAutoLogQ && !in_batch) loss.logq = 0;
  // Uniform titles are negatives equally often: there is nothing to correct.
  if (loss.logq > 0 && !in_batch) {
    return FlagError("logq", loss.logq,
                     "corrects for titles that are often in a batch; needs "
                     "--negative_sampling=in_batch");
  }
  return absl::OkStatus();
}

}  // namespace semrank
