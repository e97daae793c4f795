// How many results are wanted and which: flags of the commands that rank.
#ifndef SEMRANK_CLIENT_COMMANDS_RANKING_FLAGS_H_
#define SEMRANK_CLIENT_COMMANDS_RANKING_FLAGS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "client/output/output.h"
#include "client/output/ranking_output.h"

namespace semrank {

struct RankingFlags {
  std::uint32_t top_k = 0;  // 0 = not given
  std::optional<float> min_score = {};
};

// --top_k and --min_score. FlagError for NaN.
absl::StatusOr<RankingFlags> RankingFromFlags();

// --with_scores, for a table of this form.
RankingTableOptions TableOptionsFromFlags(OutputFormat format);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_COMMANDS_RANKING_FLAGS_H_
