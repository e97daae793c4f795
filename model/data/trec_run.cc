#include "model/data/trec_run.h"

#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"

namespace semrank {
namespace {

// The rank of a line (field 4) and the order of lines are ignored, as trec_eval
// does: only the score orders a ranking.

// Adds the lines of a run to the rankings of their queries.
class RunReader {
 public:
  explicit RunReader(const Collection& collection)
      : num_documents_(collection.document_ids.size()) {
    for (std::size_t q = 0; q < collection.queries.size(); ++q) {
      queries_.emplace(collection.queries[q].id, q);
    }
    for (std::size_t d = 0; d < num_documents_; ++d) {
      documents_.emplace(collection.document_ids[d], d);
    }
    run_.rankings.resize(collection.queries.size());
  }

  std::string Use(std::string_view line) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(ToAbsl(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.empty() || IsTrecComment(line)) return "";
    ++num_lines_;
    if (fields.size() < 6) {
      return absl::StrFormat(
          "%d fields instead of 6 (query Q0 document rank score tag)",
          fields.size());
    }
    float score = 0;
    // NaN has no order, and -infinity means "not ranked".
    if (!absl::SimpleAtof(fields[4], &score) || !std::isfinite(score)) {
      return absl::StrFormat("the score '%s' is not a finite number",
                             fields[4]);
    }
    const auto query = queries_.find(fields[0]);
    if (query == queries_.end()) {
      ++num_unknown_queries_;
      return "";
    }
    return Add(query->second, fields[2], score);
  }

  absl::StatusOr<TrecRun> Finish(std::string_view path) && {
    // A run that ranks nothing has measures of 0, which look like a bad ranker.
    if (num_used_ == 0) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: no line can be used: of %d lines, %d are of queries that "
          "--queries does not have and %d are bad",
          path, num_lines_, num_unknown_queries_,
          num_lines_ - num_unknown_queries_));
    }
    return std::move(run_);
  }

 private:
  std::string Add(std::uint32_t query, absl::string_view id, float score) {
    // Documents that the collection does not have are numbered after its own,
    // so that they keep their place in the ranking.
    const auto [found, is_new] = documents_.try_emplace(
        id, static_cast<std::uint32_t>(documents_.size()));
    const std::uint32_t document = found->second;
    if (is_new) run_.unknown_ids.emplace_back(id);
    if (!seen_.insert(std::uint64_t{query} << 32 | document).second) {
      return absl::StrFormat("document '%s' is repeated for this query", id);
    }
    if (document >= num_documents_) ++run_.num_unknown_documents;
    ++num_used_;
    run_.rankings[query].push_back({document, score});
    return "";
  }

  std::size_t num_documents_;
  absl::flat_hash_map<absl::string_view, std::uint32_t> queries_;
  absl::flat_hash_map<std::string, std::uint32_t> documents_;
  absl::flat_hash_set<std::uint64_t> seen_;
  TrecRun run_;
  std::int64_t num_lines_ = 0;
  std::int64_t num_unknown_queries_ = 0;
  std::int64_t num_used_ = 0;
};

}  // namespace

absl::StatusOr<TrecRun> ReadTrecRun(const std::string& path,
                                    const Collection& collection,
                                    BadLines& bad_lines) {
  RunReader reader(collection);
  SEMRANK_RETURN_IF_ERROR(
      ForEachLine(path, bad_lines,
                  [&](std::string_view line) { return reader.Use(line); }));
  return std::move(reader).Finish(path);
}

}  // namespace semrank
