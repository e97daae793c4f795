// Numbered pieces of several kinds of work, to be run together: the fewer the
// waits, the less several threads lose.
//
//   Order    pieces are handed out in the order in which they were added, so
//            the longest belong first.
//   Promise  no piece may depend on another of the same list, on the number of
//            threads or on its worker but for scratch memory.
//   Threads  RunPiece from any; the rest by one, while no piece runs.
#ifndef SEMRANK_MODEL_BASE_WORK_LIST_H_
#define SEMRANK_MODEL_BASE_WORK_LIST_H_

#include <functional>
#include <vector>

namespace semrank {

class WorkList {
 public:
  using Piece = std::function<void(int piece, int worker)>;

  // piece(i, worker) for each i in [0, num_pieces).
  void Add(int num_pieces, Piece piece);
  // [0, count) cut into blocks of `block` (the last may be shorter):
  // range(first, last, worker) for each.
  void AddBlocks(int count, int block,
                 std::function<void(int first, int last, int worker)> range);

  // Of all that was added.
  int num_pieces() const { return num_pieces_; }
  void RunPiece(int piece, int worker) const;

  void Clear();

 private:
  struct Entry {
    int first_piece;
    Piece piece;
  };
  std::vector<Entry> entries_;
  int num_pieces_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_WORK_LIST_H_
