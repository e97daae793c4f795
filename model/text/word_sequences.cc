#include "model/text/word_sequences.h"

#include <algorithm>
#include <utility>

#include "model/text/word_fingerprint.h"

namespace semrank {
namespace {

constexpr std::size_t kFirstSlots = 256;

}  // namespace

// An open-addressing hash table with linear probing. A slot is taken only if it
// carries the number of the current round, so Clear, which runs for every
// batch, costs one increment instead of a pass over the table.
std::uint32_t WordNumbers::Intern(std::string_view word) {
  // At most half full, so that probing ends soon, and always at a free slot.
  if (slots_.size() < 2 * (std::size_t{size_} + 1)) Grow();
  const Fingerprint fingerprint = WordFingerprint(word);
  Slot& slot = FindSlot(fingerprint);
  if (slot.round != round_) slot = {fingerprint, size_++, round_};
  return slot.number;
}

void WordNumbers::Clear() {
  size_ = 0;
  if (++round_ != 0) return;
  // The counter wrapped around: slots of old rounds must not become valid.
  std::fill(slots_.begin(), slots_.end(), Slot());
  round_ = 1;
}

// The slot of `word`, or the free slot for it (linear probing).
WordNumbers::Slot& WordNumbers::FindSlot(const Fingerprint& word) {
  const std::size_t mask = slots_.size() - 1;
  // Fingerprints are uniform: their low bits need no further mixing.
  std::size_t place = word.lo & mask;
  while (slots_[place].round == round_ && slots_[place].word != word) {
    place = (place + 1) & mask;
  }
  return slots_[place];
}

void WordNumbers::Grow() {
  std::vector<Slot> old(std::max(kFirstSlots, 2 * slots_.size()));
  std::swap(old, slots_);
  // Slots of earlier rounds are dropped on the way.
  for (const Slot& slot : old) {
    if (slot.round == round_) FindSlot(slot.word) = slot;
  }
}

bool WordSequences::HasFeatures(int t) const {
  const std::span<const std::uint32_t> of_text = text(t);
  return std::any_of(of_text.begin(), of_text.end(),
                     [this](std::uint32_t word) { return !bags.empty(word); });
}

void WordSequences::Clear() {
  bags.Clear();
  offsets.assign(1, 0);
  words.clear();
  numbers.Clear();
}

}  // namespace semrank
