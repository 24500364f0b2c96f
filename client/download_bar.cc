#include "client/download_bar.h"

#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iterator>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace dragoman {

std::string SizeText(int64_t bytes) {
  constexpr const char* kUnits[] = {"kB", "MB", "GB"};
  if (bytes < 1000) return absl::StrFormat("%d bytes", bytes);
  double size = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  // 999.95 would be written as 1000.0.
  for (; size >= 999.95 && unit + 1 < std::size(kUnits); ++unit) size /= 1000;
  return absl::StrFormat("%.1f %s", size, kUnits[unit]);
}

DownloadBar::DownloadBar(std::ostream* out, const std::string& name, int64_t size)
    : out_(*out), name_(name), size_(size), terminal_(isatty(STDERR_FILENO) == 1) {}

void DownloadBar::Show(int64_t bytes) {
  if (!terminal_ || absl::Now() - drawn_ < absl::Milliseconds(100)) return;
  drawn_ = absl::Now();
  Draw(bytes);
}

void DownloadBar::Finish(int64_t bytes) {
  if (terminal_) {
    Draw(bytes);
  } else {
    out_ << name_ << " " << SizeText(bytes);
  }
  out_ << std::endl;
}

void DownloadBar::Draw(int64_t bytes) {
  constexpr int64_t kWidth = 30;
  out_ << "\r" << std::left << std::setw(28) << name_ << " ";
  if (size_ >= 0) {
    const int64_t done =
        size_ > 0 ? std::clamp<int64_t>(kWidth * bytes / size_, 0, kWidth) : kWidth;
    out_ << "[" << std::string(done, '=') << std::string(kWidth - done, ' ') << "] "
         << SizeText(bytes) << " of " << SizeText(size_);
  } else {
    out_ << SizeText(bytes);
  }
  out_ << "   " << std::flush;  // over the end of a longer text
}

}  // namespace dragoman
