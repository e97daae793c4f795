#include "model/train/data/shown_titles_reader.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/train/data/pair_reader.h"

namespace semrank {
namespace {

absl::StatusOr<std::vector<JudgedTitle>> ReadJudged(const std::string& path,
                                                    BadLines& bad_lines,
                                                    TextInterner& texts) {
  PairReader reader({path}, PairLines::kJudged, bad_lines);
  std::vector<JudgedTitle> judged;
  ClickPair line;
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(line));
    if (!more) break;
    const TextId query = texts.Intern(line.query);
    judged.push_back({query, texts.Intern(line.title), line.clicks});
  }
  if (!judged.empty()) return judged;
  return absl::InvalidArgumentError(
      absl::StrFormat("no usable judgement among the %d lines of %s",
                      reader.num_lines(), path));
}

}  // namespace

absl::StatusOr<ShownTitles> ReadShownTitles(std::vector<ShownTitle> lines,
                                            const std::string& judged_file,
                                            BadLines& bad_lines,
                                            TextInterner& texts) {
  std::vector<JudgedTitle> judged;
  if (!judged_file.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(judged, ReadJudged(judged_file, bad_lines, texts));
  }
  return ShownTitles(std::move(lines), std::move(judged), texts.size());
}

absl::Status CheckShownTitles(const ShownTitles& shown,
                              const std::vector<TextPair>& pairs) {
  std::size_t num_pairs = 0, num_titles = 0;
  for (const TextPair& pair : pairs) {
    const std::size_t size = shown.Below(pair.query, pair.title).size();
    num_pairs += size > 0 ? 1 : 0;
    num_titles += size;
  }
  if (num_pairs == 0) {
    return absl::InvalidArgumentError(
        "no pair has a title that was shown for its query and did worse; "
        "give the click log lines with 0 clicks or impressions, or --judged");
  }
  absl::FPrintF(
      stderr,
      "%d of %d pairs have titles that were shown and did worse, %.1f "
      "on average\n",
      num_pairs, pairs.size(),
      static_cast<double>(num_titles) / static_cast<double>(num_pairs));
  return absl::OkStatus();
}

}  // namespace semrank
