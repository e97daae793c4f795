// Attaches the clicks of a stream of records to the lists that were shown.
//
//   ClickJoin join({.window = absl::Minutes(30)});
//   ForEachEvent(folders, max_bad_lines,
//                [&](EventRecord& record) { return join.Add(record); },
//                counts);
//   join.Finish();
//   for (const ClickRow& row : join.rows().Sorted()) {
//     ... join.text(row.query), join.text(row.title), row.clicks ...
//   }
//
//   Clicks    an event of one of the kinds counts for its impression if their
//             times differ by at most the window and it names a result: by
//             document if the list has it, else by position. It may stand
//             before its impression.
//   Doubles   a result has at most one click in an impression. Repeated reports
//             of an event and further events on the result are dropped.
//   Robots    a session, or a user without sessions, is a robot's from the
//             moment when it reports more than `max_clicks_per_minute` clicks
//             in a minute of the clock, or has clicked every result of a list
//             of `min_fully_clicked` or more. Its lists are dropped, also those
//             that still wait for clicks.
//   Order     lists are passed on in the order of their records, each when the
//             stream is a window and a minute past it (event_clock.h).
//   Memory    the lists of one window, with 12 bytes a result; all distinct
//             queries and titles; the rows. At most `max_bytes`.
//   Threads   not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_CLICK_JOIN_H_
#define SEMRANK_MODEL_EVENTS_CLICK_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "model/events/click_rows.h"
#include "model/events/event.h"

namespace semrank {

struct JoinedResult {
  TextId title = 0;  // the text "" if it is not known
  std::uint32_t position = 0;
  bool clicked = false;
  char team = 0;  // as ShownResult's
};

// A list with its clicks. ClickJoin::text has the texts.
struct JoinedList {
  std::int64_t time_ms = 0;
  TextId query = 0;  // the text "" if it is not known
  TextId ranker = 0;
  TextId ranker_a = 0;
  TextId ranker_b = 0;
  // The same for the lists of a session, or of a user without sessions. A list
  // that names neither has a number of its own.
  std::uint64_t session = 0;
  bool swapped = false;  // by exploration
  std::vector<JoinedResult> results = {};
};

class ClickJoin;

struct ClickJoinOptions {
  // Kinds of events that count as clicks.
  std::vector<std::string> kinds = {"click"};
  absl::Duration window = absl::Minutes(30);
  // 0 = no such rule.
  std::int64_t max_clicks_per_minute = 30;
  std::int64_t min_fully_clicked = 8;
  // Lists that were shown at other times are dropped: [begin_ms, end_ms).
  std::int64_t begin_ms = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ms = std::numeric_limits<std::int64_t>::max();
  std::size_t max_bytes = std::size_t{8} << 30;
  bool with_rows = true;
  // The title of a result that was shown without; empty = not known.
  std::function<std::string_view(std::string_view document)> title_of = nullptr;
  // Gets each list that is not dropped, and the join, which has its texts. The
  // join ends with its first error.
  std::function<absl::Status(const JoinedList& list, const ClickJoin& join)>
      on_list = nullptr;
};

struct ClickJoinCounts {
  // Lists that are not dropped, and what they have.
  std::int64_t lists = 0;
  std::int64_t clicked_lists = 0;
  std::int64_t clicks = 0;
  std::int64_t swapped_lists = 0;
  std::int64_t interleaved_lists = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  // Nothing can be learned from these, which have no rows.
  std::int64_t lists_without_query = 0;
  std::int64_t results_without_title = 0;
  // Dropped lists.
  std::int64_t repeated_lists = 0;  // with the id of an earlier one
  std::int64_t robot_lists = 0;
  std::int64_t lists_outside_dates = 0;
  // Dropped events.
  std::int64_t other_kinds = 0;
  std::int64_t doubles = 0;
  std::int64_t orphans = 0;          // their list is not there
  std::int64_t late = 0;             // outside the window
  std::int64_t unknown_results = 0;  // their list has no such result
  std::int64_t robot_clicks = 0;
  std::int64_t clicks_outside_dates = 0;

  std::int64_t robots = 0;  // sessions
};

class ClickJoin {
 public:
  explicit ClickJoin(ClickJoinOptions options);
  ~ClickJoin();
  ClickJoin(const ClickJoin&) = delete;
  ClickJoin& operator=(const ClickJoin&) = delete;

  // ResourceExhausted, with the remedy, once more memory is needed; otherwise
  // the error of on_list.
  absl::Status Add(const EventRecord& record);
  // The stream has ended. Passes on the lists that wait for clicks.
  absl::Status Finish();

  const ClickJoinCounts& counts() const;
  // The rows of the lists that were passed on.
  const ClickRows& rows() const;
  const std::string& text(TextId id) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_CLICK_JOIN_H_
