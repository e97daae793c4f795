#include "client/commands/ranking_flags.h"

#include <cmath>

#include "absl/flags/flag.h"
#include "model/cli/program.h"

ABSL_FLAG(std::uint32_t, top_k, 0,
          "How many of the best to print. 0 = all that were ranked; of a "
          "search 10.");
ABSL_FLAG(std::optional<double>, min_score, std::nullopt,
          "Leave out titles that score less. None = keep all.");
ABSL_FLAG(bool, with_scores, true, "Print the score column of table and tsv.");

namespace semrank {

absl::StatusOr<RankingFlags> RankingFromFlags() {
  RankingFlags flags{.top_k = absl::GetFlag(FLAGS_top_k)};
  const std::optional<double> min_score = absl::GetFlag(FLAGS_min_score);
  if (!min_score.has_value()) return flags;
  if (std::isnan(*min_score)) {
    return FlagError("min_score", "nan", "want a number");
  }
  flags.min_score = static_cast<float>(*min_score);
  return flags;
}

RankingTableOptions TableOptionsFromFlags(OutputFormat format) {
  return {.with_scores = absl::GetFlag(FLAGS_with_scores),
          .rounded = format == OutputFormat::kTable};
}

}  // namespace semrank
