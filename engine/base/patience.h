// Whether the translation of a file is still wanted, and how much memory it takes.
//
//   Patience patience(options);
//   while (NextLine(&line)) {
//     patience.Takes(kBytesOfLine);
//     if (!patience.Lasts(line.size())) return patience.status();
//
// A file may keep its reader busy for longer than its caller waits: it is large, or was made for
// that.  So who goes through a part says how much is done, and after each so many bytes
// DocumentOptions::wanted (documents/document.h) is asked.
//
// And a small file may fill the memory: what is kept of two bytes can be a thousand.  So who keeps
// something for each thing in a part says how much; the numbers are estimates, rather too high.
// Nobody's patience lasts beyond DocumentOptions::max_memory, or beyond what
// DocumentOptions::reserve grants.

#ifndef DRAGOMAN_ENGINE_BASE_PATIENCE_H_
#define DRAGOMAN_ENGINE_BASE_PATIENCE_H_

#include <algorithm>
#include <cstddef>
#include <functional>

#include "absl/status/status.h"
#include "engine/base/status.h"

namespace dragoman {

struct DocumentOptions;

class Patience {
 public:
  template <typename Options = DocumentOptions>
  explicit Patience(const Options& options)
      : wanted_(options.wanted),
        reserve_(options.reserve),
        step_(options.wanted_step),
        most_(options.max_memory) {}

  // Says that so many bytes more are done, or what took as long.  Once this is false, it always is.
  bool Lasts(size_t bytes) {
    done_ += bytes;
    return done_ < step_ ? status_.ok() : Ask();
  }
  // Says that so many bytes of memory more are taken.  False, and it does not last, if they are too
  // many.
  bool Takes(size_t bytes) {
    const bool room = bytes <= most_ - taken_;
    if (room) taken_ += bytes;
    if (!room && status_.ok()) {
      status_ = ResourceExhaustedError("takes more than ", most_,
                                       " bytes of memory, which is the most for a document");
    }
    if (taken_ > reserved_) Reserve();
    return status_.ok();
  }
  // What is taken now; never more than max_memory.
  size_t taken() const { return taken_; }
  // That what was taken since then, or so many bytes of it, is free again.
  void ReturnTo(size_t taken) { taken_ = taken; }
  void Returns(size_t bytes) { taken_ -= std::min(bytes, taken_); }

  // Why it does not last.
  const absl::Status& status() const { return status_; }

 private:
  bool Ask() {
    done_ = 0;
    if (status_.ok() && wanted_ != nullptr) status_ = wanted_();
    return status_.ok();
  }

  // Asks for a little more than is taken, so that it need not be done for each thing.
  void Reserve() {
    constexpr size_t kStep = 1 << 20;
    reserved_ = (taken_ + kStep - 1) / kStep * kStep;
    if (status_.ok() && reserve_ != nullptr) status_ = reserve_(reserved_);
  }

  const std::function<absl::Status()> wanted_;
  const std::function<absl::Status(size_t bytes)> reserve_;
  const size_t step_, most_;
  size_t done_ = 0;                  // since it was asked
  size_t taken_ = 0, reserved_ = 0;  // bytes of memory
  absl::Status status_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_PATIENCE_H_
