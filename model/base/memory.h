// How much memory this machine has and this process uses, in bytes.
#ifndef SEMRANK_MODEL_BASE_MEMORY_H_
#define SEMRANK_MODEL_BASE_MEMORY_H_

#include <cstdint>

namespace semrank {

// The memory of this machine. A control group may allow the process less:
// MemoryQuota in control_group.h.
std::int64_t PhysicalMemory();

// What this process has in memory, and the most that it has had; 0 where the
// system does not say.
std::int64_t ResidentMemory();
std::int64_t PeakResidentMemory();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_MEMORY_H_
