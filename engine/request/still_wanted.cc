#include "engine/request/still_wanted.h"

#include "absl/time/clock.h"
#include "engine/decode/job.h"

namespace dragoman {

StillWanted WantedBy(const RequestState* state) {
  return StillWanted([state] { return state->Wanted(absl::Now()); });
}

}  // namespace dragoman
