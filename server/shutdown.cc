#include "server/shutdown.h"

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "server/observe/logging.h"

namespace dragoman {
namespace {

sigset_t TheSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  return signals;
}

// What would end the process, although nobody who sends it wants that.
void IgnoreOthers() {
  for (const int other :
       {SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT}) {
    signal(other, SIG_IGN);
  }
  for (int other = SIGRTMIN; other <= SIGRTMAX; ++other) signal(other, SIG_IGN);
}

}  // namespace

ShutdownSignals::ShutdownSignals() {
  const sigset_t signals = TheSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  IgnoreOthers();
  std::thread([this] { Listen(); }).detach();
}

void ShutdownSignals::Catch() {
  absl::MutexLock lock(&mutex_);
  catching_ = true;
}

int ShutdownSignals::Await() {
  absl::MutexLock lock(&mutex_);
  const auto arrived = [this]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return hangup_ || end_ != 0; };
  mutex_.Await(absl::Condition(&arrived));
  if (end_ != 0) return end_;
  hangup_ = false;
  return SIGHUP;
}

void ShutdownSignals::End() {
  absl::MutexLock lock(&mutex_);
  if (end_ == 0) end_ = SIGTERM;
}

void ShutdownSignals::Listen() {
  const sigset_t signals = TheSignals();
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) == 0) Take(signal);
  }
}

void ShutdownSignals::Take(int signal) {
  absl::MutexLock lock(&mutex_);
  if (signal == SIGHUP) {
    hangup_ = catching_;
  } else if (!catching_) {
    _exit(0);
  } else if (end_ == 0) {
    end_ = signal;
  } else {
    Log(LogLevel::kWarning, "second signal: ending at once", {{"signal", signal}});
    FlushLog(absl::Milliseconds(200));
    _exit(128 + signal);
  }
}

}  // namespace dragoman
