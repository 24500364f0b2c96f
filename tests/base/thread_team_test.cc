#include "engine/base/thread_team.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <set>

#include "gtest/gtest.h"

namespace dragoman {
namespace {

TEST(ThreadTeam, DoesEveryIndexOnceInPartsOfAtLeastTheGrain) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadTeam team(threads);
    EXPECT_EQ(team.size(), threads);
    for (const int count : {1, 2, 3, 7, 64, 1000}) {
      for (const int grain : {1, 2, 10, 2000}) {
        std::vector<int> done(count, 0);
        std::atomic<int> parts = 0, shortest = count;
        team.Split(count, grain, [&](int member, int first, int end) {
          EXPECT_TRUE(0 <= member && member < threads) << member;
          for (int i = first; i < end; ++i) ++done[i];
          for (int least = shortest; end - first < least;) {
            if (shortest.compare_exchange_weak(least, end - first)) break;
          }
          ++parts;
        });
        EXPECT_EQ(done, std::vector<int>(count, 1)) << threads << " " << count << " " << grain;
        EXPECT_EQ(parts, std::max(1, std::min(threads, count / grain)));
        EXPECT_GE(shortest, std::min(count, grain));
      }
    }
  }
}

// The parts can only meet at the barrier if they run at the same time.
TEST(ThreadTeam, PartsAreDoneAtTheSameTimeByDifferentMembers) {
  ThreadTeam team(3);
  std::atomic<int> arrived = 0;
  std::vector<std::thread::id> threads(3);
  team.Split(3, 1, [&](int member, int, int) {
    threads[member] = std::this_thread::get_id();
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), 3u);
}

// Rounds follow one another at once or after a pause in which the members fall asleep.  Some have
// fewer parts than the team has members.
TEST(ThreadTeam, ManyRounds) {
  ThreadTeam team(4);
  std::vector<int64_t> sums(64, 0);
  int64_t want = 0;
  for (int round = 0; round < 2000; ++round) {
    if (round % 400 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int count = 1 + round % 64;
    team.Split(count, 1, [&](int, int first, int end) {
      for (int i = first; i < end; ++i) sums[i] += round;
    });
    want += int64_t{round} * count;
  }
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), want);
}

TEST(ThreadTeam, WorksAtItsMaximumSize) {
  ThreadTeam team(ThreadTeam::kMaxSize);
  for (const int count : {0, ThreadTeam::kMaxSize, 1000}) {
    std::vector<int> done(count, 0);
    std::atomic<int> parts = 0;
    team.Split(count, 1, [&](int, int first, int end) {
      for (int i = first; i < end; ++i) ++done[i];
      ++parts;
    });
    EXPECT_EQ(done, std::vector<int>(count, 1));
    EXPECT_EQ(parts, count == 0 ? 1 : ThreadTeam::kMaxSize);
  }
}

int ThreadsOfThisProcess() {
  int threads = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++threads;
  }
  return threads;
}

// The team ends both the members that are still looking for work and those that have fallen asleep,
// whether or not it has ever had work.
TEST(ThreadTeam, ItsThreadsEndWithItAsleepOrAwake) {
  for (const int milliseconds : {0, 20}) {
    for (const bool works : {false, true}) {
      const int before = ThreadsOfThisProcess();
      {
        ThreadTeam team(4);
        EXPECT_EQ(ThreadsOfThisProcess(), before + 3);
        std::atomic<int> done = 0;
        if (works) team.Split(100, 1, [&](int, int first, int end) { done += end - first; });
        EXPECT_EQ(done, works ? 100 : 0);
        // Members that find no work for some milliseconds fall asleep.
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      }
      // A thread that was joined may stay listed for a moment.
      for (int tries = 0; ThreadsOfThisProcess() > before && tries < 1000; ++tries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_EQ(ThreadsOfThisProcess(), before);
    }
  }
}

}  // namespace
}  // namespace dragoman
