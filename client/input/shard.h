// A part of a file's lines, for one of several machines.
#ifndef SEMRANK_CLIENT_INPUT_SHARD_H_
#define SEMRANK_CLIENT_INPUT_SHARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semrank {

// Part `number` of `count`, from 1: lines number, number + count, ... as
// `split --number=r/K/N` deals them out, so all parts are of one size and no
// line need be counted before.
struct Shard {
  std::int64_t number = 1;
  std::int64_t count = 1;

  // `line` counts from 1.
  bool Has(std::int64_t line) const { return (line - number) % count == 0; }
  // Its lines among the first `num_lines` of the file.
  std::int64_t NumLines(std::int64_t num_lines) const {
    return num_lines / count + (number <= num_lines % count ? 1 : 0);
  }
};

// "2/8"; nothing unless 1 <= number <= count.
std::optional<Shard> ParseShard(std::string_view text);
std::string FormatShard(const Shard& shard);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_INPUT_SHARD_H_
