#include "model/train/start/kept_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/file_io.h"
#include "model/base/fingerprint.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/data/input_lines.h"

namespace semrank {
namespace {

// The sample has the pairs with the lowest hashes. A hash depends only on the
// texts, so the sample is random with respect to the log but the same every
// night. The sample of two nights can be computed from their two samples.

// A hash, which decides the order of the file, and "query TAB title".
using HashedPair = std::pair<std::uint64_t, std::string>;

// Stands for the tab before the further words of a normalised text.
constexpr char kFurtherWords = '\x1f';

std::string WithoutTabs(std::string_view text) {
  std::string written(text);
  std::ranges::replace(written, '\t', kFurtherWords);
  return written;
}

std::string WithTabs(absl::string_view written) {
  std::string text(written);
  std::ranges::replace(text, kFurtherWords, '\t');
  return text;
}

// Without a secret: a sample of one process continues in another.
HashedPair Hashed(std::string_view query, std::string_view title) {
  std::string line = absl::StrCat(WithoutTabs(query), "\t", WithoutTabs(title));
  const std::uint64_t hash = BytesFingerprint(line).lo;
  return {hash, std::move(line)};
}

HashedPair Hashed(const TextInterner& texts, const TextPair& pair) {
  return Hashed(texts.text(pair.query), texts.text(pair.title));
}

using PairSet = absl::flat_hash_set<std::pair<TextId, TextId>>;

}  // namespace

std::string FormatKeptPairs(const TextInterner& texts,
                            std::span<const TextPair> pairs,
                            std::int64_t max_pairs) {
  std::map<HashedPair, double> sample;
  for (const TextPair& pair : pairs) {
    if (max_pairs == 0) break;
    HashedPair hashed = Hashed(texts, pair);
    // A full map has the lowest hashes so far. A pair above its last entry
    // cannot come in, and most pairs of a large log are such.
    const bool is_full = std::ssize(sample) == max_pairs;
    if (is_full && sample.rbegin()->first < hashed) continue;
    // A log may have a pair in several lines; its clicks are added up,
    // corrected for their positions.
    sample[std::move(hashed)] += static_cast<double>(pair.clicks) * pair.weight;
    if (std::ssize(sample) > max_pairs) {
      sample.erase(std::prev(sample.end()));
    }
  }
  std::string lines;
  for (const auto& [pair, clicks] : sample) {
    // Clicks that are corrected for positions have fractions, and the file has
    // whole clicks from 1.
    const std::int64_t whole = std::max<std::int64_t>(1, std::llround(clicks));
    const std::string line = absl::StrCat(pair.second, "\t", whole);
    // ReadKeptPairs would refuse the whole file for a line that is too long.
    if (ProblemOfBytes(line).empty()) absl::StrAppend(&lines, line, "\n");
  }
  return lines;
}

absl::StatusOr<std::vector<ClickPair>> ReadKeptPairs(
    const std::string& version_dir) {
  std::vector<ClickPair> kept;
  const std::string path = absl::StrCat(version_dir, "/", kKeptPairsFile);
  // The size of the file bounds the memory: a LineReader would decompress it.
  const auto file = LoadedFile::Read(path);
  // Models of earlier versions, and those of --keep_pairs=0, have no such file.
  if (absl::IsNotFound(file.status())) return kept;
  SEMRANK_RETURN_IF_ERROR(file.status());
  std::int64_t line_number = 0;
  for (std::string_view rest = (*file)->content(); !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++line_number;
    // No manifest lists the file, and later steps rely on valid UTF-8.
    if (const std::string problem = ProblemOfLine(line); !problem.empty()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s:%d: %s", path, line_number, problem));
    }
    const std::vector<absl::string_view> fields =
        absl::StrSplit(ToAbsl(line), '\t');
    std::int64_t clicks = 0;
    if (fields.size() != 3 || fields[0].empty() || fields[1].empty() ||
        !absl::SimpleAtoi(fields[2], &clicks) || clicks < 1) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d is not a line query TAB title TAB clicks", path, line_number));
    }
    kept.push_back({.query = WithTabs(fields[0]),
                    .title = WithTabs(fields[1]),
                    .clicks = clicks});
  }
  return kept;
}

SeenPairs CountSeen(const std::vector<ClickPair>& kept,
                    const TextInterner& texts,
                    std::span<const TextPair> pairs) {
  SeenPairs seen;
  if (kept.empty()) return seen;
  absl::flat_hash_set<std::string> lines_of_kept;
  std::uint64_t highest = 0;
  for (const ClickPair& pair : kept) {
    // The sample has every learned pair up to its highest hash, so a pair of
    // the log up to there is in it or is new. Whether the sample was full, and
    // says nothing about pairs above, is not known: hashes are uniform, so a
    // complete sample of n pairs leaves about 1 of n + 1 pairs above it.
    HashedPair hashed = Hashed(pair.query, pair.title);
    highest = std::max(highest, hashed.first);
    lines_of_kept.insert(std::move(hashed.second));
  }
  PairSet counted;
  for (const TextPair& pair : pairs) {
    // A pair with many lines says no more about the file than one with a
    // single line.
    if (!counted.emplace(pair.query, pair.title).second) continue;
    const HashedPair hashed = Hashed(texts, pair);
    if (hashed.first > highest) continue;
    ++seen.num_compared;
    seen.num_seen += lines_of_kept.contains(hashed.second) ? 1 : 0;
  }
  return seen;
}

std::vector<TextPair> AppendKept(const std::vector<ClickPair>& kept,
                                 std::span<const TextPair> held_out,
                                 std::span<const TextPair> unwanted,
                                 TextInterner& texts,
                                 std::vector<TextPair>& pairs) {
  PairSet known;
  for (const TextPair& pair : pairs) known.emplace(pair.query, pair.title);
  PairSet dropped;
  for (const TextPair& pair : unwanted) dropped.emplace(pair.query, pair.title);
  absl::flat_hash_set<TextId> held_out_queries;
  for (const TextPair& pair : held_out) held_out_queries.insert(pair.query);
  std::vector<TextPair> omitted;
  for (const ClickPair& pair : kept) {
    // A query that is held out for validation must not come back through an
    // earlier night.
    const TextPair interned = InternPair(pair, texts);
    if (dropped.contains({interned.query, interned.title})) continue;
    if (held_out_queries.contains(interned.query)) {
      omitted.push_back(interned);
    } else if (!known.contains({interned.query, interned.title})) {
      pairs.push_back(interned);
    }
  }
  return omitted;
}

}  // namespace semrank
