// The counters of a listening port, for the metrics.

#ifndef DRAGOMAN_SERVER_OBSERVE_LISTENER_STATS_H_
#define DRAGOMAN_SERVER_OBSERVE_LISTENER_STATS_H_

#include <cstdint>

namespace dragoman {

struct ListenerStats {
  int64_t accepted = 0;        // connections accepted and handed on
  int64_t over_limit = 0;      // closed because too many were open
  int64_t no_descriptors = 0;  // times that the process or the system had no descriptor left
  int64_t aborted = 0;         // those that had too many calls, or too large messages
  int open = 0;                // connections open now
  int limit = 0;               // the most that may be open
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_LISTENER_STATS_H_
