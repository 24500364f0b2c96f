// What this machine grants us: cores, memory and instruction set.

#ifndef DRAGOMAN_ENGINE_BASE_MACHINE_H_
#define DRAGOMAN_ENGINE_BASE_MACHINE_H_

#include <cstddef>
#include <optional>
#include <string>

namespace dragoman {

// The whole cores that this process may use: the smaller of its affinity mask and the cgroup (v2 or
// v1) CPU quota, rounded up; at least 1.
int AvailableCores();

// The bytes of memory that this process may use: the smaller of physical memory and the cgroup
// limit.
size_t AvailableMemory();

// For how many seconds, since it was made, the process's control group (v2 or v1) has been held
// back by its CPU quota; 0 where there is no quota.  Of nested groups that which was held back
// longest.
double CpuThrottledSeconds();

// The bytes of memory that this process can still take: the smaller of what the system has
// available and what its control groups leave.  Memory that can be reclaimed, such as the page
// cache, counts as free.
size_t FreeMemory();

// What the processor calls itself, such as "AMD EPYC 9575F 64-Core Processor", or "unknown".
std::string CpuModel();

// Who gets huge pages from the kernel: "always", "madvise" (those who ask, as we do), "never", or
// "unknown".
std::string HugePages();

// The first "model name" in the text of /proc/cpuinfo; empty if there is none.
std::string ParseCpuModel(const std::string& cpuinfo);

// The choice that is made in a text such as "always [madvise] never"; empty if there is none.
std::string ParseChoice(const std::string& text);

// Reads a cgroup v2 `cpu.max` ("200000 100000" or "max 100000") as cores; 0 if it sets no limit.
double ParseCpuMax(const std::string& text);

// The throttled seconds in the text of a cgroup's `cpu.stat` ("throttled_usec 2500000", or v1's
// "throttled_time" in nanoseconds); 0 if it has none.
double ParseThrottled(const std::string& cpu_stat);

// What the control groups of a process allow it; 0 means no limit.
struct CgroupLimits {
  double cores = 0.0;
  size_t memory_bytes = 0;
};

// The tightest limits from the process's own group up to the root.  `self_cgroup` is the text of
// /proc/self/cgroup (v2 and v1 lines), `mount` where the hierarchies are mounted (/sys/fs/cgroup).
CgroupLimits ReadCgroupLimits(const std::string& mount, const std::string& self_cgroup);

// Likewise of CpuThrottledSeconds.
double ReadCgroupThrottled(const std::string& mount, const std::string& self_cgroup);

// What the control groups of a process leave it of their memory; nullopt if none sets a limit.  The
// arguments are those of ReadCgroupLimits.
std::optional<size_t> ReadCgroupFreeMemory(const std::string& mount,
                                           const std::string& self_cgroup);

// The bytes of a line such as "MemAvailable:   123456 kB" in the text of /proc/meminfo.
std::optional<size_t> ParseMemInfo(const std::string& text, const std::string& field);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MACHINE_H_
