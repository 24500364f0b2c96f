// Ends a thread that looks at a flag.

#ifndef DRAGOMAN_ENGINE_BASE_END_THREAD_H_
#define DRAGOMAN_ENGINE_BASE_END_THREAD_H_

#include <thread>

#include "absl/synchronization/mutex.h"

namespace dragoman {

// Sets the flag, which the mutex guards, and waits for the end of the thread, if there is one.
inline void EndThread(absl::Mutex* mutex, bool* flag, std::thread* thread) {
  {
    absl::MutexLock lock(mutex);
    *flag = true;
  }
  if (thread->joinable()) thread->join();
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_END_THREAD_H_
