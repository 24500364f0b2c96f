#include "engine/base/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dragoman {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// A positive number, or 0 for anything else ("max", "-1", no such file).
double PositiveNumber(const std::string& text) {
  double value = 0.0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value) || value < 0.0) return 0.0;
  return value;
}

// cgroup v1 expresses "no limit" as LONG_MAX rounded down to whole pages.
size_t MemoryLimit(const std::string& text) {
  constexpr double kNoLimit = 1e18;
  const double bytes = PositiveNumber(text);
  return bytes < kNoLimit ? static_cast<size_t>(bytes) : 0;
}

template <typename T>
void Tighten(T limit, T* tightest) {
  if (limit > 0 && (*tightest == 0 || limit < *tightest)) *tightest = limit;
}

// `directory`, its parent, and so on up to `root`, which is a prefix of it.
std::vector<std::string> UpToRoot(const std::string& root, const std::string& group) {
  std::vector<std::string> directories;
  std::string path = group;
  while (!path.empty() && path != "/") {
    directories.push_back(root + path);
    path.resize(path.rfind('/'));
  }
  directories.push_back(root);
  return directories;
}

void ReadVersion2(const std::string& root, const std::string& group, CgroupLimits* limits) {
  for (const std::string& directory : UpToRoot(root, group)) {
    Tighten(ParseCpuMax(ReadFile(directory + "/cpu.max")), &limits->cores);
    Tighten(MemoryLimit(ReadFile(directory + "/memory.max")), &limits->memory_bytes);
  }
}

void ReadVersion1(const std::string& root, const std::string& group, CgroupLimits* limits) {
  for (const std::string& directory : UpToRoot(root, group)) {
    const double quota = PositiveNumber(ReadFile(directory + "/cpu.cfs_quota_us"));
    const double period = PositiveNumber(ReadFile(directory + "/cpu.cfs_period_us"));
    if (period > 0.0) Tighten(quota / period, &limits->cores);
    Tighten(MemoryLimit(ReadFile(directory + "/memory.limit_in_bytes")), &limits->memory_bytes);
  }
}

// The process's group in one hierarchy of control groups.
struct Hierarchy {
  bool unified;  // version 2
  std::string root;
  std::string group;  // below the root: "/system.slice/dragoman.service"
};

// Those hierarchies that may limit CPU or memory.
std::vector<Hierarchy> Hierarchies(const std::string& mount, const std::string& self_cgroup) {
  std::vector<Hierarchy> hierarchies;
  for (absl::string_view line : absl::StrSplit(self_cgroup, '\n')) {
    // hierarchy-id:controllers:path; version 2 has "0::path".
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || fields[2].empty() || fields[2][0] != '/') continue;
    if (fields[1].empty()) {
      hierarchies.push_back({true, mount, fields[2]});
      continue;
    }
    for (const absl::string_view controller : absl::StrSplit(fields[1], ',')) {
      if (controller == "cpu" || controller == "memory") {
        hierarchies.push_back({false, absl::StrCat(mount, "/", controller), fields[2]});
      }
    }
  }
  return hierarchies;
}

constexpr char kCgroupMount[] = "/sys/fs/cgroup";

// The number in a line such as "inactive_file 4096"; 0 if there is none.
size_t NumberOf(const std::string& text, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ');
    if (fields.size() == 2 && fields[0] == name) return MemoryLimit(std::string(fields[1]));
  }
  return 0;
}

// The file names that one version of control groups uses.
struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* cache;  // in memory.stat: pages that can be reclaimed
};
constexpr MemoryFiles kVersion2 = {"/memory.max", "/memory.current", "inactive_file"};
constexpr MemoryFiles kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                   "total_inactive_file"};

void ReadFree(const std::string& root, const std::string& group, const MemoryFiles& files,
              std::optional<size_t>* least) {
  for (const std::string& directory : UpToRoot(root, group)) {
    const size_t limit = MemoryLimit(ReadFile(directory + files.limit));
    if (limit == 0) continue;
    const size_t usage = MemoryLimit(ReadFile(directory + files.usage));
    const size_t cache = NumberOf(ReadFile(directory + "/memory.stat"), files.cache);
    const size_t taken = usage - std::min(usage, cache);
    const size_t free = limit - std::min(limit, taken);
    *least = std::min(free, least->value_or(free));
  }
}

const CgroupLimits& OwnLimits() {
  static const CgroupLimits limits = ReadCgroupLimits(kCgroupMount, ReadFile("/proc/self/cgroup"));
  return limits;
}

// 0 if the kernel does not say.
int AffinityCores() {
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 2) {  // EINVAL: the kernel's mask is longer
    cpu_set_t* mask = CPU_ALLOC(cpus);
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const int count = sched_getaffinity(0, size, mask) == 0 ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return count;
  }
  return 0;
}

}  // namespace

double ParseCpuMax(const std::string& text) {
  const std::vector<std::string> fields =
      absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  if (fields.size() != 2) return 0.0;
  const double period = PositiveNumber(fields[1]);
  return period > 0.0 ? PositiveNumber(fields[0]) / period : 0.0;
}

double ParseThrottled(const std::string& cpu_stat) {
  const std::vector<std::string> words =
      absl::StrSplit(cpu_stat, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "throttled_usec") return PositiveNumber(words[i + 1]) / 1e6;
    if (words[i] == "throttled_time") return PositiveNumber(words[i + 1]) / 1e9;
  }
  return 0.0;
}

