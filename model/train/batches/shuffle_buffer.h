// Puts a stream of lines into another order with bounded memory: it is kept
// full, and each draw takes one of its lines, all alike.
//
//   Memory   at most capacity_bytes, counted with what the allocator adds; but
//            one line is always taken, however long.
//   Threads  one buffer, one thread.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_SHUFFLE_BUFFER_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_SHUFFLE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "model/base/random.h"

namespace semrank {

class ShuffleBuffer {
 public:
  explicit ShuffleBuffer(std::size_t capacity_bytes)
      : capacity_bytes_(capacity_bytes) {}

  bool empty() const { return lines_.empty(); }
  std::size_t num_lines() const { return lines_.size(); }
  std::size_t bytes() const { return bytes_; }

  // False, having taken nothing, when there is no room.
  bool Add(std::string_view line);
  // Takes out one of the lines; the buffer is not empty.
  void Draw(Random& random, std::string& line);
  // Forgets all lines.
  void Clear();

 private:
  std::size_t capacity_bytes_;
  std::size_t bytes_ = 0;
  std::deque<std::string> lines_;  // grows without moving what it has
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_SHUFFLE_BUFFER_H_
