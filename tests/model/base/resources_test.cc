#include "model/base/resources.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "model/base/thread_pool.h"
#include "tests/support/temp_dir.h"

namespace semrank {
namespace {

class ControlGroupTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) {
    const std::string path = dir_.File(name);
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    std::ofstream(path) << content;
  }
  ControlGroups groups() const { return {dir_.path(), dir_.File("list")}; }

  const TempDir dir_;
};

TEST_F(ControlGroupTest, WithoutGroupsThereIsNoLimit) {
  EXPECT_EQ(ProcessorQuota(groups()), 0);
  EXPECT_EQ(MemoryQuota(groups()), 0);
  Write("list", "nonsense\n0::/gone\n1:cpu,memory:/gone\n");
  EXPECT_EQ(ProcessorQuota(groups()), 0);
  EXPECT_EQ(MemoryQuota(groups()), 0);
}

TEST_F(ControlGroupTest, Version2TakesTheLeastOfTheGroupAndThoseAboveIt) {
  Write("list", "0::/system.slice/semrank\n");
  Write("system.slice/semrank/cpu.max", "max 100000\n");
  Write("system.slice/semrank/memory.max", "max\n");
  EXPECT_EQ(ProcessorQuota(groups()), 0);
  EXPECT_EQ(MemoryQuota(groups()), 0);
  Write("system.slice/cpu.max", "350000 100000\n");
  Write("system.slice/memory.max", "5000\n");
  EXPECT_EQ(ProcessorQuota(groups()), 4);
  EXPECT_EQ(MemoryQuota(groups()), 5000);
  Write("system.slice/semrank/cpu.max", "50000 100000\n");
  Write("system.slice/semrank/memory.max", "3000\n");
  EXPECT_EQ(ProcessorQuota(groups()), 1);
  EXPECT_EQ(MemoryQuota(groups()), 3000);
}

TEST_F(ControlGroupTest, AContainerSeesItsGroupAsTheRoot) {
  Write("list", "0::/\n");
  Write("cpu.max", "200000 100000\n");
  EXPECT_EQ(ProcessorQuota(groups()), 2);
  // Version 1 names the group of the host, which the container does not see.
  Write("list", "4:cpu,cpuacct:/docker/0123\n5:memory:/docker/0123\n");
  Write("cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  Write("cpu,cpuacct/cpu.cfs_period_us", "50000\n");
  Write("memory/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(ProcessorQuota(groups()), 3);
  EXPECT_EQ(MemoryQuota(groups()), 4096);
}

TEST_F(ControlGroupTest, Version1HasNumbersForNoLimit) {
  Write("list", "4:cpu:/\n5:cpuset:/\n6:memory:/\n");
  Write("cpu/cpu.cfs_quota_us", "-1\n");
  Write("cpu/cpu.cfs_period_us", "100000\n");
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ProcessorQuota(groups()), 0);
  EXPECT_EQ(MemoryQuota(groups()), 0);
}

// A group of this machine, where the test may make one.
class RealGroup {
 public:
  RealGroup() {
    for (const char* parent : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup"}) {
      folder_ =
          std::string(parent) + "/semrank_test_" + std::to_string(getpid());
      std::error_code error;
      if (!std::filesystem::create_directory(folder_, error)) continue;
      // Part of a processor counts as one.
      if (Write("cpu.max", "60000 100000") ||
          Write("cpu.cfs_quota_us", "60000")) {
        made_ = true;
        return;
      }
      std::filesystem::remove(folder_, error);
    }
  }
  ~RealGroup() {
    if (made_) rmdir(folder_.c_str());
  }
  bool made() const { return made_; }
  bool Write(const std::string& name, const std::string& content) const {
    std::ofstream file(folder_ + "/" + name, std::ios::in | std::ios::out);
    return static_cast<bool>(file << content << std::flush);
  }

 private:
  std::string folder_;
  bool made_ = false;
};

TEST(ProcessorQuotaTest, AProcessOfAGroupUsesItsQuota) {
  const RealGroup group;
  if (!group.made()) GTEST_SKIP() << "no control group can be made here";
  const pid_t child = fork();
  if (child == 0) {
    if (!group.Write("cgroup.procs", std::to_string(getpid()))) _exit(99);
    _exit(NumUsableProcessors());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(ResourcesTest, ResidentMemoryGrowsWithWhatTheProcessWrites) {
  const std::int64_t before = ResidentMemory();
  EXPECT_GT(before, 1 << 20);
  const std::string block(32 << 20, 'x');
  EXPECT_GT(ResidentMemory(), before + (24 << 20));
  EXPECT_GT(PeakResidentMemory(), before + (24 << 20));
  EXPECT_LT(ResidentMemory(), PhysicalMemory());
  EXPECT_EQ(block.back(), 'x');
}

}  // namespace
}  // namespace semrank
