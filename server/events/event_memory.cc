#include "server/events/event_memory.h"

#include <string>

#include "absl/container/flat_hash_set.h"

namespace semrank {
namespace {

constexpr std::size_t kNumRemembered = 400'000;

}  // namespace

EventMemory::EventMemory(Metrics& metrics)
    : rankers_(metrics), lists_(kNumRemembered), events_(kNumRemembered) {}

std::optional<std::uint32_t> EventMemory::FindListLength(
    std::string_view id) const {
  const std::optional<KnownList> list = lists_.Find(id);
  if (!list.has_value()) return std::nullopt;
  return list->length;
}

// An id is remembered when its event is on disk: a repetition before that is
// written twice, rather than not at all if the first one fails.
std::uint32_t EventMemory::RemoveRepeated(std::vector<Event>& events) const {
  absl::flat_hash_set<std::string> ids;
  return static_cast<std::uint32_t>(
      std::erase_if(events, [&](const Event& event) {
        return !event.id.empty() && (events_.Find(event.id).has_value() ||
                                     !ids.insert(event.id).second);
      }));
}

void EventMemory::OnKept(const Impression& impression, absl::Time now) {
  // Interleaved lists are not counted: the list would count for both rankers,
  // but a click for only one of them.
  if (!impression.ranker_b.empty()) return;
  const std::uint32_t ranker = rankers_.CountList(impression.ranker, now);
  // AddList has put the list there when it was queued. If it has been replaced
  // since, clicks on it count for no ranker.
  lists_.Change(impression.id, [&](KnownList& list) { list.ranker = ranker; });
}

void EventMemory::OnKept(const Event& event) {
  if (!event.id.empty()) events_.Add(event.id, {});
  if (event.kind != "click") return;
  lists_.Change(event.impression, [&](KnownList& list) {
    // Lists that were reported, interleaved or not kept have no ranker.
    if (list.ranker == 0) return;
    list.clicks = rankers_.CountClick(
        list.ranker, static_cast<std::uint8_t>(list.clicks), event.position);
  });
}

}  // namespace semrank
