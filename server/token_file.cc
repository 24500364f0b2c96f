#include "server/token_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/pem_files.h"
#include "engine/base/status.h"
#include "server/logging.h"

namespace dragoman {
namespace {

constexpr std::string_view kAlphanumeric =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// Made of letters, digits and `marks`, and of a length within the range.
bool IsMadeOf(std::string_view text, std::string_view marks, size_t min_size, size_t max_size) {
  return text.size() >= min_size && text.size() <= max_size &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kAlphanumeric.find(c) != std::string_view::npos ||
                  marks.find(c) != std::string_view::npos;
         });
}

// Whether they are the same.  Looks at all of `shown`, however early they differ; volatile, so that
// no compiler ends the loop early either.
bool SameInConstantTime(std::string_view shown, std::string_view known) {
  volatile unsigned char difference = shown.size() == known.size() ? 0 : 1;
  for (size_t i = 0; i < shown.size(); ++i) {
    difference = difference | static_cast<unsigned char>(shown[i] ^ known[i % known.size()]);
  }
  return difference == 0;
}

}  // namespace

absl::StatusOr<TokenTable> TokenTable::Parse(const std::string& text) {
  TokenTable table;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Entry entry;
    std::string more;
    if (!(words >> entry.principal)) continue;
    const auto error = [number](const char* message) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", message));
    };
    if (!(words >> entry.token) || words >> more) return error("want `principal token`");
    if (!IsMadeOf(entry.principal, "._-@:/", 1, 128)) {
      return error("the principal is not made of 1 to 128 of A-Z a-z 0-9 . _ - @ : /");
    }
    if (!IsMadeOf(entry.token, "-._~+/=", 16, 4096)) {
      return error("the token is not made of 16 to 4096 of A-Z a-z 0-9 - . _ ~ + / =");
    }
    if (table.Find(entry.token).has_value()) return error("the token stands there twice");
    table.entries_.push_back(std::move(entry));
  }
  if (table.entries_.empty()) return absl::InvalidArgumentError("it holds no token");
  return table;
}

std::optional<std::string> TokenTable::Find(std::string_view token) const {
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (SameInConstantTime(token, entry.token)) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  return found->principal;
}

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(const std::string& path,
                                                           absl::Duration interval) {
  std::unique_ptr<TokenFile> file(new TokenFile(path));
  RETURN_IF_ERROR(file->Read());
  file->thread_ = std::thread([file = file.get(), interval] { file->Watch(interval); });
  return file;
}

TokenFile::~TokenFile() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

TokenFile::Version TokenFile::CurrentVersion() const {
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) return Version();
  return {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino), info.st_size,
          info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

absl::Status TokenFile::Read() {
  version_ = CurrentVersion();  // before the text: a change in between is seen the next time
  absl::StatusOr<std::string> text = ReadSmallFile(path_);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        absl::StrCat("auth-tokens: ", text.status().message()));
  }
  absl::StatusOr<TokenTable> table = TokenTable::Parse(*text);
  if (!table.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("auth-tokens: ", path_, ": ", table.status().message()));
  }
  absl::MutexLock lock(&mutex_);
  table_ = std::make_shared<const TokenTable>(*std::move(table));
  return absl::OkStatus();
}

void TokenFile::Watch(absl::Duration interval) {
  const auto closing = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_; };
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&closing), interval)) return;
    }
    if (CurrentVersion() == version_) continue;
    if (const absl::Status status = Read(); !status.ok()) {
      Log(LogLevel::kError, "tokens not reloaded: the old ones stay valid",
          {{"error", std::string(status.message())}});
    } else {
      Log(LogLevel::kInfo, "tokens reloaded", {{"tokens", static_cast<int64_t>(table()->size())}});
    }
  }
}

std::shared_ptr<const TokenTable> TokenFile::table() const {
  absl::MutexLock lock(&mutex_);
  return table_;
}

}  // namespace dragoman
