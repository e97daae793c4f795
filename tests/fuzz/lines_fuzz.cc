// Any bytes as the files of the trainer and the evaluator: click pairs, then
// documents, queries, judgements and a run, which \x1E separates. Plain, gzip
// or Zstandard, as the first bytes say.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/data/collection.h"
#include "model/data/pair_reader.h"
#include "model/data/trec_run.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/memory_file.h"

namespace semrank {
namespace {

void CheckPairs(const MemoryFile& file, PairLines lines) {
  BadLines bad_lines(0);
  PairReader reader({file.path()}, lines, bad_lines);
  ClickPair pair;
  absl::StatusOr<bool> found = reader.Next(pair);
  for (; found.ok() && *found; found = reader.Next(pair)) {
    FUZZ_CHECK(!pair.query.empty() && !pair.title.empty());
    FUZZ_CHECK(pair.impressions >= 0);
  }
}

void CheckRun(const Collection& collection, const MemoryFile& file) {
  BadLines bad_lines(0);
  const absl::StatusOr<TrecRun> run =
      ReadTrecRun(file.path(), collection, bad_lines);
  if (!run.ok()) return;
  FUZZ_CHECK(run->rankings.size() == collection.queries.size());
  for (const auto& ranking : run->rankings) {
    for (const ScoredDocument& scored : ranking) {
      FUZZ_CHECK(scored.document <
                 collection.documents.size() + run->unknown_ids.size());
      FUZZ_CHECK(std::isfinite(scored.score));
    }
  }
}

void CheckFiles(std::string_view content) {
  static const std::array<MemoryFile, 4> files;
  for (const MemoryFile& file : files) {
    const std::size_t end = content.find('\x1E');
    file.Write(content.substr(0, end));
    content = end == content.npos ? "" : content.substr(end + 1);
  }
  for (const PairLines lines :
       {PairLines::kClicked, PairLines::kAll, PairLines::kJudged}) {
    CheckPairs(files[0], lines);
  }
  BadLines bad_lines(0);
  const absl::StatusOr<Collection> collection = ReadCollection(
      {files[0].path(), files[1].path(), files[2].path()}, bad_lines);
  if (collection.ok()) CheckRun(*collection, files[3]);
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  semrank::CheckFiles({reinterpret_cast<const char*>(data), size});
  return 0;
}
