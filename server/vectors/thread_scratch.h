// Memory for one turn of work, reused by every request of a thread, so that
// most of them allocate next to nothing.
#ifndef SEMRANK_SERVER_VECTORS_THREAD_SCRATCH_H_
#define SEMRANK_SERVER_VECTORS_THREAD_SCRATCH_H_

#include <vector>

#include "server/vectors/text_embedder.h"

namespace semrank {

// What a turn needs and the next one, of any request, may overwrite.
struct TurnScratch {
  TextBatch texts;
  std::vector<float> rows;  // [texts.size(), embedding_dim]
  TextEmbedder::Scratch embedder;
};

// That of the calling thread. Between requests it is at most about 16 MiB.
TurnScratch& ThreadScratch();

}  // namespace semrank

#endif  // SEMRANK_SERVER_VECTORS_THREAD_SCRATCH_H_
