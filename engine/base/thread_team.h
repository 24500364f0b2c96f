// A few threads that share the work of one: fork and join, many thousands of times a second.
//
// The team belongs to one thread, its leader, which works along with the others.  A part of the
// work is a range of indices (output columns, rows) and never a part of a sum, so the result does
// not depend on the size of the team.
//
// Idle members spin for some microseconds before they sleep, because the next part of a decoding
// step usually comes that soon.

#ifndef DRAGOMAN_ENGINE_BASE_THREAD_TEAM_H_
#define DRAGOMAN_ENGINE_BASE_THREAD_TEAM_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

class ThreadTeam : private NotCopyable {
 public:
  // Works on the indices [first, end).  `member` is 0 .. size() - 1; 0 is the leader.
  using Part = absl::FunctionRef<void(int member, int first, int end)>;

  // Starts threads - 1 threads.  REQUIRES: 1 <= threads <= kMaxSize.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();

  static constexpr int kMaxSize = 255;

  int size() const { return 1 + static_cast<int>(threads_.size()); }

  // Cuts the indices [0, count) into parts of at least `grain`, at most one per member, and returns
  // when all are done.  A thread that is free takes the next part, so the leader waits for a member
  // that has started a part, but never for one that the system has not scheduled yet.  REQUIRES:
  // count >= 0, grain >= 1; the caller is the leader; no part is running, so a part must not split
  // its own work; `part` throws nothing.
  void Split(int count, int grain, Part part);

 private:
  void Serve(int member);
  void Work(int member, uint64_t round);
  uint64_t AwaitRound(uint64_t last) const;

  std::atomic<uint64_t> round_ = 0;  // the number of the last Split, or kLeave
  // round | parts | the next part to be taken, packed into one word.  A member that comes late sees
  // that the round has changed and cannot take a part of the wrong one.
  std::atomic<uint64_t> next_ = 0;
  std::atomic<int> left_ = 0;  // parts that are not finished
  // Belong to the current round.  Only members that have taken a part read them, and the leader
  // starts no new round before those parts are finished.
  const Part* part_ = nullptr;
  int count_ = 0;

  std::vector<std::thread> threads_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_THREAD_TEAM_H_
