#include "server/events/ranker_counters.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace semrank {
namespace {

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
  if (now - idle->last_list < kMinIdle) return false;
  lists_.Remove(idle->lists);
  for (Counter* const counter : idle->clicked) clicked_.Remove(counter);
  rankers_.erase(idle);
  return true;
}

}  // namespace semrank
