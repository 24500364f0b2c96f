// What the operating system grants this process (ulimit).  If that is too little, the process ends
// with exit code 1 and a message that names what was short, instead of an abort.  The check before
// the gRPC port is opened (CheckHeadroom) makes this unlikely later.

#ifndef DRAGOMAN_SERVER_NET_PROCESS_LIMITS_H_
#define DRAGOMAN_SERVER_NET_PROCESS_LIMITS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

// How the process' file descriptors are divided.  Those below `reserve` are for files, the HTTP
// port and the libraries, so that the server can always be asked for its state; connections of the
// gRPC port get those from `reserve` on.
struct DescriptorPlan {
  int reserve = 0;
  int connections = 0;  // the most that there is room for
};

// Raises the soft limit of open files to the hard limit and divides them.  FAILED_PRECONDITION
// names the limit if it is too low to serve at all.
absl::StatusOr<DescriptorPlan> PlanDescriptors();

// Divides a limit of that many files; raises nothing.
absl::StatusOr<DescriptorPlan> PlanDescriptors(int64_t limit);

// From now on, running out of memory or threads ends the process with exit code 1 and a message on
// standard error that names the limits in force.  For memory, this happens in the allocation that
// fails: protobuf, and with it SentencePiece, does not survive an exception there (its destructors
// then read pointers that were never set), so a request that runs out of memory cannot fail alone.
// A single allocation that is too large, while there is memory, throws std::bad_alloc as usual.
void ExplainExhaustion();

// Makes the process need less address space if that is limited (ulimit -v): all threads share one
// heap.  By default each reserves 64 MB for its own, most of which it never uses.  REQUIRES: there
// are no other threads yet.
void SaveAddressSpace();

// Whether this process can get so much more memory and so many more threads, which it may need at
// any time but has not asked for yet.  FAILED_PRECONDITION says what is short.
absl::Status CheckHeadroom(size_t bytes, int threads);

// Libraries abort if they cannot get memory, a thread or a descriptor.  While an object of this
// class exists, that, too, is explained and ends the process with exit code 1; afterwards, an abort
// is a bug and dumps core.  At most one at a time.
class ExplainAborts : private NotCopyable {
 public:
  ExplainAborts();
  ~ExplainAborts();
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_NET_PROCESS_LIMITS_H_
