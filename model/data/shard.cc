#include "model/data/shard.h"

#include <charconv>
#include <system_error>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// The whole text must be a number: "2x" is none.
std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Shard> ParseShard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto number = ParseNumber(text.substr(0, slash));
  const auto count = ParseNumber(text.substr(slash + 1));
  if (!number || !count || *number < 1 || *number > *count) return std::nullopt;
  return Shard{.number = *number, .count = *count};
}

std::string FormatShard(const Shard& shard) {
  return absl::StrFormat("%d/%d", shard.number, shard.count);
}

}  // namespace semrank
