// Reads the pairs of a training run into memory, and checks that something can
// be learned from them.
//
//   Errors   Ctrl-C ends it with Cancelled. Others are those of the file system
//            and of BadLines.
#ifndef SEMRANK_MODEL_TRAIN_DATA_READ_PAIRS_H_
#define SEMRANK_MODEL_TRAIN_DATA_READ_PAIRS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/data/text_pairs.h"
#include "model/data/text_table.h"
#include "model/events/click_rows.h"
#include "model/train/data/chance_clicks.h"
#include "model/train/data/position_weights.h"
#include "model/train/data/shown_titles.h"
#include "model/train/options/train_options.h"

namespace semrank {

// All clicked pairs of `files`, at least one, with the weights of their
// positions. `shown` and `counts`, unless null, get all lines, also those with
// 0 clicks; `counts` those that have impressions. InvalidArgument without two
// different titles. OutOfRange as soon as the pairs do not fit in the memory
// limit.
absl::StatusOr<std::vector<TextPair>> ReadPairs(
    const std::vector<std::string>& files, const TrainOptions& options,
    const PositionWeights& weights, BadLines& bad_lines, TextInterner& texts,
    std::vector<ShownTitle>* shown, ClickCounts* counts);

// The pairs of --valid_pairs. ResourceExhausted when they do not fit.
absl::StatusOr<std::vector<TextPair>> ReadValidPairs(
    const TrainOptions& options, const PositionWeights& weights,
    BadLines& bad_lines, TextInterner& texts);

// The lines of `files` that have a position, added up by query, title and
// position, in the order of ClickRows::Sorted. Does not add to the count of
// `bad_lines`, since the files are read once more. InvalidArgument for files
// that cannot be read twice, and for a line with a position and no impressions.
// ResourceExhausted when they do not fit in the memory limit.
absl::StatusOr<std::vector<ClickRow>> ReadRows(
    const std::vector<std::string>& files, const TrainOptions& options,
    BadLines& bad_lines);

// How often an epoch contains a pair with `clicks` clicks.
std::int64_t Repetitions(std::int64_t clicks, const LossOptions& loss);

// ResourceExhausted when the pairs of an epoch, which stand in a list of their
// own as often as they occur, do not fit in memory.
absl::Status CheckRepeatsFit(const TrainOptions& options,
                             const std::vector<TextPair>& pairs);

// InvalidArgument, naming the files and what to do, when
//   * every query has clicked every title, and no titles were shown without a
//     click: no title is a negative;
//   * the queries are ids: each stands once, and nearly all are a number with
//     at most a few letters before it, or all are ids of a file of documents or
//     queries that the options name. --force accepts them.
// Warns on standard error of titles that are numbers of that kind.
absl::Status CheckPairsCanTeach(const TrainOptions& options,
                                std::span<const TextPair> pairs,
                                const TextInterner& texts);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_READ_PAIRS_H_
