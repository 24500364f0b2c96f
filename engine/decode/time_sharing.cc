#include "engine/decode/time_sharing.h"

#include <algorithm>

namespace dragoman {
namespace {

// Other requests may take this fraction of the time that short requests take beside them.
constexpr double kOthersPart = 0.5;
// A turn of other requests alone should take no longer than this many turns of short requests.
constexpr double kOthersTurn = 3;
// The estimate for a turn of short requests alone moves by kNew towards each new measurement. While
// there are no such turns the estimate decays, so that now and then one is run and measured.
constexpr double kNew = 0.5, kForget = 1 / 64.0;
// Averages over about this many turns of other requests.
constexpr double kOthersTurns = 8;
// The debt is at most this many turns: a turn that took seconds was disturbed by something else.
constexpr double kMostOwed = 64;

}  // namespace

void TimeSharing::OnTurn(absl::Duration took, bool others) {
  const double seconds = absl::ToDoubleSeconds(took);
  if (others) {
    owed_ += seconds - (1 + kOthersPart) * alone_;
    alone_ -= kForget * alone_;
  } else {
    alone_ += (alone_ == 0 ? 1 : kNew) * (seconds - alone_);
    owed_ = std::min(owed_, kMostOwed * alone_) - kOthersPart * seconds;
  }
  owed_ = std::max(owed_, 0.0);
}

void TimeSharing::OnOthersTurn(absl::Duration took, double used) {
  const double seconds = absl::ToDoubleSeconds(took) / used;
  others_ += (seconds - others_) / (others_ == 0 ? 1 : kOthersTurns);
}

double TimeSharing::others_rows() const {
  return others_ == 0 || alone_ == 0 ? 1 : kOthersTurn * alone_ / others_;
}

}  // namespace dragoman
