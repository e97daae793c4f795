// Progress of a program that works on files, of documents block by block or of
// pairs one by one. It counts bytes of the files: how many items there are is
// known only at the end, and lines are not documents. A pipe has no size, so
// there the bar counts items.
#ifndef SEMRANK_MODEL_DATA_INPUT_PROGRESS_H_
#define SEMRANK_MODEL_DATA_INPUT_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cli/progress.h"

namespace semrank {

class InputProgress {
 public:
  // `item` is what the files consist of: "document".
  InputProgress(std::string_view label, const std::vector<std::string>& paths,
                std::string_view item);

  // Starts the bar's clock where this run begins, as a share of the bytes.
  void Start(double begin = 0);
  // `begin` and `end` are shares of the file's bytes, as in DocumentBlock.
  void StartBlock(double begin, double end, std::size_t num_items);
  // `num_done` items of the block are done, which is not empty, and
  // `num_items` in all.
  void Update(std::size_t num_done, std::int64_t num_items);
  // Without blocks, after Start: this share of the bytes is done.
  void UpdateTo(double fraction, std::int64_t num_items);
  // The files are done.
  void Finish(std::int64_t num_items);

 private:
  const std::string label_;
  const std::string item_;
  std::int64_t num_bytes_ = 0;  // of the files; 0 = unknown
  std::optional<ProgressBar> bar_;
  double first_ = 0;  // where the run began
  // The block of which Update speaks.
  double begin_ = 0;
  double end_ = 0;
  std::size_t num_block_items_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_INPUT_PROGRESS_H_
