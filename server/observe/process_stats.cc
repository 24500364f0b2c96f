#include "server/observe/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace dragoman {
namespace {

// When the machine booted, in seconds since the epoch.
double BootTime() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double seconds = 0;
  while (stat >> word) {
    if (word == "btime") {
      stat >> seconds;
      break;
    }
  }
  return seconds;
}

// The fields of /proc/self/stat from the third on (proc(5)); the second, the program's name, may
// contain spaces and ends with the last ')'.
std::vector<double> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream rest(line.substr(line.rfind(')') + 1));
  std::string state;
  rest >> state;
  std::vector<double> fields = {0};
  double field;
  while (rest >> field) fields.push_back(field);
  return fields;
}

}  // namespace

ProcessStats ReadProcessStats() {
  constexpr size_t kUserTime = 14 - 3, kSystemTime = 15 - 3, kThreads = 20 - 3;
  constexpr size_t kStartTime = 22 - 3, kVirtualBytes = 23 - 3, kResidentPages = 24 - 3;
  ProcessStats stats;
  const std::vector<double> fields = StatFields();
  if (fields.size() > kResidentPages) {
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    static const double boot_time = BootTime();
    stats.cpu_seconds = (fields[kUserTime] + fields[kSystemTime]) / ticks;
    stats.threads = fields[kThreads];
    stats.start_time_seconds = boot_time + fields[kStartTime] / ticks;
    stats.virtual_bytes = fields[kVirtualBytes];
    stats.resident_bytes = fields[kResidentPages] * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  std::error_code error;
  for (std::filesystem::directory_iterator fd("/proc/self/fd", error), end; !error && fd != end;
       fd.increment(error)) {
    ++stats.open_fds;
  }
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) stats.max_fds = static_cast<double>(limit.rlim_cur);
  return stats;
}

}  // namespace dragoman
