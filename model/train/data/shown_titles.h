// The titles that were shown for a query beside the clicked one, and did
// worse: hard negatives.
//
//   Clicks   all lines of a pair are added up, lines with 0 clicks included.
//            Where each title of a query has impressions, its value is the
//            smoothed click rate (clicks + 10 r) / (impressions + 10), r being
//            the rate of the whole log; otherwise it is the clicks.
//   Judged   for a query that has judgements the value is the grade, the
//            highest of several; a clicked title that was not judged counts as
//            grade 1.
//   Negative of (query, clicked title): each title of a lower value.
//   Memory   12 bytes a title shown, 8 a text.
//   Threads  const after construction.
#ifndef SEMRANK_MODEL_TRAIN_DATA_SHOWN_TITLES_H_
#define SEMRANK_MODEL_TRAIN_DATA_SHOWN_TITLES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/pair_reader.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/text/normalizer.h"

namespace semrank {

// A line of a click log, also one without a click. Where clicks are corrected
// for positions, these are the impressions that were looked at, or the clicks
// that there would be if all were.
struct ShownTitle {
  TextId query = 0;
  TextId title = 0;
  double clicks = 0;
  double impressions = 0;  // 0 = not given
};

// The line of `pair`, whose texts are `query` and `title`, with the weight of
// its position.
ShownTitle ShownLine(TextId query, TextId title, const ClickPair& pair,
                     double weight);

// `value` is a grade, a click rate or a number of clicks.
struct TitleValue {
  TextId query = 0;
  TextId title = 0;
  float value = 0;
};

class ShownTitles {
 public:
  // Without lists: no query has negatives.
  ShownTitles() = default;
  // TextIds are below `num_texts`.
  ShownTitles(std::vector<ShownTitle> shown, std::vector<TitleValue> judged,
              std::size_t num_texts);

  // All titles of a query.
  std::span<const TextId> Of(TextId query) const;
  // Negatives of a pair, those of the lowest value first.
  std::span<const TextId> Below(TextId query, TextId title) const;

 private:
  void Build(std::vector<TitleValue> entries, std::size_t num_texts);

  // The titles of query q are [offsets_[q], offsets_[q + 1]), in ascending
  // order of their values.
  std::vector<std::uint64_t> offsets_;
  std::vector<TextId> titles_;
  std::vector<float> values_;
  // The places of each query's titles in its range, by ascending TextId.
  std::vector<std::uint32_t> places_;
};

// `lines` of the click log together with the lines `query<TAB>title<TAB>grade`
// of `judged_file` ("" = none), whose texts are normalised and interned; grades
// are whole numbers from 0. A line that cannot be used goes to `bad_lines`.
// InvalidArgument when no line of the file can be used.
absl::StatusOr<ShownTitles> ReadShownTitles(
    std::vector<ShownTitle> lines, const std::string& judged_file,
    BadLines& bad_lines, TextInterner& texts,
    int normalizer_version = kNormalizerVersion);

// Prints on standard error how many pairs have such negatives. InvalidArgument
// when none has.
absl::Status CheckShownTitles(const ShownTitles& shown,
                              const std::vector<TextPair>& pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_SHOWN_TITLES_H_
