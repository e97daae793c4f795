#include "model/train/data/event_clicks.h"

#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "model/base/status_macros.h"
#include "model/events/click_join.h"
#include "model/events/event_files.h"
#include "model/text/normalizer.h"
#include "model/train/data/memory_budget.h"
#include "model/train/data/read_pairs.h"

namespace semrank {
namespace {

// A folder of events is read once. Lists that are old enough are added to
// the rows at once; the others wait in a queue until it is known whether
// they judge.

// One list in this many may judge.
constexpr std::size_t kListsOfOneJudge = 5;

// Sorts the lists of a join into those that are trained on and those that
// judge. Lists come about in the order of their times.
class ListSorter {
 public:
  ListSorter(const TrainOptions& options, TextInterner& texts)
      : data_(options.data),
        texts_(texts),
        compares_(options.publish == PublishMode::kIfBetter) {
    if (options.data.judge_fraction <= 0) return;
    judged_ms_ =
        absl::ToInt64Milliseconds(absl::Hours(24) * options.data.judge_days);
  }

  // `join` has the texts of its lists.
  void Add(const JoinedList& list, const ClickJoin& join) {
    ++num_lists_;
    if (judged_ms_ == 0) return Train(list, join);
    last_.push_back(list);
    num_last_results_ += list.results.size();
    // Lists come nearly in order, so the queue's first is about the oldest, and
    // a list that is a little late stays with its neighbours.
    while (last_.front().time_ms <= list.time_ms - judged_ms_) {
      TrainFirst(join);
    }
  }

  EventClicks Finish(const ClickJoin& join) {
    // The first days of a folder are learned from, too.
    while (last_.size() > num_lists_ / kListsOfOneJudge) TrainFirst(join);
    EventClicks clicks = {.rows = rows_.Sorted()};
    // A run that compares nothing leaves these lists to the next one, whose
    // start is the model of this run.
    if (!compares_) return clicks;
    for (const JoinedList& list : last_) AddJudged(list, join, clicks.judged);
    const std::size_t size = clicks.judged.size();
    if (size > kMaxJudgedLists) {
      clicks.judged.erase(clicks.judged.begin(),
                          clicks.judged.begin() + static_cast<std::ptrdiff_t>(
                                                      size - kMaxJudgedLists));
    }
    return clicks;
  }

  // Lists that are not trained on.
  std::size_t num_held_out() const { return last_.size(); }
  std::int64_t num_dropped() const { return num_dropped_; }
  std::size_t num_bytes() const {
    return rows_.num_bytes() + num_last_results_ * sizeof(JoinedResult);
  }

 private:
  // nullopt for a text that cannot be used.
  std::optional<std::string> Normalized(std::string_view joined) const {
    std::string text;
    const bool usable =
        NormalizeText(joined, data_.normalizer_version, text).ok() &&
        !text.empty() && std::ssize(text) <= data_.max_text_bytes;
    return usable ? std::optional(std::move(text)) : std::nullopt;
  }

  std::optional<TextId> Number(TextId id, const ClickJoin& join) {
    // The join numbers texts as they came and this run as normalised, so two of
    // its numbers may be one of ours. The table also remembers texts that
    // cannot be used.
    const auto [place, is_new] = numbers_.try_emplace(id);
    if (is_new) {
      const std::optional<std::string> text = Normalized(join.text(id));
      if (text) place->second = texts_.Intern(*text);
    }
    return place->second;
  }

  void TrainFirst(const ClickJoin& join) {
    Train(last_.front(), join);
    num_last_results_ -= last_.front().results.size();
    last_.pop_front();
  }

  void Train(const JoinedList& list, const ClickJoin& join) {
    const std::optional<TextId> query = Number(list.query, join);
    for (const JoinedResult& result : list.results) {
      // Without a usable query all results of the list are dropped, and counted
      // one by one.
      const std::optional<TextId> title =
          query ? Number(result.title, join) : std::nullopt;
      if (title) {
        rows_.Add(*query, *title, result.position, result.clicked);
      } else {
        ++num_dropped_;
      }
    }
  }

  void AddJudged(const JoinedList& list, const ClickJoin& join,
                 std::vector<ClickedList>& judged) const {
    std::optional<std::string> query = Normalized(join.text(list.query));
    if (!query) return;
    ClickedList made = {.query = *std::move(query)};
    for (const JoinedResult& result : list.results) {
      std::optional<std::string> title = Normalized(join.text(result.title));
      if (!title) continue;
      if (result.clicked) {
        made.clicks.push_back(
            {.place = made.titles.size(), .position = result.position});
      }
      made.titles.push_back(*std::move(title));
    }
    // A list whose clicked titles were all dropped cannot judge.
    if (!made.clicks.empty()) judged.push_back(std::move(made));
  }

