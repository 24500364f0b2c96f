// What the kernel says about this process (/proc/self), for the process_* metrics.

#ifndef DRAGOMAN_SERVER_OBSERVE_PROCESS_STATS_H_
#define DRAGOMAN_SERVER_OBSERVE_PROCESS_STATS_H_

namespace dragoman {

// A value that cannot be read is 0.
struct ProcessStats {
  double cpu_seconds = 0;  // user and system
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double threads = 0;
  double start_time_seconds = 0;  // since the Unix epoch
};

ProcessStats ReadProcessStats();

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_PROCESS_STATS_H_
