#include "server/auth/token_file.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr std::string_view kAlphanumeric =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// Whether a text consists of letters, digits and `marks`, with a length in the range.
bool IsMadeOf(std::string_view text, std::string_view marks, size_t min_size, size_t max_size) {
  return text.size() >= min_size && text.size() <= max_size && absl::c_all_of(text, [&](char c) {
           return kAlphanumeric.find(c) != std::string_view::npos ||
                  marks.find(c) != std::string_view::npos;
         });
}

// Apart from tabs, which separate words.
bool IsControl(unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; }

// Compares all bytes, however early they differ; `volatile` keeps the compiler from ending the loop
// early.
bool SameInConstantTime(const Sha256Digest& a, const Sha256Digest& b) {
  volatile uint64_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = difference | (a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

absl::StatusOr<TokenTable> TokenTable::Parse(const std::string& text) {
  TokenTable table;
  std::set<Sha256Digest> known;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    Entry entry;
    std::string token;
    if (!(words >> entry.principal)) continue;
    const auto error = [number](absl::string_view message) {
      return InvalidArgumentError("line ", number, ": ", message);
    };
    if (absl::c_any_of(line, IsControl)) return error("it has a control character");
    if (!(words >> token)) return error("want `principal token`");
    const std::vector<std::string> more{std::istream_iterator<std::string>(words), {}};
    const absl::StatusOr<Rights> rights = ReadRights(more);
    if (!rights.ok()) return error(rights.status().message());
    if (!IsMadeOf(entry.principal, "._-@:/", 1, 128)) {
      return error("the principal is not made of 1 to 128 of A-Z a-z 0-9 . _ - @ : /");
    }
    if (!IsMadeOf(token, "-._~+/=", 16, 4096)) {
      return error("the token is not made of 16 to 4096 of A-Z a-z 0-9 - . _ ~ + / =");
    }
    if (*rights != Rights()) {
      const auto [given, fresh] =
          table.rights_.emplace(entry.principal, std::make_shared<const Rights>(*rights));
      if (*given->second != *rights) return error("another line gives the principal other rights");
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

bool TokenTable::Knows(const std::string& principal) const {
  return absl::c_any_of(entries_, [&](const Entry& entry) { return entry.principal == principal; });
}

std::shared_ptr<const Rights> TokenTable::RightsOf(const std::string& principal) const {
  const auto found = rights_.find(principal);
  return found == rights_.end() ? nullptr : found->second;
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
  if (!table.ok()) return Annotate(table.status(), "auth-tokens: ", path_, ": ");
  absl::MutexLock lock(&mutex_);
  table_ = std::make_shared<const TokenTable>(*std::move(table));
  return absl::OkStatus();
}

std::shared_ptr<const TokenTable> TokenFile::table() const {
  absl::MutexLock lock(&mutex_);
  return table_;
}

}  // namespace dragoman
