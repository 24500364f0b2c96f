#include "server/auth/token_file.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr std::string_view kAlphanumeric =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// Whether a text consists of letters, digits and `marks`, with a length in the range.
bool IsMadeOf(std::string_view text, std::string_view marks, size_t min_size, size_t max_size) {
  return text.size() >= min_size && text.size() <= max_size &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kAlphanumeric.find(c) != std::string_view::npos ||
                  marks.find(c) != std::string_view::npos;
         });
}

// Compares all bytes, however early they differ; `volatile` keeps the compiler from ending the loop
// early.
bool SameInConstantTime(const Sha256Digest& a, const Sha256Digest& b) {
  volatile uint64_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = difference | (a[i] ^ b[i]);
  return difference == 0;
}

constexpr char kWanted[] = "want `principal token [quota=N] [burst=N]`";

// Reads quota=N or burst=N.
bool ReadQuota(std::string_view word, Quota* quota) {
  for (const auto& [name, value] :
       {std::pair<std::string_view, double*>{"quota=", &quota->per_minute},
        {"burst=", &quota->burst}}) {
    if (word.substr(0, name.size()) != name) continue;
    const std::string_view digits = word.substr(name.size());
    int64_t number = 0;
    const auto [stop, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (failed != std::errc() || stop != digits.data() + digits.size() || number < 1) return false;
    *value = static_cast<double>(number);
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<TokenTable> TokenTable::Parse(const std::string& text) {
  TokenTable table;
  std::set<Sha256Digest> known;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    Entry entry;
    std::string token, more;
    if (!(words >> entry.principal)) continue;
    const auto error = [number](const char* message) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", message));
    };
    if (!(words >> token)) return error(kWanted);
    Quota quota;
    while (words >> more) {
      if (!ReadQuota(more, &quota)) return error(kWanted);
    }
    if (quota.burst > 0 && quota.per_minute == 0) return error("a burst without a quota");
    if (!IsMadeOf(entry.principal, "._-@:/", 1, 128)) {
      return error("the principal is not made of 1 to 128 of A-Z a-z 0-9 . _ - @ : /");
    }
    if (!IsMadeOf(token, "-._~+/=", 16, 4096)) {
      return error("the token is not made of 16 to 4096 of A-Z a-z 0-9 - . _ ~ + / =");
    }
    if (quota.per_minute > 0 &&
        table.quotas_.emplace(entry.principal, quota).first->second != quota) {
      return error("another line gives the principal another quota");
    }
    entry.digest = Sha256(token);
    if (!known.insert(entry.digest).second) return error("the token is listed twice");
    table.entries_.push_back(std::move(entry));
  }
  if (table.entries_.empty()) return absl::InvalidArgumentError("it holds no token");
  return table;
}

std::optional<std::string> TokenTable::Find(std::string_view token) const {
  const Sha256Digest digest = Sha256(token);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (SameInConstantTime(digest, entry.digest)) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  return found->principal;
}

std::optional<Quota> TokenTable::QuotaOf(const std::string& principal) const {
  const auto found = quotas_.find(principal);
  if (found == quotas_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<std::unique_ptr<TokenFile>> TokenFile::Open(const std::string& path,
                                                           FileWatcher* watcher,
                                                           ReadListener on_read) {
  std::unique_ptr<TokenFile> file(new TokenFile(path));
  RETURN_IF_ERROR(watcher->Add({.what = "tokens",
                                .paths = {path},
                                .read = [file = file.get()] { return file->Read(); },
                                .on_read = std::move(on_read)}));
  return file;
}

absl::Status TokenFile::Read() {
  absl::StatusOr<std::string> text = ReadSmallFile(path_);
  if (!text.ok()) return Annotate(text.status(), "auth-tokens: ");
  absl::StatusOr<TokenTable> table = TokenTable::Parse(*text);
  if (!table.ok()) return Annotate(table.status(), absl::StrCat("auth-tokens: ", path_, ": "));
  absl::MutexLock lock(&mutex_);
  table_ = std::make_shared<const TokenTable>(*std::move(table));
  return absl::OkStatus();
}

std::shared_ptr<const TokenTable> TokenFile::table() const {
  absl::MutexLock lock(&mutex_);
  return table_;
}

}  // namespace dragoman
