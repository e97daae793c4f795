#include "model/events/click_join.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "model/base/count_text.h"
#include "model/base/fingerprint.h"
#include "model/base/status_macros.h"
#include "model/events/click_memory.h"
#include "model/events/event_clock.h"

// A list goes through these stages, by the clock of the stream:
//
//   waiting   from its record until its due time; its clicks are attached
//   passed    PassOn sums it up, or drops it
//   recent    for at least a window more only its id is known, by which late
//             clicks and repeated lists are counted
//
// A click that precedes its list waits in EarlyClicks. Ids, sessions and
// documents are kept as hashes, so that a list needs few bytes.
namespace semrank {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
// A click is written after its list, but perhaps by another server.
constexpr std::int64_t kGraceMs = kMinuteMs;

// The same in every run; 0 stands for "none". Two of a billion texts have the
// same hash with a chance of 3 %, and then a click may go to the other list.
std::uint64_t HashOf(std::string_view text) {
  return text.empty() ? 0 : BytesFingerprint(text).lo;
}

}  // namespace

class ClickJoin::State {
 public:
  // `join` is what on_list gets.
  State(ClickJoinOptions options, const ClickJoin& join)
      : options_(std::move(options)),
        join_(join),
        window_ms_(absl::ToInt64Milliseconds(options_.window)),
        // Twice as long as a list waits, so that the session of a robot is
        // known until the last of its lists is passed on.
        robots_(options_.max_clicks_per_minute, 2 * (window_ms_ + kGraceMs)),
        recent_(window_ms_) {
    texts_.Intern("");  // becomes kNoText
  }

  absl::Status AddImpression(const Impression& impression) {
    SEMRANK_RETURN_IF_ERROR(Advance(impression.time_ms));
    const std::uint64_t id = HashOf(impression.id);
    if (waiting_by_id_.contains(id) || recent_.Contains(id)) {
      ++counts_.repeated_lists;
      return absl::OkStatus();
    }
    // Numbers, since they stay when the deque loses its first list.
    waiting_by_id_[id] = first_number_ + waiting_.size();
    waiting_.push_back(MakeList(id, impression));
    num_waiting_results_ += waiting_.back().results.size();
    for (const Click& click : early_.Take(id)) {
      Attach(click, waiting_.back());
    }
    return CheckMemory();
  }

  absl::Status AddEvent(const Event& event) {
    SEMRANK_RETURN_IF_ERROR(Advance(event.time_ms));
    if (std::ranges::find(options_.kinds, event.kind) == options_.kinds.end()) {
      ++counts_.other_kinds;
      return absl::OkStatus();
    }
    const Click click{
        .list = HashOf(event.impression),
        .event_id = HashOf(event.id),
        // Half of the hash suffices to find one of 200 results.
        .document = static_cast<std::uint32_t>(HashOf(event.document)),
        .position = event.position,
        .time_ms = event.time_ms};
    const auto waiting = waiting_by_id_.find(click.list);
    if (waiting != waiting_by_id_.end()) {
      Attach(click, waiting_[waiting->second - first_number_]);
    } else if (recent_.Contains(click.list)) {
      ++counts_.late;
      // The click may precede its list. It is kept as long as a list waits for
      // clicks, counted from the later of the clock and the time of the click.
    } else if (!early_.Add(click, std::max(clock_.now_ms(), click.time_ms) +
                                      window_ms_ + kGraceMs)) {
      ++counts_.orphans;
    }
    return CheckMemory();
  }

  absl::Status Finish() {
    while (!waiting_.empty()) SEMRANK_RETURN_IF_ERROR(PassOn());
    counts_.orphans +=
        early_.RemoveDue(std::numeric_limits<std::int64_t>::max());
    return absl::OkStatus();
  }

  const ClickJoinCounts& counts() {
    counts_.robots = robots_.num_robots();
    return counts_;
  }
  const ClickRows& rows() const { return rows_; }
  const std::string& text(TextId id) const { return texts_.text(id); }

 private:
  // A result of a list that waits for clicks.
  struct WaitingResult {
    TextId title = 0;
    std::uint32_t document = 0;  // as Click's
    bool clicked = false;
    char team = 0;
  };

  struct WaitingList {
    std::uint64_t id = 0;
    std::int64_t record = 0;  // its number in the stream
    std::int64_t due_ms = 0;  // when it is passed on, by the stream's clock
    JoinedList list = {};     // without results
    bool has_session = false;
    bool outside_dates = false;
    bool is_robots = false;
    std::uint32_t num_clicks = 0;
    std::vector<WaitingResult> results = {};
    std::vector<std::uint64_t> event_ids = {};
  };

