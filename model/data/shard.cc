#include "model/data/shard.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/strings.h"

namespace semrank {

std::optional<Shard> ParseShard(std::string_view text) {
  // "2" alone has an empty second part, which is not a number.
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(ToAbsl(text), absl::MaxSplits('/', 1));
  Shard shard;
  // SimpleAtoi allows blanks around a number.
  if (text.find_first_of(" \t") != text.npos ||
      !absl::SimpleAtoi(parts.first, &shard.number) ||
      !absl::SimpleAtoi(parts.second, &shard.count) || shard.number < 1 ||
      shard.number > shard.count) {
    return std::nullopt;
  }
  return shard;
}

std::string FormatShard(const Shard& shard) {
  return absl::StrFormat("%d/%d", shard.number, shard.count);
}

}  // namespace semrank
