#include "server/events/event_counters.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace semrank {
namespace {

// Names of the caller's own share the last label, so that the number of series
// is fixed.
constexpr std::array<const char*, 4> kKinds = {"click", "conversion",
                                               "dismissal", "other"};

struct Depth {
  const char* name;
  std::uint32_t positions;
};
constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();
constexpr Depth kDepths[] = {{"1", 1}, {"3", 3}, {"10", 10}, {"all", kAll}};

// Counts the lists of rankers beyond kMaxRankers.
constexpr std::string_view kOther = "other";

// The labels of "shop/3".
std::map<std::string, std::string> LabelsOf(std::string_view ranker) {
  const std::size_t slash = ranker.rfind('/');
  if (slash == std::string_view::npos) return {{"name", std::string(ranker)}};
  return {{"name", std::string(ranker.substr(0, slash))},
          {"version", std::string(ranker.substr(slash + 1))}};
}

}  // namespace

EventCounters::EventCounters(Metrics& metrics) {
  auto& impressions = metrics.CounterFamily(
      "semrank_impressions_total",
      "Lists that were shown: written to --events, or dropped because the "
      "queue was full, --events could not be written, or the list was too "
      "large for it. Those of invalid reports count as neither.");
  impressions_ = &impressions.Add({{"result", "written"}});
  dropped_ = &impressions.Add({{"result", "dropped"}});
  auto& events = metrics.CounterFamily(
      "semrank_events_total", "Reported events that are kept, by kind.");
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    events_[i] = &events.Add({{"kind", kKinds[i]}});
  }
  auto& clicks = metrics.CounterFamily(
      "semrank_event_clicks_total",
      "Reported clicks by position; \"other\" are those further down and those "
      "without a position.");
  for (std::size_t i = 0; i < kNumPositions; ++i) {
    clicks_[i] = &clicks.Add({{"position", std::to_string(i + 1)}});
  }
  clicks_[kNumPositions] = &clicks.Add({{"position", "other"}});
  const auto counter = [&](const char* name, const char* help) {
    return &metrics.CounterFamily(name, help).Add({});
  };
  orphans_ = counter("semrank_event_orphans_total",
                     "Kept events whose impression the server did not remember "
                     "when they came.");
  duplicates_ = counter("semrank_event_duplicates_total",
                        "Events not kept because one with the same event_id "
                        "was.");
  unwritten_reports_ =
      counter("semrank_event_reports_failed_total",
              "Reports refused because the queue was full or --events "
              "could not be written, or not in time.");
}

void EventCounters::CountEvent(const Event& event) {
  // A name that is not found gives the last kind.
  const auto* const kind =
      std::find(kKinds.begin(), kKinds.end() - 1, event.kind);
  events_[kind - kKinds.begin()]->Increment();
  if (kind != kKinds.begin()) return;
  // Position 0 says that the caller does not know it.
  const bool is_near = event.position >= 1 && event.position <= kNumPositions;
  clicks_[is_near ? event.position - 1 : kNumPositions]->Increment();
}

std::int64_t EventCounters::num_events() const {
  std::int64_t sum = 0;
  for (const prometheus::Counter* const counter : events_) {
    sum += Value(counter);
  }
  return sum;
}

std::array<std::int64_t, EventCounters::kNumPositions + 1>
EventCounters::clicks() const {
  std::array<std::int64_t, kNumPositions + 1> values;
  std::ranges::transform(clicks_, values.begin(), &EventCounters::Value);
  return values;
}

RankerCounters::RankerCounters(Metrics& metrics)
    : lists_(metrics.CounterFamily(
          "semrank_ranked_lists_total",
          "Lists with an impression, by the model version that ranked them; "
          "interleaved lists are of two and do not count.")),
      clicked_(metrics.CounterFamily(
          "semrank_ranked_lists_clicked_total",
          "Ranked lists with a reported click at position 1, among the first "
          "3, the first 10, or all.")) {
  static_assert(std::size(kDepths) == kNumDepths);
}

std::uint32_t RankerCounters::CountList(std::string_view ranker,
                                        absl::Time now) {
  const auto find = [&] {
    return std::ranges::find(rankers_, ranker, &Ranker::name);
  };
  // kOther is one series more than kMaxRankers, so that there is always room
  // for it.
  if (find() == rankers_.end() && rankers_.size() >= kMaxRankers &&
      !RemoveIdle(now)) {
    ranker = kOther;
  }
  auto found = find();
  if (found == rankers_.end()) found = Add(ranker);
  found->last_list = now;
  found->lists->Increment();
  return found->number;
}

std::uint8_t RankerCounters::CountClick(std::uint32_t ranker,
                                        std::uint8_t known,
                                        std::uint32_t position) {
  const auto clicked = std::ranges::find(rankers_, ranker, &Ranker::number);
  // The series of one that was replaced are gone.
  if (clicked == rankers_.end()) return known;
  for (std::size_t i = 0; i < kNumDepths; ++i) {
    // Bit i says that a click has already counted the list for kDepths[i]. A
    // click further up counts for all depths from its own on.
    const auto bit = static_cast<std::uint8_t>(1U << i);
    const bool is_within = kDepths[i].positions == kAll ||
                           (position != 0 && position <= kDepths[i].positions);
    if (!is_within || (known & bit) != 0) continue;
    clicked->clicked[i]->Increment();
    known |= bit;
  }
  return known;
}

RankerCounters::Rankers::iterator RankerCounters::Add(std::string_view ranker) {
  std::map<std::string, std::string> labels = LabelsOf(ranker);
  // Numbers are not reused: lists in EventMemory still have those of rankers
  // that were replaced, and must not count for another one.
  Ranker added{.name = std::string(ranker),
               .number = next_number_++,
               .last_list = {},
               .lists = &lists_.Add(labels),
               .clicked = {}};
  for (std::size_t i = 0; i < kNumDepths; ++i) {
    labels["within"] = kDepths[i].name;
    added.clicked[i] = &clicked_.Add(labels);
  }
  return rankers_.insert(rankers_.end(), std::move(added));
}

bool RankerCounters::RemoveIdle(absl::Time now) {
  const auto idle = std::ranges::min_element(rankers_, {}, &Ranker::last_list);
  // Prometheus would lose what a series has counted since its last scrape.
  // After an hour without a list nothing has been counted.
  if (now - idle->last_list < kMinIdle) return false;
  lists_.Remove(idle->lists);
  for (Counter* const counter : idle->clicked) clicked_.Remove(counter);
  rankers_.erase(idle);
  return true;
}

}  // namespace semrank
