// What this machine offers the process: cores, memory and instruction set.

#ifndef DRAGOMAN_ENGINE_BASE_MACHINE_H_
#define DRAGOMAN_ENGINE_BASE_MACHINE_H_

#include <cstddef>
#include <optional>
#include <string>

namespace dragoman {

// The number of cores that this process may use: the smaller of its affinity mask and its cgroup
// (v1 or v2) CPU quota, rounded up; at least 1.
int AvailableCores();

// The bytes of memory that this process may use: the smallest of physical memory, the cgroup limit
// and the limit of its address space (ulimit -v).
size_t AvailableMemory();

// How many seconds the CPU quota has throttled the process's control group (v1 or v2) since the
// group was created; 0 without a quota.  With nested groups, the largest value of any of them.
double CpuThrottledSeconds();

// The bytes of memory that this process can still allocate: the smallest of what the system has
// available, what its control groups leave and what is left of its address space.  Memory that can
// be reclaimed, such as the page cache, counts as free.
size_t FreeMemory();

// The processor's own name, such as "AMD EPYC 9575F 64-Core Processor", or "unknown".
std::string CpuModel();

// The kernel's policy for huge pages: "always", "madvise" (for memory that asks for them, as ours
// does), "never", or "unknown".
std::string HugePages();

// The first "model name" in the text of /proc/cpuinfo, or on ARM the name of the core that its
// numbers stand for; empty if there is none.
std::string ParseCpuModel(const std::string& cpuinfo);

// The selected word in a text such as "always [madvise] never"; empty if there is none.
std::string ParseChoice(const std::string& text);

// Reads a cgroup v2 `cpu.max` ("200000 100000" or "max 100000") as cores; 0 if it sets no limit.
double ParseCpuMax(const std::string& text);

// The throttled seconds in the text of a cgroup's `cpu.stat` ("throttled_usec 2500000", or v1's
// "throttled_time" in nanoseconds); 0 if it has none.
double ParseThrottled(const std::string& cpu_stat);

// The limits that the control groups of a process set; 0 means no limit.
struct CgroupLimits {
  double cores = 0.0;
  size_t memory_bytes = 0;
};

// The tightest limits from the process's own group up to the root.  `self_cgroup` is the text of
// /proc/self/cgroup (v1 and v2 lines); `mount` is where the hierarchies are mounted
// (/sys/fs/cgroup).
CgroupLimits ReadCgroupLimits(const std::string& mount, const std::string& self_cgroup);

// CpuThrottledSeconds for these arguments.
double ReadCgroupThrottled(const std::string& mount, const std::string& self_cgroup);

// How much memory the control groups of a process leave it; nullopt if none sets a limit.  The
// arguments are those of ReadCgroupLimits.
std::optional<size_t> ReadCgroupFreeMemory(const std::string& mount,
                                           const std::string& self_cgroup);

// The number of bytes in a line such as "MemAvailable:   123456 kB" of /proc/meminfo.
std::optional<size_t> ParseMemInfo(const std::string& text, const std::string& field);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MACHINE_H_