  // The result that a click names; null if the list has none such. The document
  // decides: an application may count its positions in another way.
  static WaitingResult* FindResult(WaitingList& list, const Click& click) {
    if (click.document != 0) {
      const auto found = std::ranges::find(list.results, click.document,
                                           &WaitingResult::document);
      if (found != list.results.end()) return &*found;
    }
    if (click.position < 1 || click.position > list.results.size()) {
      return nullptr;
    }
    WaitingResult& result = list.results[click.position - 1];
    // A result without document is a title of the request.
    const bool is_other = click.document != 0 && result.document != 0;
    return is_other ? nullptr : &result;
  }

  // Passes on what is due at the time of the stream. Lists become due in the
  // order of their records, so the first one decides.
  absl::Status Advance(std::int64_t time_ms) {
    clock_.Add(time_ms);
    ++num_records_;
    SetDueTimes();
    const std::int64_t now_ms = clock_.now_ms();
    while (num_with_due_time_ > 0 && waiting_.front().due_ms < now_ms) {
      SEMRANK_RETURN_IF_ERROR(PassOn());
    }
    counts_.orphans += early_.RemoveDue(now_ms);
    robots_.RemoveEnded(now_ms);
    return absl::OkStatus();
  }

  // A list gets its due time only when kNumTimes records have followed it. The
  // clock is a median: after a quiet night it stands at the evening until half
  // of its times are new. A list with a due time from before this jump would be
  // passed on at once, without its clicks.
  void SetDueTimes() {
    constexpr auto kLag = static_cast<std::int64_t>(EventClock::kNumTimes);
    while (num_with_due_time_ < waiting_.size() &&
           waiting_[num_with_due_time_].record + kLag <= num_records_) {
      waiting_[num_with_due_time_++].due_ms =
          clock_.now_ms() + window_ms_ + kGraceMs;
    }
  }

  WaitingList MakeList(std::uint64_t id, const Impression& impression) {
    const std::string& session =
        impression.session.empty() ? impression.user : impression.session;
    WaitingList waiting{
        .id = id,
        .record = num_records_,
        .list = {.time_ms = impression.time_ms,
                 .query = texts_.Intern(impression.query),
                 .ranker = texts_.Intern(impression.ranker),
                 .ranker_a = texts_.Intern(impression.ranker_a),
                 .ranker_b = texts_.Intern(impression.ranker_b),
                 .session = session.empty() ? id : HashOf(session),
                 .swapped = impression.swapped_first != 0},
        .has_session = !session.empty(),
        .outside_dates = impression.time_ms < options_.begin_ms ||
                         impression.time_ms >= options_.end_ms};
    waiting.results.reserve(impression.results.size());
    for (const ShownResult& result : impression.results) {
      waiting.results.push_back(
          {.title = texts_.Intern(TitleOf(result)),
           .document = static_cast<std::uint32_t>(HashOf(result.document)),
           .team = result.team});
    }
    return waiting;
  }

  std::string_view TitleOf(const ShownResult& result) const {
    if (!result.title.empty() || options_.title_of == nullptr) {
      return result.title;
    }
    return options_.title_of(result.document);
  }

  // A report that is repeated is no further click of the session. Any other one
  // counts for the rule of robots, also if the list does not count it: a
  // robot's clicks may well be late or on results that were not shown.
  void Attach(const Click& click, WaitingList& list) {
    if (click.event_id != 0) {
      if (std::ranges::find(list.event_ids, click.event_id) !=
          list.event_ids.end()) {
        ++counts_.doubles;
        return;
      }
    }
    if (list.has_session) {
      robots_.CountClick(list.list.session, click.time_ms, clock_.now_ms());
    }
    WaitingResult* const result = FindResult(list, click);
    if (std::abs(click.time_ms - list.list.time_ms) > window_ms_) {
      ++counts_.late;
    } else if (result == nullptr) {
      ++counts_.unknown_results;
    } else if (std::exchange(result->clicked, true)) {
      ++counts_.doubles;
    } else {
      if (click.event_id != 0) list.event_ids.push_back(click.event_id);
      ++list.num_clicks;
      CheckFullyClicked(list);
    }
  }

  // Without a session, the list alone is dropped.
  void CheckFullyClicked(WaitingList& list) {
    if (options_.min_fully_clicked == 0 ||
        list.num_clicks < options_.min_fully_clicked ||
        list.num_clicks < list.results.size()) {
      return;
    }
    list.is_robots = true;
    if (list.has_session) robots_.Mark(list.list.session, clock_.now_ms());
  }

