#include "server/observe/vitals.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/base/end_thread.h"
#include "engine/base/status.h"
#include "server/observe/logging.h"

namespace dragoman {
namespace {

absl::Status Stuck(absl::Duration silence) {
  return UnavailableError("a worker has taken no turn for ", absl::ToInt64Seconds(silence), " s");
}

}  // namespace

Vitals::Vitals(VitalsOptions options) : options_(std::move(options)) {
  Look();
  thread_ = std::thread([this] { Run(); });
}

Vitals::~Vitals() { Stop(); }

void Vitals::Stop() { EndThread(&mutex_, &ending_, &thread_); }

absl::Status Vitals::alive() const {
  absl::MutexLock lock(&mutex_);
  return alive_;
}

absl::Status Vitals::well() const {
  absl::MutexLock lock(&mutex_);
  if (absl::Now() - looked_ > options_.unwell_after + options_.interval) {
    return absl::UnavailableError("the server's self-check does not finish");
  }
  return well_;
}

void Vitals::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&ending_), options_.interval)) return;
    }
    if (options_.tidy != nullptr) options_.tidy();
    Look();
  }
}

void Vitals::Look() {
  const absl::Duration silence = options_.silence();
  const absl::Status alive = silence < options_.dead_after ? absl::OkStatus() : Stuck(silence);
  const absl::Status well = silence < options_.unwell_after ? options_.port() : Stuck(silence);
  bool died, recovered, ailing, healed;
  {
    absl::MutexLock lock(&mutex_);
    died = alive_.ok() && !alive.ok();
    recovered = !alive_.ok() && alive.ok();
    ailing = well_.ok() && !well.ok();
    healed = !well_.ok() && well.ok();
    alive_ = alive;
    well_ = well;
    looked_ = absl::Now();
  }
  if (died || recovered) options_.on_alive(recovered);
  if (died) Log(LogLevel::kError, "not alive", {{"error", std::string(alive.message())}});
  if (ailing) Log(LogLevel::kWarning, "not well", {{"error", std::string(well.message())}});
  if (healed) Log(LogLevel::kInfo, "well again");
}

}  // namespace dragoman
