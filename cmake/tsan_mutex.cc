// Tells ThreadSanitizer about absl::Mutex.  Debian's Abseil and gRPC are not built with it, so it
// sees neither their locks nor what a lock orders, and would report every object that two threads
// hand to each other under one.  These definitions take precedence over those of the shared
// library, for our own code and for gRPC's, and say what each of them orders.
//
// Part of every executable of a ThreadSanitizer build, and of no other (cmake/dragoman.cmake).

#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

// Races on memory that only third-party code touches are not reported.
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1 history_size=7";
}

// gRPC's headers, which are compiled into our code, hand their own bookkeeping of a call from the
// thread that finishes it to the one that calls back through a queue without locks, inside of the
// library.  No function of ours runs under the first four; race_top is about the innermost alone.
extern "C" const char* __tsan_default_suppressions() {
  return "race:grpc::internal::CallbackWithSuccessTag::Set\n"
         "race:grpc::internal::CallOpSet\n"
         "race:grpc::internal::InterceptorBatchMethodsImpl\n"
         "race:grpc::ServerUnaryReactor::~ServerUnaryReactor\n"
         "race_top:grpc::\n"
         "race_top:std::function<void (bool)>\n"
         "race_top:std::_Function_base::_M_empty\n";
}

namespace {

// Abseil's own accesses inside of a lock are ignored.  It also evaluates Conditions there, on
// behalf of the threads that wait for them.
class Unseen {
 public:
  Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};

// Calls the library's member function of that mangled name.
template <typename Result, typename Object, typename... Arguments>
Result CallNext(const char* name, Object* object, Arguments... arguments) {
  const Unseen unseen;
  auto* const next = reinterpret_cast<Result (*)(Object*, Arguments...)>(dlsym(RTLD_NEXT, name));
  return next(object, arguments...);
}

}  // namespace

// name: the mangled name within absl's namespace.  Each locks, unlocks, or both.
#define NEXT(result, name, ...) CallNext<result>("_ZN4absl7debian3" name, __VA_ARGS__)

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  NEXT(void, "5Mutex4LockEv", this);
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  __tsan_release(this);
  NEXT(void, "5Mutex6UnlockEv", this);
}

bool Mutex::TryLock() {
  const bool locked = NEXT(bool, "5Mutex7TryLockEv", this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::ReaderLock() {
  NEXT(void, "5Mutex10ReaderLockEv", this);
  __tsan_acquire(this);
}

void Mutex::ReaderUnlock() {
  __tsan_release(this);
  NEXT(void, "5Mutex12ReaderUnlockEv", this);
}

void Mutex::LockWhen(const Condition& condition) {
  NEXT(void, "5Mutex8LockWhenERKNS0_9ConditionE", this, &condition);
  __tsan_acquire(this);
}

void Mutex::Await(const Condition& condition) {
  __tsan_release(this);
  NEXT(void, "5Mutex5AwaitERKNS0_9ConditionE", this, &condition);
  __tsan_acquire(this);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  __tsan_release(this);
  const bool met = NEXT(bool, "5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE", this,
                        &condition, timeout);
  __tsan_acquire(this);
  return met;
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  __tsan_release(this);
  const bool met = NEXT(bool, "5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE", this,
                        &condition, deadline);
  __tsan_acquire(this);
  return met;
}

void CondVar::Wait(Mutex* mutex) {
  __tsan_release(mutex);
  NEXT(void, "7CondVar4WaitEPNS0_5MutexE", this, mutex);
  __tsan_acquire(mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  __tsan_release(mutex);
  const bool timed_out =
      NEXT(bool, "7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE", this, mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  __tsan_release(mutex);
  const bool timed_out =
      NEXT(bool, "7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE", this, mutex, deadline);
  __tsan_acquire(mutex);
  return timed_out;
}

void Notification::Notify() {
  __tsan_release(this);
  NEXT(void, "12Notification6NotifyEv", this);
}

void Notification::WaitForNotification() const {
  CallNext<void>("_ZNK4absl7debian312Notification19WaitForNotificationEv", this);
  __tsan_acquire(const_cast<Notification*>(this));
}

ABSL_NAMESPACE_END
}  // namespace absl
