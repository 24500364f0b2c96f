#include "engine/base/thread_team.h"

#include <algorithm>

#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr uint64_t kPartsMask = 0xFF;
constexpr uint64_t kNextRound = kPartsMask + 1;

// How often one looks before one sleeps: some tens of microseconds.
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
  round_.store((round_.load() & ~kPartsMask) + kNextRound);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::Split(int count, int grain, Part part) {
  const int parts = std::min(size(), count / grain);
  if (parts <= 1) return part(0, 0, count);
  part_ = &part;
  parts_ = parts;
  count_ = count;
  pending_.store(parts - 1, std::memory_order_relaxed);
  const uint64_t next = (round_.load(std::memory_order_relaxed) & ~kPartsMask) + kNextRound;
  round_.store(next | static_cast<uint64_t>(parts), std::memory_order_release);
  round_.notify_all();
  Do(0);
  for (int look = 0, left; (left = pending_.load(std::memory_order_acquire)) > 0; ++look) {
    if (look < kLooks) {
      Pause();
    } else {
      pending_.wait(left, std::memory_order_acquire);
    }
  }
}

// The part of one member of the present round.
void ThreadTeam::Do(int member) {
  const int64_t count = count_;
  const int first = static_cast<int>(count * member / parts_);
  const int end = static_cast<int>(count * (member + 1) / parts_);
  (*part_)(member, first, end);
}

// The first round that is not `last`.
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
  uint64_t round = 0;
  while (true) {
    round = AwaitRound(round);
    const int parts = static_cast<int>(round & kPartsMask);
    if (parts == 0) return;
    if (member >= parts) continue;
    Do(member);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace dragoman