  const DataOptions& data_;
  TextInterner& texts_;
  const bool compares_;
  std::int64_t judged_ms_ = 0;  // 0 = no list is held out
  std::size_t num_lists_ = 0;
  std::deque<JoinedList> last_;
  std::size_t num_last_results_ = 0;
  ClickRows rows_;
  absl::flat_hash_map<TextId, std::optional<TextId>> numbers_;
  std::int64_t num_dropped_ = 0;
};

}  // namespace

absl::Status EventsDoNotFit() {
  return absl::ResourceExhaustedError(
      "the clicks of --events do not fit in --memory_limit: give more memory, "
      "or stream the file of `semrank events join` as --train");
}

absl::StatusOr<EventClicks> ReadEventClicks(const TrainOptions& options,
                                            TextInterner& texts) {
  ListSorter lists(options, texts);
  // What the join keeps, and what is kept of its lists.
  const auto max_bytes = static_cast<std::size_t>(MaxPairBytes(options.data));
  ClickJoin join(
      {.max_bytes = max_bytes,
       .with_rows = false,
       .on_list = [&](const JoinedList& list, const ClickJoin& joined) {
         lists.Add(list, joined);
         return lists.num_bytes() <= max_bytes ? absl::OkStatus()
                                               : EventsDoNotFit();
       }});
  EventFileCounts files;
  absl::Status read = ForEachEvent(
      options.data.event_paths, options.data.max_bad_lines,
      [&](const EventRecord& record) { return join.Add(record); }, files);
  if (read.ok()) read = join.Finish();
  // The error of the join names no flag of a run.
  if (absl::IsResourceExhausted(read)) return EventsDoNotFit();
  SEMRANK_RETURN_IF_ERROR(read);
  EventClicks clicks = lists.Finish(join);
  if (lists.num_bytes() > max_bytes) return EventsDoNotFit();
  const ClickJoinCounts& counts = join.counts();
  absl::FPrintF(stderr,
                "%d events: %d lists, %d with clicks; the last %d are not "
                "learned from, and %d of them judge the model; dropped: %d "
                "lists of robots, %d events that belong to no list or came too "
                "late, %d results without a usable text\n",
                files.records, counts.lists, counts.clicked_lists,
                lists.num_held_out(), clicks.judged.size(), counts.robot_lists,
                counts.orphans + counts.late, lists.num_dropped());
  return clicks;
}

absl::StatusOr<Clicks> ReadClicks(const TrainOptions& options,
                                  BadLines& bad_lines, TextInterner& texts) {
  Clicks clicks;
  if (options.data.event_paths.empty()) {
    std::vector<ClickRow> rows;
    if (EstimatesPositions(options.loss)) {
      SEMRANK_ASSIGN_OR_RETURN(
          rows, ReadRows(options.data.train_files, options, bad_lines));
    }
    SEMRANK_ASSIGN_OR_RETURN(clicks.weights,
                             PositionWeights::Create(options, rows));
    return clicks;
  }
  SEMRANK_ASSIGN_OR_RETURN(EventClicks events, ReadEventClicks(options, texts));
  SEMRANK_ASSIGN_OR_RETURN(clicks.weights,
                           PositionWeights::Create(options, events.rows));
  if (!events.judged.empty()) {
    clicks.judged_lists = std::make_shared<const ClickedLists>(
        MakeClickedLists(events.judged, clicks.weights));
  }
  // The rows move last: the weights were estimated from them.
  clicks.rows = std::move(events.rows);
  return clicks;
}

absl::StatusOr<std::vector<TextPair>> PairsOfRows(
    const std::vector<ClickRow>& rows, const PositionWeights& weights,
    const TextInterner& texts, std::vector<ShownTitle>* shown,
    ClickCounts* counts) {
  std::vector<TextPair> pairs;
  for (const ClickRow& row : rows) {
    const double weight = weights.Of(row.position);
    if (shown != nullptr) {
      ClickPair line;
      line.clicks = row.clicks;
      line.impressions = row.impressions;
      shown->push_back(ShownLine(row.query, row.title, line, weight));
    }
    if (counts != nullptr) {
      counts->Add(texts.text(row.query), texts.text(row.title), row.clicks,
                  row.impressions / weight);
    }
    if (row.clicks == 0) continue;
    pairs.push_back(
        {row.query, row.title, row.clicks, static_cast<float>(weight)});
  }
  if (!pairs.empty() && HasTwoTitles(pairs)) return pairs;
  return absl::InvalidArgumentError(
      "the events of --events have no clicks on two different titles to learn "
      "from, beside those that judge a model");
}

}  // namespace semrank
