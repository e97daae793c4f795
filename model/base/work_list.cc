#include "model/base/work_list.h"

#include <algorithm>
#include <utility>

namespace semrank {

void WorkList::Add(int num_pieces, Piece piece) {
  if (num_pieces <= 0) return;
  entries_.push_back({num_pieces_, std::move(piece)});
  num_pieces_ += num_pieces;
}

void WorkList::AddBlocks(
    int count, int block,
    std::function<void(int first, int last, int worker)> range) {
  Add((count + block - 1) / block,
      [count, block, range = std::move(range)](int piece, int worker) {
        range(piece * block, std::min(count, (piece + 1) * block), worker);
      });
}

void WorkList::RunPiece(int piece, int worker) const {
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), piece,
      [](int value, const Entry& entry) { return value < entry.first_piece; });
  const Entry& entry = *(after - 1);
  entry.piece(piece - entry.first_piece, worker);
}

void WorkList::Clear() {
  entries_.clear();
  num_pieces_ = 0;
}

}  // namespace semrank
