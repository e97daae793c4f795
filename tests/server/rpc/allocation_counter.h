// Counts what the program allocates with new. Linking it replaces the operators
// of the whole program; they are in a file of their own, because GCC warns
// where it sees both how they allocate and who calls them.
#ifndef SEMRANK_TESTS_SERVER_RPC_ALLOCATION_COUNTER_H_
#define SEMRANK_TESTS_SERVER_RPC_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace semrank {

// Since the start, by all threads.
std::int64_t NumAllocations();

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_RPC_ALLOCATION_COUNTER_H_
