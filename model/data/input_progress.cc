#include "model/data/input_progress.h"

#include "model/base/count_text.h"
#include "model/data/input_lines.h"

namespace semrank {

InputProgress::InputProgress(std::string_view label,
                             const std::vector<std::string>& paths,
                             std::string_view item)
    : label_(label), item_(item), num_bytes_(SizeOf(paths)) {}

void InputProgress::Start(double begin) {
  first_ = end_ = begin;
  bar_.emplace(
      label_,
      static_cast<std::int64_t>((1 - first_) * static_cast<double>(num_bytes_)),
      num_bytes_ > 0 ? "bytes" : item_ + "s");
}

// The bar starts with the first block, so that the rate of a run that continues
// does not include the bytes of the run before.
void InputProgress::StartBlock(double begin, double end,
                               std::size_t num_items) {
  if (!bar_.has_value()) Start(begin);
  // The block covers the lines that were skipped before it too, so the bar
  // never stands still or jumps back.
  begin_ = end_;
  end_ = end;
  num_block_items_ = num_items;
}

void InputProgress::Update(std::size_t num_done, std::int64_t num_items) {
  const double share =
      static_cast<double>(num_done) / static_cast<double>(num_block_items_);
  UpdateTo(begin_ + share * (end_ - begin_), num_items);
}

void InputProgress::UpdateTo(double fraction, std::int64_t num_items) {
  // Without a size the bar has no end, and shows how many items are done.
  if (num_bytes_ == 0) {
    bar_->Update(num_items);
    return;
  }
  bar_->Update(static_cast<std::int64_t>((fraction - first_) *
                                         static_cast<double>(num_bytes_)),
               CountText(num_items, item_));
}

void InputProgress::Finish(std::int64_t num_items) {
  if (bar_.has_value()) UpdateTo(1, num_items);
}

}  // namespace semrank
