#include "engine/base/work_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace dragoman {
namespace {

// What was done, in order.
class Record {
 public:
  void Add(const std::string& what) {
    absl::MutexLock lock(&mutex_);
    done_.push_back(what);
  }
  std::vector<std::string> Await(size_t number) {
    absl::MutexLock lock(&mutex_);
    const auto all = [&]() { return done_.size() >= number; };
    mutex_.Await(absl::Condition(&all));
    return done_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::string> done_;
};

TEST(WorkThreads, TakesTurnsAmongPrincipals) {
  Record record;
  absl::Notification go;
  WorkThreads threads(1, "");
  ASSERT_TRUE(threads.Run("first", [&] { go.WaitForNotification(); }).ok());
  for (const char* const who : {"many", "many", "many", "few"}) {
    ASSERT_TRUE(threads
                    .Run(who,
                         [&record, who] {
                           absl::SleepFor(absl::Milliseconds(1));
                           record.Add(who);
                         })
                    .ok());
  }
  go.Notify();
  const std::vector<std::string> done = record.Await(4);
  EXPECT_TRUE(done[0] == "few" || done[1] == "few") << done[0] << " " << done[1];
}

TEST(WorkThreads, ServesWhoHadLeastTimeFirst) {
  Record record;
  absl::Notification go;
  WorkThreads threads(1, "");
  // Both wait, so their accounts go on from one piece to the next.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(threads
                    .Run("slow",
                         [&] {
                           absl::SleepFor(absl::Milliseconds(300));
                           record.Add("slow");
                         })
                    .ok());
  }
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(threads.Run("quick", [&] { record.Add("quick"); }).ok());
  const std::vector<std::string> done = record.Await(22);
  EXPECT_EQ(done[21], "slow");  // twenty quick pieces take less time than the first slow one
}

TEST(WorkThreads, NobodyHasAllThreads) {
  absl::Notification end, other;
  WorkThreads threads(3, "");
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(threads.Run("one", [&] { end.WaitForNotification(); }).ok());
  }
  ASSERT_TRUE(threads.Run("another", [&] { other.Notify(); }).ok());
  other.WaitForNotification();
  end.Notify();
}

// Two long works and a short one that comes when both have begun: it need not wait for either.
TEST(WorkTurn, LetsOthersGoFirst) {
  WorkThreads threads(1, "");
  std::atomic<int> steps = 0, at_short = 0;
  absl::Notification begun, done;
  const auto wanted = [](absl::Time) { return absl::OkStatus(); };
  const auto work = [&](const char* who) {
    WorkTurn turn(&threads, who, wanted);
    ASSERT_TRUE(turn.Begin().ok());
    for (int i = 0; i < 100; ++i) {
      if (++steps == 5) begun.Notify();
      absl::SleepFor(WorkTurn::kLongest / 2);
      ASSERT_TRUE(turn.Continue().ok());
    }
  };
  std::thread one(work, "one"), other(work, "other");
  begun.WaitForNotification();
  const int before = steps;
  ASSERT_TRUE(threads
                  .Run("third",
                       [&] {
                         at_short = steps.load();
                         done.Notify();
                       })
                  .ok());
  done.WaitForNotification();
  EXPECT_LE(at_short, before + 20);  // at most three turns, of two steps each, on a quiet machine
  one.join();
  other.join();
}

TEST(WorkTurn, EndsWhenItIsNotWanted) {
  absl::Notification end;
  WorkThreads threads(1, "");
  ASSERT_TRUE(threads.Run("one", [&] { end.WaitForNotification(); }).ok());
  WorkTurn turn(&threads, "other", [](absl::Time) { return absl::CancelledError("gone"); });
  EXPECT_EQ(turn.Begin(), absl::CancelledError("gone"));
  EXPECT_TRUE(turn.Continue().ok());
  end.Notify();
}

TEST(WorkTurn, WithoutThreadsIsAlways) {
  WorkTurn turn(nullptr, "one", nullptr);
  EXPECT_TRUE(turn.Begin().ok());
  EXPECT_TRUE(turn.Continue().ok());
}

// Keeps a thread busy until `end`.
void Occupy(WorkThreads* threads, absl::Notification* end) {
  absl::Notification begun;
  ASSERT_TRUE(threads
                  ->Run("one",
                        [&begun, end] {
                          begun.Notify();
                          end->WaitForNotification();
                        })
                  .ok());
  begun.WaitForNotification();
}

TEST(WorkThreads, RefusesWhatIsTooMuchAndSaysForWhat) {
  absl::Notification end;
  WorkThreads threads(1, "for the store");
  Occupy(&threads, &end);
  for (size_t i = 0; i < WorkThreads::kMostOfPrincipal; ++i) {
    ASSERT_TRUE(threads.Run("one", [] {}).ok());
  }
  const absl::Status refused = threads.Run("one", [] {});
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "too many requests wait for the store");
  EXPECT_TRUE(threads.Run("another", [] {}).ok());
  end.Notify();
}

TEST(WorkThreads, WhoGivesUpOrIsLateHearsOfItWhileAllThreadsAreBusy) {
  absl::Notification end;
  WorkThreads threads(1, "");
  Occupy(&threads, &end);
  std::atomic<bool> gave_up = false;
  const absl::Time deadline = absl::Now() + absl::Milliseconds(20);
  absl::Status first, second, third;
  absl::Time told;
  absl::Notification first_told, second_told, third_told;
  const auto run = [&](WorkThreads::Wanted wanted, absl::Status* status, absl::Notification* now) {
    ASSERT_TRUE(threads
                    .Run("one", std::move(wanted),
                         [&told, status, now](const absl::Status& why) {
                           told = absl::Now();
                           *status = why;
                           now->Notify();
                         })
                    .ok());
  };
  run([&](absl::Time) { return gave_up ? absl::CancelledError("gone") : absl::OkStatus(); }, &first,
      &first_told);
  run([](absl::Time) { return absl::OkStatus(); }, &third, &third_told);
  run(
      [deadline](absl::Time now) {
        return now < deadline ? absl::OkStatus() : absl::DeadlineExceededError("late");
      },
      &second, &second_told);
  second_told.WaitForNotification();
  EXPECT_TRUE(absl::IsDeadlineExceeded(second)) << second;
  EXPECT_GE(told, deadline);
  EXPECT_FALSE(first_told.HasBeenNotified());
  gave_up = true;
  first_told.WaitForNotification();
  EXPECT_TRUE(absl::IsCancelled(first)) << first;
  EXPECT_FALSE(third_told.HasBeenNotified());
  end.Notify();
  third_told.WaitForNotification();
  EXPECT_TRUE(third.ok()) << third;
}

TEST(WorkThreads, DoesWhatWaitsBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    WorkThreads threads(2, "");
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(threads.Run("one", [&] { ++done; }).ok());
  }
  EXPECT_EQ(done, 100);
}

}  // namespace
}  // namespace dragoman
