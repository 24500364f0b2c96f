#include "client/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dragoman {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(250);
constexpr size_t kBarWidth = 20;

// Formats 1234567 as "1,234,567".
std::string WithThousands(int64_t number) {
  std::string digits = std::to_string(number);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3) digits.insert(i, ",");
  return digits;
}

std::string HoursMinutesSeconds(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string ProgressLine(const Done& done, int64_t total_bytes, absl::Duration elapsed,
                         const std::string& unit) {
  std::string line;
  const int64_t bytes = done.earlier_bytes + done.bytes;
  const double share = total_bytes > 0 ? static_cast<double>(bytes) / total_bytes : 0.0;
  if (total_bytes > 0) {
    const auto filled = static_cast<size_t>(kBarWidth * std::min(share, 1.0));
    line = absl::StrCat("[", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), "] ");
  }
  absl::StrAppend(&line, WithThousands(done.earlier_lines + done.lines), " ", unit);
  if (total_bytes > 0) absl::StrAppendFormat(&line, " (%.1f %%)", 100 * share);
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (seconds <= 0 || done.lines == 0) return line;
  const double rate = static_cast<double>(done.lines) / seconds;
  absl::StrAppendFormat(&line, ", %.*f %s/s", rate < 10 ? 1 : 0, rate, unit);
  if (done.bytes > 0 && bytes <= total_bytes) {
    const double left = static_cast<double>(total_bytes - bytes) / static_cast<double>(done.bytes);
    absl::StrAppend(&line, ", ", HoursMinutesSeconds(seconds * left), " left");
  }
  return line;
}

Progress::Progress(std::ostream* out, int64_t total_bytes, absl::Time now, std::string unit)
    : out_(out), total_bytes_(total_bytes), unit_(std::move(unit)), start_(now) {}

void Progress::Skip(int64_t lines, int64_t bytes, absl::Time now) {
  SetEarlier(lines, bytes);
  start_ = now;
}

void Progress::SetEarlier(int64_t lines, int64_t bytes) {
  done_.earlier_lines = lines;
  done_.earlier_bytes = bytes;
}

void Progress::Update(int64_t lines, int64_t bytes, absl::Time now) {
  if (now - drawn_at_ < kInterval) return;
  drawn_at_ = now;
  done_.lines = lines;
  done_.bytes = bytes;
  std::string line = ProgressLine(done_, total_bytes_, now - start_, unit_);
  const size_t length = line.size();
  if (length < drawn_) line.append(drawn_ - length, ' ');
  *out_ << '\r' << line << std::flush;
  drawn_ = length;
}

void Progress::Clear() {
  if (drawn_ > 0) *out_ << '\r' << std::string(drawn_, ' ') << '\r' << std::flush;
  drawn_ = 0;
}

}  // namespace dragoman
