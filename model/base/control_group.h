// Limits of the control groups (cgroups) that hold this process, as containers,
// Kubernetes and systemd set them.
//
//   Version  both: of version 1 the hierarchies "cpu" and "memory".
//   Groups   the limits of a group bound those below it, so the least counts. A
//            container may see its own group as the root.
#ifndef SEMRANK_MODEL_BASE_CONTROL_GROUP_H_
#define SEMRANK_MODEL_BASE_CONTROL_GROUP_H_

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

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_CONTROL_GROUP_H_
