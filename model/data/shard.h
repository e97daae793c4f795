// The part of a file that a command processes, so that machines can share the
// work.
#ifndef SEMRANK_MODEL_DATA_SHARD_H_
#define SEMRANK_MODEL_DATA_SHARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semrank {

// Shard `number` of `count`, from 1: lines number, number + count, ... like
// `split --number=r/K/N`. All shards have the same size, and no line needs to
// be counted in advance.
struct Shard {
  std::int64_t number = 1;
  std::int64_t count = 1;

  // `line` counts from 1.
  bool Contains(std::int64_t line) const {
    return (line - number) % count == 0;
  }
  // The shard's lines among the first `num_lines` of the file.
  std::int64_t NumLines(std::int64_t num_lines) const {
    return num_lines / count + (number <= num_lines % count ? 1 : 0);
  }
};

// "2/8"; nothing unless 1 <= number <= count.
std::optional<Shard> ParseShard(std::string_view text);
std::string FormatShard(const Shard& shard);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_SHARD_H_
