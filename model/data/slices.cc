#include "model/data/slices.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/data/input_lines.h"

namespace semrank {

absl::StatusOr<std::vector<Slice>> ReadSlices(const std::string& path,
                                              const Collection& collection,
                                              BadLines& bad_lines) {
  absl::flat_hash_map<absl::string_view, std::uint32_t> queries;
  for (std::size_t q = 0; q < collection.queries.size(); ++q) {
    queries.emplace(collection.queries[q].id, q);
  }
  std::vector<Slice> slices;
  const auto use = [&](std::string_view line) -> std::string {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(ToAbsl(line), '\t');
    if (fields.size() != 2 || fields[1].empty()) {
      return "not query_id<TAB>slice";
    }
    const auto query = queries.find(fields[0]);
    // Not an error: one file of slices may serve several sets of queries.
    if (query == queries.end()) return "";
    // Slices are few: a linear search keeps them in order of first appearance.
    auto slice =
        std::find_if(slices.begin(), slices.end(),
                     [&](const Slice& s) { return s.name == fields[1]; });
    if (slice == slices.end()) {
      slice = slices.insert(slice, {std::string(fields[1]), {}});
    }
    slice->queries.push_back(query->second);
    return "";
  };
  SEMRANK_RETURN_IF_ERROR(ForEachLine(path, bad_lines, use));
  if (slices.empty()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: names no query of --queries", path));
  }
  for (Slice& slice : slices) {
    std::sort(slice.queries.begin(), slice.queries.end());
    slice.queries.erase(std::unique(slice.queries.begin(), slice.queries.end()),
                        slice.queries.end());
  }
  return slices;
}

}  // namespace semrank
