// How far the download of a file has come: on a terminal, a line that is redrawn as the file grows;
// elsewhere, a line when it is complete.

#ifndef DRAGOMAN_CLIENT_DOWNLOAD_BAR_H_
#define DRAGOMAN_CLIENT_DOWNLOAD_BAR_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/time/time.h"

namespace dragoman {

// "12 bytes", "3.4 kB", "56.7 MB" or "1.2 GB".
std::string SizeText(int64_t bytes);

class DownloadBar {
 public:
  // `size` is -1 if it is unknown.
  DownloadBar(std::ostream* out, const std::string& name, int64_t size);

  void Show(int64_t bytes);
  // REQUIRES: called once, at the end.  `bytes` are those of the file.
  void Finish(int64_t bytes);

 private:
  void Draw(int64_t bytes);

  std::ostream& out_;
  const std::string name_;
  const int64_t size_;
  const bool terminal_;
  absl::Time drawn_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_DOWNLOAD_BAR_H_
