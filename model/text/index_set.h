// Sorts the feature indices of one text and counts repeats: a set of bits that
// is read out in order. A text has some tens of features out of some ten
// thousand; there this takes a quarter of the time of std::sort.
//
//   Cost     one bit an index, and one look at num_indices / 4096 words.
//   Memory   num_indices / 8 bytes.
//   Threads  one set, one thread.
#ifndef SEMRANK_MODEL_TEXT_INDEX_SET_H_
#define SEMRANK_MODEL_TEXT_INDEX_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace semrank {

class IndexSet {
 public:
  // From now on indices in [0, num_indices) may be used. Keeps its memory.
  void GrowTo(std::size_t num_indices);

  // Replaces indices[begin, end) by the distinct ones among them, rising, and
  // counts[begin, ...) by how often each stood there; both vectors then end
  // there. The set itself is empty before and after.
  void SortAndCount(std::size_t begin, std::vector<std::uint32_t>& indices,
                    std::vector<float>& counts);

 private:
  // False when it was there.
  bool Insert(std::uint32_t index);
  // Writes the indices in order and empties the set; returns the end.
  std::uint32_t* Drain(std::uint32_t* out);

  std::vector<std::uint64_t> words_;    // bit i % 64 of word i / 64: index i
  std::vector<std::uint64_t> summary_;  // the same for words that are not 0
  std::vector<std::uint32_t> repeats_;  // beyond the first of each index
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_INDEX_SET_H_