  // Passes the first list on, or drops it. Robots are judged here and not when
  // the list was read, so that clicks of its whole window decide.
  absl::Status PassOn() {
    WaitingList list = std::move(waiting_.front());
    waiting_.pop_front();
    ++first_number_;
    if (num_with_due_time_ > 0) --num_with_due_time_;
    num_waiting_results_ -= list.results.size();
    waiting_by_id_.erase(list.id);
    recent_.Add(list.id, clock_.now_ms());
    if (list.outside_dates) {
      ++counts_.lists_outside_dates;
      counts_.clicks_outside_dates += list.num_clicks;
      return absl::OkStatus();
    }
    if (list.is_robots ||
        (list.has_session &&
         robots_.IsRobot(list.list.session, clock_.now_ms()))) {
      ++counts_.robot_lists;
      counts_.robot_clicks += list.num_clicks;
      return absl::OkStatus();
    }
    for (const WaitingResult& result : list.results) {
      list.list.results.push_back(
          {.title = result.title,
           .position = static_cast<std::uint32_t>(list.list.results.size() + 1),
           .clicked = result.clicked,
           .team = result.team});
    }
    Count(list.list, list.num_clicks);
    AddRows(list.list);
    return options_.on_list == nullptr ? absl::OkStatus()
                                       : options_.on_list(list.list, join_);
  }

  void Count(const JoinedList& list, std::uint32_t num_clicks) {
    counts_.first_ms = counts_.lists == 0
                           ? list.time_ms
                           : std::min(counts_.first_ms, list.time_ms);
    counts_.last_ms = counts_.lists == 0
                          ? list.time_ms
                          : std::max(counts_.last_ms, list.time_ms);
    ++counts_.lists;
    counts_.clicks += num_clicks;
    if (num_clicks > 0) ++counts_.clicked_lists;
    if (list.swapped) ++counts_.swapped_lists;
    if (list.ranker_a != kNoText || list.ranker_b != kNoText) {
      ++counts_.interleaved_lists;
    }
    if (list.query == kNoText) ++counts_.lists_without_query;
    for (const JoinedResult& result : list.results) {
      if (result.title == kNoText) ++counts_.results_without_title;
    }
  }

  void AddRows(const JoinedList& list) {
    if (!options_.with_rows || list.query == kNoText) return;
    for (const JoinedResult& result : list.results) {
      if (result.title == kNoText) continue;
      rows_.Add(list.query, result.title, result.position, result.clicked);
    }
  }

  absl::Status CheckMemory() const {
    // Estimates, since no container says how much it has allocated. They are
    // computed from sizes alone, as this runs for each record.
    constexpr std::size_t kTextBytes = 100;  // beside its characters
    const std::size_t num_bytes =
        static_cast<std::size_t>(texts_.num_characters()) +
        texts_.size() * kTextBytes + waiting_.size() * sizeof(WaitingList) +
        num_waiting_results_ * sizeof(WaitingResult) + rows_.num_bytes() +
        early_.num_bytes() + recent_.num_bytes() + robots_.num_bytes();
    if (num_bytes <= options_.max_bytes) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrFormat(
        "%s distinct texts, %s rows and %s lists that wait for clicks need "
        "more than %s bytes of memory; join fewer days at a time",
        GroupDigits(static_cast<std::int64_t>(texts_.size())),
        GroupDigits(static_cast<std::int64_t>(rows_.size())),
        GroupDigits(static_cast<std::int64_t>(waiting_.size())),
        GroupDigits(static_cast<std::int64_t>(options_.max_bytes))));
  }

  static constexpr TextId kNoText = 0;  // of ""

  const ClickJoinOptions options_;
  const ClickJoin& join_;
  const std::int64_t window_ms_;
  TextInterner texts_;
  EventClock clock_;
  std::int64_t num_records_ = 0;
  // In order of their records; the number of the first is first_number_.
  std::deque<WaitingList> waiting_;
  std::size_t first_number_ = 0;
  std::size_t num_with_due_time_ = 0;  // of waiting_
  std::size_t num_waiting_results_ = 0;
  absl::flat_hash_map<std::uint64_t, std::size_t> waiting_by_id_;  // numbers
  EarlyClicks early_;
  RobotRules robots_;
  RecentLists recent_;
  ClickRows rows_;
  ClickJoinCounts counts_;
};

ClickJoin::ClickJoin(ClickJoinOptions options)
    : state_(std::make_unique<State>(std::move(options), *this)) {}
ClickJoin::~ClickJoin() = default;

absl::Status ClickJoin::Add(const EventRecord& record) {
  if (const auto* event = std::get_if<Event>(&record)) {
    return state_->AddEvent(*event);
  }
  return state_->AddImpression(std::get<Impression>(record));
}

absl::Status ClickJoin::Finish() { return state_->Finish(); }
const ClickJoinCounts& ClickJoin::counts() const { return state_->counts(); }
const ClickRows& ClickJoin::rows() const { return state_->rows(); }
const std::string& ClickJoin::text(TextId id) const { return state_->text(id); }

}  // namespace semrank
