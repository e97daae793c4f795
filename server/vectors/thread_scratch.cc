#include "server/vectors/thread_scratch.h"

namespace semrank {
namespace {

// A larger matrix is given back.
constexpr std::size_t kMaxKeptFloats = std::size_t{4} << 20;

}  // namespace

TurnScratch& ThreadScratch() {
  thread_local TurnScratch scratch;
  if (scratch.rows.capacity() > kMaxKeptFloats) scratch = TurnScratch();
  return scratch;
}

}  // namespace semrank
