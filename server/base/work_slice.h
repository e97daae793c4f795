// Time slices. Large requests are processed in slices of a few milliseconds;
// between two slices the worker thread may serve another request, so a small
// request never waits for all of a large one.
#ifndef SEMRANK_SERVER_BASE_WORK_SLICE_H_
#define SEMRANK_SERVER_BASE_WORK_SLICE_H_

#include <cstddef>
#include <cstdint>

namespace semrank {

// What a slice returns.
enum class Progress {
  kMore,     // more slices are needed
  kWaiting,  // so are they, once something else is done (RequestHandler::Wait)
  kDone,     // the result is complete
};

// The most texts and bytes of text in one slice: one or two milliseconds of
// titles that are not cached.
inline constexpr std::int64_t kSliceTexts = 1'024;
inline constexpr std::size_t kSliceBytes = std::size_t{128} << 10;

// The end of the slice that begins with item `first` of `count`, each of
// size_of(i) bytes: at least one item, if there is any.
template <typename SizeOf>
std::size_t SliceEnd(std::size_t first, std::size_t count, SizeOf size_of) {
  std::size_t num_bytes = 0;
  std::size_t last = first;
  while (last < count && last - first < std::size_t{kSliceTexts} &&
         num_bytes < kSliceBytes) {
    num_bytes += size_of(last++);
  }
  return last;
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_BASE_WORK_SLICE_H_
