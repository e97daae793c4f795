#include "model/events/event_stats.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <variant>

#include "absl/strings/str_format.h"

namespace semrank {
namespace {

// Applications may report any kind; a wrong one that reports a new kind each
// time must not fill the memory.
constexpr std::size_t kMaxNames = 1'000;

template <typename Value>
Value& Named(std::map<std::string, Value>& values, const std::string& name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  return values[values.size() < kMaxNames ? name : "(others)"];
}

// Team a of a list may be either of two interleaved models; both orders are the
// same pair.
std::string RankerOf(const JoinedList& list, const ClickJoin& join) {
  const std::string& a = join.text(list.ranker_a);
  const std::string& b = join.text(list.ranker_b);
  if (a.empty() && b.empty()) return join.text(list.ranker);
  return absl::StrFormat("%s + %s", std::min(a, b), std::max(a, b));
}

}  // namespace

void EventStats::AddRecord(const EventRecord& record) {
  const auto* event = std::get_if<Event>(&record);
  if (event != nullptr) ++Named(kinds_, event->kind);
}

void EventStats::AddList(const JoinedList& list, const ClickJoin& join) {
  // The first click decides all four rates: a list that has one among the first
  // three results has one among the first ten.
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first_clicked = kNone;
  ShownByRanker& ranker = Named(rankers_, RankerOf(list, join));
  // Lists have at most kMaxShownResults results, which bounds the table.
  positions_.resize(std::max(positions_.size(), list.results.size()));
  for (const JoinedResult& result : list.results) {
    ShownAtPosition& position = positions_[result.position - 1];
    ++position.impressions;
    if (!result.clicked) continue;
    ++position.clicks;
    ++ranker.clicks;
    first_clicked = std::min(first_clicked, result.position);
  }
  ++ranker.lists;
  if (first_clicked < kNone) ++ranker.clicked;
  if (first_clicked <= 1) ++ranker.clicked_at_1;
  if (first_clicked <= 3) ++ranker.clicked_at_3;
  if (first_clicked <= 10) ++ranker.clicked_at_10;
}

}  // namespace semrank
