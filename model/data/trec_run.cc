#include "model/data/trec_run.h"

#include <cmath>
#include <cstddef>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/data/input_lines.h"

namespace semrank {

absl::StatusOr<TrecRun> ReadTrecRun(const std::string& path,
                                    const Collection& collection,
                                    BadLines& bad_lines) {
  absl::flat_hash_map<absl::string_view, std::uint32_t> queries, documents;
  for (std::size_t q = 0; q < collection.queries.size(); ++q) {
    queries.emplace(collection.queries[q].id, q);
  }
  for (std::size_t d = 0; d < collection.document_ids.size(); ++d) {
    documents.emplace(collection.document_ids[d], d);
  }
  TrecRun run(collection.queries.size());
  absl::flat_hash_set<std::uint64_t> seen;
  const auto use = [&](std::string_view line) -> std::string {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(ToAbsl(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.size() != 6) {
      return absl::StrFormat(
          "%d fields instead of 6 (query Q0 document rank score tag)",
          fields.size());
    }
    float score = 0;
    // NaN has no order, and -infinity means "not ranked".
    if (!absl::SimpleAtof(fields[4], &score) || !std::isfinite(score)) {
      return absl::StrFormat("the score '%s' is no finite number", fields[4]);
    }
    const auto query = queries.find(fields[0]);
    const auto document = documents.find(fields[2]);
    // A run may be of a larger collection. Ranks are ignored: trec_eval too
    // orders by score.
    if (query == queries.end() || document == documents.end()) return "";
    if (!seen.insert(std::uint64_t{query->second} << 32 | document->second)
             .second) {
      return absl::StrFormat("document '%s' is repeated for this query",
                             fields[2]);
    }
    run[query->second].push_back({document->second, score});
    return "";
  };
  SEMRANK_RETURN_IF_ERROR(ForEachLine(path, bad_lines, use));
  return run;
}

}  // namespace semrank
