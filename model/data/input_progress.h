// Progress of a command that works on a file of documents or texts block by
// block. It counts bytes of the file: how many documents there are is known
// only at the end, and lines are not documents. A pipe has no size, so there
// the bar counts items.
#ifndef SEMRANK_MODEL_DATA_INPUT_PROGRESS_H_
#define SEMRANK_MODEL_DATA_INPUT_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/cli/progress.h"

namespace semrank {

class InputProgress {
 public:
  // `item` is what blocks consist of: "document".
  InputProgress(std::string_view label, const std::string& path,
                std::string_view item);

  // `begin` and `end` are shares of the file's bytes, as in DocumentBlock.
  void StartBlock(double begin, double end, std::size_t num_items);
  // `num_done` items of the block are done, which is not empty, and
  // `num_items` in all.
  void Update(std::size_t num_done, std::int64_t num_items);
  // The file is done.
  void Finish(std::int64_t num_items);

 private:
  void Show(double fraction, std::int64_t num_items);

  const std::string label_;
  const std::string item_;
  std::int64_t num_bytes_ = 0;  // of the file; 0 = unknown
  std::optional<ProgressBar> bar_;
  double first_ = 0;  // where the run began
  // The block of which Update speaks.
  double begin_ = 0;
  double end_ = 0;
  std::size_t num_block_items_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_INPUT_PROGRESS_H_
