// Finds the known name closest to a mistyped one: "did you mean --gamma?".
#ifndef SEMRANK_MODEL_BASE_NEAR_MATCH_H_
#define SEMRANK_MODEL_BASE_NEAR_MATCH_H_

#include <string>
#include <string_view>
#include <vector>

namespace semrank {

// The least number of bytes to insert, delete, replace or swap with their
// neighbour to turn `a` into `b`. Costs the product of the lengths.
int EditDistance(std::string_view a, std::string_view b);

// The name closest to `typed`: at most two edits away, or one for fewer than
// five bytes; otherwise the only name that begins with `typed`. "-" counts as
// "_". Empty if there is none. Ties go to the first.
std::string NearMatch(std::string_view typed,
                      const std::vector<std::string>& names);

// " (did you mean --gamma?)" with the prefix "--"; empty if no name is close.
std::string Hint(std::string_view typed, const std::vector<std::string>& names,
                 std::string_view prefix);

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_NEAR_MATCH_H_
