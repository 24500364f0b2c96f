// What this machine grants us: cores, memory and instruction set.

#ifndef DRAGOMAN_ENGINE_BASE_MACHINE_H_
#define DRAGOMAN_ENGINE_BASE_MACHINE_H_

#include <cstddef>
#include <string>

namespace dragoman {

// The whole cores that this process may use: the smaller of its affinity mask and the cgroup (v2 or
// v1) CPU quota, rounded up; at least 1.
int AvailableCores();

// The bytes of memory that this process may use: the smaller of physical memory and the cgroup
// limit.
size_t AvailableMemory();

// Reads a cgroup v2 `cpu.max` ("200000 100000" or "max 100000") as cores; 0 if it sets no limit.
double ParseCpuMax(const std::string& text);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MACHINE_H_
