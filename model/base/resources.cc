#include "model/base/resources.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;

// Version 1 writes about 2^63 for no limit.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

struct GroupFolder {
  fs::path path;
  bool is_version2 = false;
};

// The folder of a group below `root`, and those above it.
void AddFolders(const fs::path& root, const std::string& group,
                bool is_version2, std::vector<GroupFolder>& folders) {
  // "/a/b" is a folder below `root`, not a path of its own.
  fs::path path = fs::path(group).relative_path();
  for (; !path.empty(); path = path.parent_path()) {
    folders.push_back({root / path, is_version2});
  }
  folders.push_back({root, is_version2});
}

// The folders of the groups that bound this process for `controller`: its own
// and all above it. A container does not see all of them.
std::vector<GroupFolder> FoldersOf(std::string_view controller,
                                   const ControlGroups& groups) {
  std::vector<GroupFolder> folders;
  std::ifstream list(groups.list);
  for (std::string line; std::getline(list, line);) {
    // ID:CONTROLLER,...:GROUP; version 2 is 0::GROUP.
    const std::vector<std::string> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    if (fields[1].empty()) {
      AddFolders(groups.root, fields[2], /*is_version2=*/true, folders);
      continue;
    }
    for (const std::string& name :
         std::vector<std::string>(absl::StrSplit(fields[1], ','))) {
      if (name != controller) continue;
      AddFolders(fs::path(groups.root) / fields[1], fields[2],
                 /*is_version2=*/false, folders);
    }
  }
  return folders;
}

// Lowers `least` (0 = none yet) to `value`.
void Lower(std::int64_t value, std::int64_t& least) {
  if (least == 0 || value < least) least = value;
}

// Version 1 writes -1 and version 2 "max" for no quota.
void LowerByQuota(std::istream& quota_file, std::istream& period_file,
                  std::int64_t& least) {
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {
    Lower((quota - 1) / period + 1, least);
  }
}

}  // namespace

int ProcessorQuota(const ControlGroups& groups) {
  std::int64_t least = 0;
  for (const GroupFolder& folder : FoldersOf("cpu", groups)) {
    if (folder.is_version2) {
      // The file is "QUOTA PERIOD": one stream gives both.
      std::ifstream file(folder.path / "cpu.max");
      LowerByQuota(file, file, least);
    } else {
      std::ifstream quota(folder.path / "cpu.cfs_quota_us");
      std::ifstream period(folder.path / "cpu.cfs_period_us");
      LowerByQuota(quota, period, least);
    }
  }
  constexpr std::int64_t kMaxProcessors = 1 << 20;
  return static_cast<int>(std::min(least, kMaxProcessors));
}

std::int64_t MemoryQuota(const ControlGroups& groups) {
  std::int64_t least = 0;
  for (const GroupFolder& folder : FoldersOf("memory", groups)) {
    std::ifstream file(folder.path / (folder.is_version2
                                          ? "memory.max"
                                          : "memory.limit_in_bytes"));
    std::int64_t limit = 0;
    if (file >> limit && limit < kNoLimit) Lower(limit, least);
  }
  return least;
}

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
