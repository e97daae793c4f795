// Long work is done in turns of a few milliseconds, between which its thread
// may work on something else.
#ifndef SEMRANK_SERVER_BASE_PROGRESS_H_
#define SEMRANK_SERVER_BASE_PROGRESS_H_

#include <cstddef>
#include <cstdint>

namespace semrank {

enum class Progress { kMore, kDone };

// The most texts and bytes of text in one turn: a millisecond or two of cold
// titles.
inline constexpr std::int64_t kTurnTexts = 1'024;
inline constexpr std::size_t kTurnBytes = std::size_t{128} << 10;

// The end of the turn that begins with item `first` of `count`, each of
// size_of(i) bytes: at least one item, if there is any.
template <typename SizeOf>
std::size_t TurnEnd(std::size_t first, std::size_t count, SizeOf size_of) {
  std::size_t num_bytes = 0;
  std::size_t last = first;
  while (last < count && last - first < std::size_t{kTurnTexts} &&
         num_bytes < kTurnBytes) {
    num_bytes += size_of(last++);
  }
  return last;
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_PROGRESS_H_
