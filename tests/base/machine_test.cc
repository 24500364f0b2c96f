#include "engine/base/machine.h"

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

TEST(Machine, CpuMaxIsQuotaOverPeriod) {
  EXPECT_EQ(ParseCpuMax("200000 100000"), 2.0);
  EXPECT_EQ(ParseCpuMax("150000 100000\n"), 1.5);
}

TEST(Machine, CpuMaxWithoutALimitOrSenseIsZero) {
  for (const char* text :
       {"max 100000\n", "", "max", "200000", "1 0", "-1 100000", "nan 100000", "a b", "1 2 3"}) {
    EXPECT_EQ(ParseCpuMax(text), 0.0) << text;
  }
}

TEST(Machine, GrantsAtLeastOneCoreAndNoMoreThanThereAre) {
  EXPECT_GE(AvailableCores(), 1);
  EXPECT_LE(AvailableCores(), sysconf(_SC_NPROCESSORS_CONF));
}

TEST(Machine, CoresFollowTheAffinityMask) {
  std::thread([] {  // affinity belongs to a thread: narrow one that ends here
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof(mask), &mask), 0);
    EXPECT_EQ(AvailableCores(), 1);
  })
      .join();
}

TEST(Machine, GrantsMemoryUpToWhatIsBuiltIn) {
  EXPECT_GT(AvailableMemory(), size_t{16} << 20);
  EXPECT_LE(AvailableMemory(),
            static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
}

// A made-up /sys/fs/cgroup.
class Cgroup : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(mount_); }

  void Write(const std::string& file, const std::string& text) {
    fs::create_directories((mount_ / file).parent_path());
    std::ofstream(mount_ / file) << text;
  }
  CgroupLimits Limits(const std::string& self_cgroup) const {
    return ReadCgroupLimits(mount_.string(), self_cgroup);
  }

  const fs::path mount_ =
      fs::path(::testing::TempDir()) / ("machine_test." + std::to_string(getpid()));
};

TEST_F(Cgroup, WithoutFilesThereIsNoLimit) {
  for (const char* self :
       {"", "0::/", "0::/a/b\n", "4:cpu,cpuacct:/a\n", "nonsense", "::", "0::"}) {
    EXPECT_EQ(Limits(self).cores, 0.0) << self;
    EXPECT_EQ(Limits(self).memory_bytes, 0u) << self;
  }
}

TEST_F(Cgroup, TheTightestLimitUpToTheRootHolds) {
  Write("cpu.max", "max 100000\n");
  Write("kubepods/cpu.max", "300000 100000\n");
  Write("kubepods/memory.max", "1000000\n");
  Write("kubepods/pod/cpu.max", "400000 100000\n");
  Write("kubepods/pod/memory.max", "max\n");
  const CgroupLimits limits = Limits("0::/kubepods/pod\n");
  EXPECT_EQ(limits.cores, 3.0);
  EXPECT_EQ(limits.memory_bytes, 1000000u);
}

TEST_F(Cgroup, AGroupThatIsNotVisibleLeavesTheRoot) {  // as in a container
  Write("cpu.max", "150000 100000\n");
  EXPECT_EQ(Limits("0::/system.slice/docker-1.scope\n").cores, 1.5);
}

TEST_F(Cgroup, VersionOneIsReadPerController) {
  Write("cpu/a/cpu.cfs_quota_us", "250000\n");
  Write("cpu/a/cpu.cfs_period_us", "100000\n");
  Write("cpu/cpu.cfs_quota_us", "-1\n");
  Write("cpu/cpu.cfs_period_us", "100000\n");
  Write("memory/b/memory.limit_in_bytes", "2000000\n");
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");  // version 1's "no limit"
  const CgroupLimits limits = Limits("7:memory:/b\n4:cpu,cpuacct:/a\n1:name=systemd:/c\n");
  EXPECT_EQ(limits.cores, 2.5);
  EXPECT_EQ(limits.memory_bytes, 2000000u);
}

