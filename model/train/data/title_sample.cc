#include "model/train/data/title_sample.h"

#include <iterator>

#include "model/train/data/memory_budget.h"

namespace semrank {

bool TitleSample::IsFull() const {
  return titles_.size() > max_titles_ ||
         (bytes_ > max_bytes_ && titles_.size() > kMinTitles);
}

void TitleSample::Add(std::uint64_t hash, const std::string& title) {
  // The k lowest hashes of all titles are a uniform sample of the distinct
  // ones: a title is in or out by its hash, however often it occurs.
  if (hash > highest_) {
    complete_ = false;
    return;
  }
  if (!titles_.try_emplace(hash, title).second) return;
  bytes_ += KeptTextBytes(title.size());
  while (IsFull()) {
    const auto last = std::prev(titles_.end());
    bytes_ -= KeptTextBytes(last->second.size());
    highest_ = last->first - 1;
    titles_.erase(last);
    complete_ = false;
  }
}

}  // namespace semrank
