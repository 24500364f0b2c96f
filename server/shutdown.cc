#include "server/shutdown.h"

#include <signal.h>
#include <unistd.h>

#include <thread>

namespace dragoman {
namespace {

sigset_t TheSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

ShutdownSignals::ShutdownSignals() {
  const sigset_t signals = TheSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([this] { Listen(); }).detach();
}

void ShutdownSignals::Catch() {
  absl::MutexLock lock(&mutex_);
  catching_ = true;
}

int ShutdownSignals::Await() {
  absl::MutexLock lock(&mutex_);
  const auto arrived = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return signal_ != 0; };
  mutex_.Await(absl::Condition(&arrived));
  return signal_;
}

void ShutdownSignals::Listen() {
  const sigset_t signals = TheSignals();
  int signal = 0;
  sigwait(&signals, &signal);
  {
    absl::MutexLock lock(&mutex_);
    if (!catching_) _exit(0);
    signal_ = signal;
  }
  sigwait(&signals, &signal);
  _exit(128 + signal);
}

}  // namespace dragoman
