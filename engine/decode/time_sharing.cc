#include "engine/decode/time_sharing.h"

#include <algorithm>

namespace dragoman {
namespace {

// Others may take so much of the time that short requests take beside them.
constexpr double kOthersPart = 0.5;
// Turns of others alone are to take no more than so many turns of short requests.
constexpr double kOthersTurn = 3;
// The time of a turn alone is half the last one's, half what was known.  While there are no such
// turns it is trusted less and less, so that one comes now and then to be measured.
constexpr double kNew = 0.5, kForget = 1 / 64.0;
// The mean of about so many turns of others.
constexpr double kOthersTurns = 8;
// Nobody owes more than so many turns: one that took seconds was disturbed by something else.
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
