#include "server/events/event_counters.h"

#include <prometheus/family.h>

#include <algorithm>
#include <string>

namespace semrank {
namespace {

// Names of the caller's own share the last label, so that the number of series
// is fixed.
constexpr std::array<const char*, 4> kKinds = {"click", "conversion",
                                               "dismissal", "other"};

}  // namespace

EventCounters::EventCounters(Metrics& metrics) {
  auto& impressions = metrics.CounterFamily(
      "semrank_impressions_total",
      "Lists that were shown: written to --events, or dropped because the "
      "queue was full or --events could not be written.");
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
  const auto* const kind =
      std::find(kKinds.begin(), kKinds.end() - 1, event.kind);
  events_[kind - kKinds.begin()]->Increment();
  if (kind != kKinds.begin()) return;
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

}  // namespace semrank
