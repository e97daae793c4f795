#include "model/base/memory.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace semrank {

std::int64_t PhysicalMemory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

// statm is shorter than status: a server reads it 50 times a second.
std::int64_t ResidentMemory() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  return statm >> total >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

// getrusage would also count what the process had before exec.
std::int64_t PeakResidentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    long long kibibytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %lld kB", &kibibytes) == 1) {
      return std::int64_t{kibibytes} * 1024;
    }
  }
  return 0;
}

}  // namespace semrank
