// What is minimised, and against which unclicked titles.
#ifndef SEMRANK_MODEL_TRAIN_OPTIONS_LOSS_OPTIONS_H_
#define SEMRANK_MODEL_TRAIN_OPTIONS_LOSS_OPTIONS_H_

#include "absl/status/status.h"
#include "semrank/v1/model_config.pb.h"

namespace semrank {

class CommandLine;

inline constexpr double kAutoGamma = 0;
inline constexpr double kDefaultGamma = 15;
inline constexpr double kFewQueriesGamma = 10;

struct LossOptions {
  v1::NegativeSampling sampling = v1::NEGATIVE_SAMPLING_IN_BATCH;
  // J. In-batch: 0 = all other titles. -1 = all with in-batch sampling,
  // otherwise kDefaultNegatives.
  int negatives = -1;
  // In-batch: most titles beside them that were shown but not clicked.
  int hard_negatives = 0;
  // Smoothing factor of eq. 6; kAutoGamma = as ChooseGamma says
  // (batches/gamma.h).
  double gamma = kDefaultGamma;
  // Margin of the ranking loss (SSI); 1 in the paper.
  double margin = 0.5;
  // WEIGHT and REPEAT make a pair count as often as it was clicked.
  v1::ClickUse clicks = v1::CLICK_USE_IGNORE;
  // X of the logQ correction of in-batch sampling; 0 = none, kAutoLogQ = as
  // ChooseLogQ says (batches/logq.h).
  double logq = 0;
  // Share of the queries that get one random edit each time they are trained
  // on.
  double query_typos = 0;
};

inline constexpr int kDefaultNegatives = 4;
inline constexpr int kMaxNegatives = 1000;
inline constexpr double kAutoLogQ = -1;
inline constexpr double kDefaultLogQ = 0.5;

// Whether negatives come from what was shown for the same query.
bool UsesShownTitles(const LossOptions& options);

// Whether negatives are drawn from the titles of the whole training set.
bool DrawsTitles(const LossOptions& options);

void AddLossOptions(CommandLine& command_line, LossOptions& options);

// Replaces -1 by what it stands for, then checks; FlagError as ResolveOptions.
// kAutoLogQ stays for the negatives of a batch: the training data decide.
absl::Status Resolve(LossOptions& options);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_OPTIONS_LOSS_OPTIONS_H_