TEST(Machine, ThrottledTimeIsReadInBothVersions) {
  EXPECT_EQ(ParseThrottled("nr_periods 10\nnr_throttled 2\nthrottled_usec 2500000\n"), 2.5);
  EXPECT_EQ(ParseThrottled("nr_throttled 2\nthrottled_time 1500000000\n"), 1.5);
  for (const char* text : {"", "usage_usec 5", "throttled_usec", "throttled_usec x"}) {
    EXPECT_EQ(ParseThrottled(text), 0.0) << text;
  }
}

TEST_F(Cgroup, TheGroupThatWasHeldBackLongestCounts) {
  Write("kubepods/cpu.stat", "throttled_usec 1000000\n");
  Write("kubepods/pod/cpu.stat", "throttled_usec 3000000\n");
  EXPECT_EQ(ReadCgroupThrottled(mount_.string(), "0::/kubepods/pod\n"), 3.0);
  Write("cpu/a/cpu.stat", "throttled_time 4000000000\n");
  EXPECT_EQ(ReadCgroupThrottled(mount_.string(), "4:cpu,cpuacct:/a\n"), 4.0);
  EXPECT_EQ(ReadCgroupThrottled(mount_.string(), "0::/elsewhere\n"), 0.0);
}

TEST_F(Cgroup, TheLeastFreeMemoryUpToTheRootHolds) {
  EXPECT_EQ(ReadCgroupFreeMemory(mount_, "0::/pod/container\n"), std::nullopt);
  Write("pod/memory.max", "1000\n");
  Write("pod/memory.current", "900\n");
  Write("pod/memory.stat", "anon 500\ninactive_file 300\n");
  EXPECT_EQ(ReadCgroupFreeMemory(mount_, "0::/pod/container\n"), 400u);
  Write("pod/container/memory.max", "500\n");
  Write("pod/container/memory.current", "600\n");
  EXPECT_EQ(ReadCgroupFreeMemory(mount_, "0::/pod/container\n"), 0u);
}

TEST_F(Cgroup, FreeMemoryOfVersionOne) {
  Write("memory/pod/memory.limit_in_bytes", "1000\n");
  Write("memory/pod/memory.usage_in_bytes", "700\n");
  Write("memory/pod/memory.stat", "total_inactive_file 50\n");
  EXPECT_EQ(ReadCgroupFreeMemory(mount_, "4:memory:/pod\n"), 350u);
}

TEST(Machine, MemInfoIsReadByField) {
  const std::string text = "MemTotal:  2048 kB\nMemAvailable:     1024 kB\nHugePages_Total: 3\n";
  EXPECT_EQ(ParseMemInfo(text, "MemAvailable"), 1024u * 1024);
  EXPECT_EQ(ParseMemInfo(text, "MemFree"), std::nullopt);
  EXPECT_EQ(ParseMemInfo(text, "HugePages_Total"), std::nullopt);
  EXPECT_GT(FreeMemory(), 0u);
}

TEST(Machine, TheModelOfTheProcessorIsTheFirst) {
  EXPECT_EQ(ParseCpuModel("processor\t: 0\nmodel\t\t: 2\nmodel name\t: AMD EPYC: 9575F\n\n"
                          "processor\t: 1\nmodel name\t: another\n"),
            "AMD EPYC: 9575F");
  EXPECT_EQ(ParseCpuModel("processor : 0\nBogoMIPS : 50.00\n"), "");
  EXPECT_EQ(ParseCpuModel("BogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            "ARM Neoverse-N1");
  EXPECT_EQ(ParseCpuModel("CPU implementer\t: 0x61\nCPU part\t: 0x022\n"),
            "ARM implementer 0x61 part 0x022");
}

TEST(Machine, TheChosenValueIsInBrackets) {
  EXPECT_EQ(ParseChoice("always [madvise] never\n"), "madvise");
  EXPECT_EQ(ParseChoice("always madvise never\n"), "");
  EXPECT_EQ(ParseChoice("] [always"), "");
  EXPECT_EQ(ParseChoice(""), "");
}

}  // namespace
}  // namespace dragoman
