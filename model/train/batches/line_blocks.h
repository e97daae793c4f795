// The lines of files that are read again and again, each time in another order.
// Plain files are read in blocks of random order. A compressed file is one
// block, because decoding cannot begin in its middle.
//
//   Lines    are those of LineReader, without their numbers. A line belongs to
//            the block in which it begins.
//   Memory   one block, about block_bytes, or what a decoder needs.
//   Threads  one thread at a time calls.
//   Errors   of the file system; DataLoss for damaged compressed data.
#ifndef SEMRANK_MODEL_TRAIN_BATCHES_LINE_BLOCKS_H_
#define SEMRANK_MODEL_TRAIN_BATCHES_LINE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/line_reader.h"
#include "model/base/random.h"

namespace semrank {

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

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_BATCHES_LINE_BLOCKS_H_
