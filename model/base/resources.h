// What this machine has, what the process may use of it, and what it uses.
//
//   Quotas   the limits of the control groups (cgroups) that hold the process,
//            as containers, Kubernetes and systemd set them: version 2, and of
//            version 1 the hierarchies "cpu" and "memory". The limits of a
//            group bound those below it, so the least counts. A container may
//            see its own group as the root.
#ifndef SEMRANK_MODEL_BASE_RESOURCES_H_
#define SEMRANK_MODEL_BASE_RESOURCES_H_

#include <cstdint>
#include <string>

namespace semrank {

// Tests give other places.
struct ControlGroups {
  std::string root = "/sys/fs/cgroup";
  std::string list = "/proc/self/cgroup";
};

// Processors whose time the CPU quota allows, rounded up; 0 = no quota.
int ProcessorQuota(const ControlGroups& groups = {});

// Bytes of memory that the groups allow; 0 = no limit.
std::int64_t MemoryQuota(const ControlGroups& groups = {});

// Bytes of memory of this machine; MemoryQuota may allow the process less.
std::int64_t PhysicalMemory();

// Bytes that this process has in memory, and the most that it has had; 0 where
// the system does not say.
std::int64_t ResidentMemory();
std::int64_t PeakResidentMemory();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_RESOURCES_H_