CgroupLimits ReadCgroupLimits(const std::string& mount, const std::string& self_cgroup) {
  CgroupLimits limits;
  for (const Hierarchy& hierarchy : Hierarchies(mount, self_cgroup)) {
    const auto read = hierarchy.unified ? ReadVersion2 : ReadVersion1;
    read(hierarchy.root, hierarchy.group, &limits);
  }
  return limits;
}

double ReadCgroupThrottled(const std::string& mount, const std::string& self_cgroup) {
  double longest = 0.0;
  for (const Hierarchy& hierarchy : Hierarchies(mount, self_cgroup)) {
    for (const std::string& directory : UpToRoot(hierarchy.root, hierarchy.group)) {
      longest = std::max(longest, ParseThrottled(ReadFile(directory + "/cpu.stat")));
    }
  }
  return longest;
}

double CpuThrottledSeconds() {
  return ReadCgroupThrottled(kCgroupMount, ReadFile("/proc/self/cgroup"));
}

std::optional<size_t> ReadCgroupFreeMemory(const std::string& mount,
                                           const std::string& self_cgroup) {
  std::optional<size_t> least;
  for (const Hierarchy& hierarchy : Hierarchies(mount, self_cgroup)) {
    ReadFree(hierarchy.root, hierarchy.group, hierarchy.unified ? kVersion2 : kVersion1, &least);
  }
  return least;
}

std::optional<size_t> ParseMemInfo(const std::string& text, const std::string& field) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() != 3 || words[0] != field + ":" || words[2] != "kB") continue;
    return MemoryLimit(words[1]) * 1024;
  }
  return std::nullopt;
}

int AvailableCores() {
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int affinity = AffinityCores();
  const int cores = std::max(1, affinity > 0 ? affinity : online);
  const double quota = OwnLimits().cores;
  if (quota <= 0.0 || quota >= cores) return cores;
  return std::max(1, static_cast<int>(std::ceil(quota)));
}

namespace {

// What the first line of /proc/cpuinfo with this name says; empty if there is none.
std::string CpuField(const std::string& cpuinfo, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(cpuinfo, '\n')) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(field.first) != name) continue;
    return std::string(absl::StripAsciiWhitespace(field.second));
  }
  return "";
}

// On ARM, the file has numbers for the maker and the core.
struct ArmCore {
  const char* implementer;
  const char* part;
  const char* name;
};
constexpr ArmCore kArmCores[] = {
    {"0x41", "0xd03", "ARM Cortex-A53"},  {"0x41", "0xd08", "ARM Cortex-A72"},
    {"0x41", "0xd0b", "ARM Cortex-A76"},  {"0x41", "0xd0c", "ARM Neoverse-N1"},
    {"0x41", "0xd40", "ARM Neoverse-V1"}, {"0x41", "0xd49", "ARM Neoverse-N2"},
    {"0x41", "0xd4f", "ARM Neoverse-V2"}};

}  // namespace

std::string ParseCpuModel(const std::string& cpuinfo) {
  const std::string implementer = CpuField(cpuinfo, "CPU implementer");
  if (implementer.empty()) return CpuField(cpuinfo, "model name");
  const std::string part = CpuField(cpuinfo, "CPU part");
  for (const ArmCore& core : kArmCores) {
    if (core.implementer == implementer && core.part == part) return core.name;
  }
  return absl::StrCat("ARM implementer ", implementer, " part ", part);
}

std::string ParseChoice(const std::string& text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return "";
  return text.substr(open + 1, close - open - 1);
}

std::string CpuModel() {
  const std::string model = ParseCpuModel(ReadFile("/proc/cpuinfo"));
  return model.empty() ? "unknown" : model;
}

std::string HugePages() {
  const std::string choice = ParseChoice(ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"));
  return choice.empty() ? "unknown" : choice;
}

namespace {

// The most address space that this process may have (ulimit -v); the largest number if there is no
// limit.
size_t AddressSpaceLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) return std::numeric_limits<size_t>::max();
  return limit.rlim_cur;  // RLIM_INFINITY is the largest number
}

// How much of it is left.
size_t FreeAddressSpace() {
  const size_t limit = AddressSpaceLimit();
  size_t pages = 0;
  const std::string statm = ReadFile("/proc/self/statm");
  const std::vector<absl::string_view> fields = absl::StrSplit(statm, ' ');
  if (limit == std::numeric_limits<size_t>::max() || !absl::SimpleAtoi(fields[0], &pages)) {
    return std::numeric_limits<size_t>::max();
  }
  return limit - std::min(limit, pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace

size_t FreeMemory() {
  const size_t system =
      ParseMemInfo(ReadFile("/proc/meminfo"), "MemAvailable").value_or(AvailableMemory());
  const std::optional<size_t> groups =
      ReadCgroupFreeMemory(kCgroupMount, ReadFile("/proc/self/cgroup"));
  return std::min({system, groups.value_or(system), FreeAddressSpace()});
}

size_t AvailableMemory() {
  const size_t physical =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t limit = OwnLimits().memory_bytes;
  return std::min(limit > 0 ? std::min(limit, physical) : physical, AddressSpaceLimit());
}

}  // namespace dragoman
