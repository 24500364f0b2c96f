#include "engine/base/mutex_checks.h"

#include "absl/synchronization/mutex.h"

namespace dragoman {

void DisableMutexChecks() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

}  // namespace dragoman
