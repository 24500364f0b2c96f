// How a round of work is shared.  The leader splits 10 columns among a team of 3:
//
//   next_ = round 7 | 3 parts | next part 0        one word of 64 bits
//
//   leader      takes part 0 (next_: part 1)       columns 0..2
//   member 2    takes part 1 (next_: part 2)       columns 3..5
//   leader      takes part 2 (next_: part 3)       columns 6..9; nothing is left
//   member 1    comes late: no part is left, or the round has changed; it keeps waiting
//
// A part is taken by a compare-and-swap of the whole word.  So a member that read the word in round
// 7 and was then preempted cannot take a part of round 8 by mistake.  The leader waits for the
// parts that were taken (`left_`), never for a member that has taken none.

#include "engine/base/thread_team.h"

#include <algorithm>

#include "engine/base/status.h"

namespace dragoman {
namespace {

// The fields of ThreadTeam::next_, from the lowest: 8 bits for the next part, 8 for the number of
// parts, 48 for the round.  At 100,000 rounds a second, 48 bits last for 89 years.
constexpr int kPartBits = 8;
constexpr uint64_t kPartMask = (1 << kPartBits) - 1;
static_assert(ThreadTeam::kMaxSize <= static_cast<int>(kPartMask));

constexpr uint64_t kLeave = ~uint64_t{0};  // as a round

// How many times a thread checks before it sleeps: some tens of microseconds.
constexpr int kLooks = 2000;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) {
  DRAGOMAN_CHECK(1 <= threads && threads <= kMaxSize);
  for (int member = 1; member < threads; ++member) {
    threads_.emplace_back([this, member] { Serve(member); });
  }
}

ThreadTeam::~ThreadTeam() {
  round_.store(kLeave, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::Split(int count, int grain, Part part) {
  const int parts = std::min(size(), count / grain);
  if (parts <= 1) return part(0, 0, count);
  part_ = &part;
  count_ = count;
  left_.store(parts, std::memory_order_relaxed);
  const uint64_t round = round_.load(std::memory_order_relaxed) + 1;
  next_.store((round << (2 * kPartBits)) | (static_cast<uint64_t>(parts) << kPartBits),
              std::memory_order_release);
  round_.store(round, std::memory_order_release);
  round_.notify_all();
  Work(0, round);
  for (int look = 0, left; (left = left_.load(std::memory_order_acquire)) > 0; ++look) {
    if (look < kLooks) {
      Pause();
    } else {
      left_.wait(left, std::memory_order_acquire);
    }
  }
}

// Works on parts of a round until all have been taken.
void ThreadTeam::Work(int member, uint64_t round) {
  uint64_t next = next_.load(std::memory_order_acquire);
  while (next >> (2 * kPartBits) == round) {
    const int64_t parts = (next >> kPartBits) & kPartMask;
    const int64_t part = next & kPartMask;
    if (part == parts) return;
    if (!next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) continue;
    const int64_t count = count_;
    (*part_)(member, static_cast<int>(count * part / parts),
             static_cast<int>(count * (part + 1) / parts));
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1 && member != 0) left_.notify_one();
    next = next_.load(std::memory_order_acquire);
  }
}

// Waits for a round other than `last`.
uint64_t ThreadTeam::AwaitRound(uint64_t last) const {
  for (int look = 0;; ++look) {
    const uint64_t round = round_.load(std::memory_order_acquire);
    if (round != last) return round;
    if (look < kLooks) {
      Pause();
    } else {
      round_.wait(last, std::memory_order_acquire);
    }
  }
}

void ThreadTeam::Serve(int member) {
  for (uint64_t round = 0; (round = AwaitRound(round)) != kLeave;) Work(member, round);
}

}  // namespace dragoman
