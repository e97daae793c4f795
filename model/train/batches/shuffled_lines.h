// The lines of files that are read again and again, each time in another order:
// blocks of the files in random order, through a shuffle buffer.
//
//   Threads  one thread at a time calls.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_SHUFFLED_LINES_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_SHUFFLED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/line_reader.h"
#include "model/base/random.h"

namespace semrank {

// Plain files are read in blocks of random order. A compressed file is one
// block, because decoding cannot begin in its middle.
//
//   Lines    are those of LineReader, without their numbers. A line belongs to
//            the block in which it begins.
//   Memory   one block, about block_bytes, or what a decoder needs.
//   Errors   of the file system; DataLoss for damaged compressed data.
class LineBlocks {
 public:
  // Reads each file's size and first bytes. InvalidArgument for standard
  // input and pipes, which can be read only once.
  static absl::StatusOr<LineBlocks> Create(
      const std::vector<std::string>& paths, std::size_t block_bytes);

  // Begins again, in an order drawn from `random`.
  void Shuffle(Random random);
  // False after the last line of the last block; `line` is valid until the
  // next call. A line is cut after LineReader::kMaxLineBytes.
  absl::StatusOr<bool> Next(std::string_view& line);

  std::size_t num_blocks() const { return blocks_.size(); }

 private:
  // [begin, end) of a plain file; end 0 = a whole compressed file.
  struct Block {
    std::uint32_t file;
    std::uint64_t begin;
    std::uint64_t end;
  };

  LineBlocks() = default;
  absl::Status AddFile(const std::string& path, std::size_t block_bytes);
  absl::Status Open(const Block& block);
  absl::Status ReadBlock(const Block& block);

  std::vector<std::string> paths_;
  std::vector<Block> blocks_;
  std::size_t next_block_ = 0;
  std::unique_ptr<LineReader> reader_;  // of a compressed file
  std::string content_;                 // of a plain block: whole lines
  std::string_view unread_;
};

// Shuffles a stream of lines in bounded memory: the caller keeps the buffer
// full, and each draw removes one of its lines at random.
//
//   Memory   at most capacity_bytes, including what the allocator adds; but one
//            line always fits, however long.
class ShuffleBuffer {
 public:
  explicit ShuffleBuffer(std::size_t capacity_bytes)
      : capacity_bytes_(capacity_bytes) {}

  bool empty() const { return lines_.empty(); }
  std::size_t num_lines() const { return lines_.size(); }
  std::size_t bytes() const { return bytes_; }

  // False, without a change, when there is no room.
  bool Add(std::string_view line);
  // Removes a random line and returns it in `line`; the buffer is not empty.
  void Draw(Random& random, std::string& line);
  // Removes all lines.
  void Clear();

 private:
  std::size_t capacity_bytes_;
  std::size_t bytes_ = 0;
  std::deque<std::string> lines_;  // grows without moving what it has
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_SHUFFLED_LINES_H_
