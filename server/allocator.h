// Settings of mimalloc, which a build with sanitizers does not have.
#ifndef SEMRANK_SERVER_ALLOCATOR_H_
#define SEMRANK_SERVER_ALLOCATOR_H_

#ifdef SEMRANK_MIMALLOC
#include <mimalloc.h>
#endif

namespace semrank {

// Returns freed pages to the system after a second, where mimalloc would after
// 25 ms. Bodies and responses of 100 KB and more need the same pages call after
// call, and clearing new ones took half of the CPU time of a call with 100
// vectors in JSON. MIMALLOC_DECOMMIT_DELAY in the environment still counts.
inline void KeepFreedPages() {
#ifdef SEMRANK_MIMALLOC
  mi_option_set_default(mi_option_decommit_delay, /*milliseconds=*/1'000);
#endif
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_ALLOCATOR_H_
