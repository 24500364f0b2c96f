#include "server/glossaries/glossary_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/base/errors.h"
#include "server/glossaries/tbx.h"

namespace dragoman {
namespace {

constexpr char kSuffix[] = ".tsv";
constexpr char kCommas[] = ".csv";
constexpr char kTbx[] = ".tbx";
constexpr char kPartial[] = ".partial";  // at the end of a name that was not renamed yet
constexpr size_t kPiece = 64 << 10;      // bytes that are written at once

absl::Status NotStored(const std::string& what) {
  return absl::UnavailableError(
      absl::StrCat("cannot store the glossary: ", what, ": ", std::strerror(errno)));
}

class FileToWrite {
 public:
  explicit FileToWrite(const std::string& path, int flags) : fd_(open(path.c_str(), flags, 0600)) {}
  ~FileToWrite() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// A UUID of version 4, as other APIs name glossaries.
std::string NewId() {
  std::random_device random;
  std::string hex;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&hex, absl::Hex(static_cast<uint32_t>(random()), absl::kZeroPad8));
  }
  hex[12] = '4';
  hex[16] = "89ab"[static_cast<size_t>(hex[16]) % 4];
  return absl::StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                      hex.substr(16, 4), "-", hex.substr(20));
}

bool IsId(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ||
                  c == '.';
         });
}

// Whether a file of others has the id as its name.
bool IsOfOthers(std::string_view id) { return id.ends_with(kCommas) || id.ends_with(kTbx); }

// The id of the glossary in a file; "": it has none.
std::string IdOfFile(std::string_view name) {
  if (!IsId(name)) return "";
  if (IsOfOthers(name)) return std::string(name);
  if (!name.ends_with(kSuffix)) return "";
  name.remove_suffix(sizeof(kSuffix) - 1);
  return IsOfOthers(name) ? "" : std::string(name);
}

GlossaryPtr InMemory(const std::string& id, GlossaryText text) {
  auto glossary = std::make_shared<StoredGlossary>();
  glossary->id = id;
  glossary->name = std::move(text.name);
  glossary->owner = std::move(text.owner);
  glossary->shared = text.shared;
  glossary->version = text.version;
  glossary->created = text.created;
  for (GlossaryDictionary& dictionary : text.dictionaries) {
    glossary->dictionaries.push_back(std::make_shared<const TermList>(
        std::move(dictionary.entries), id, std::move(dictionary.languages)));
  }
  return glossary;
}

GlossaryText AsText(const StoredGlossary& glossary) {
  GlossaryText text = {.name = glossary.name,
                       .owner = glossary.owner,
                       .shared = glossary.shared,
                       .version = glossary.version,
                       .created = glossary.created};
  for (const std::shared_ptr<const TermList>& list : glossary.dictionaries) {
    text.dictionaries.push_back({list->languages(), list->entries()});
  }
  return text;
}

}  // namespace

size_t StoredGlossary::entries() const {
  size_t entries = 0;
  for (const std::shared_ptr<const TermList>& list : dictionaries) {
    entries += list->entries().size();
  }
  return entries;
}

bool StoredGlossary::IsChangedBy(const std::string& principal) const {
  return owner == principal && !IsOfOthers(id);
}

absl::StatusOr<std::unique_ptr<GlossaryStore>> GlossaryStore::Open(const std::string& directory,
                                                                   const GlossaryLimits& limits,
                                                                   std::function<void()> on_step) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::InvalidArgumentError(
        absl::StrCat("glossaries: ", directory, ": ", std::strerror(errno)));
  }
  auto store =
      std::unique_ptr<GlossaryStore>(new GlossaryStore(directory, limits, std::move(on_step)));
  for (const auto& [name, version] : VersionsIn(directory)) {
    const std::string_view file = name;
    if (file.starts_with(".") && file.ends_with(kPartial)) unlink((directory + "/" + name).c_str());
  }
  RETURN_IF_ERROR(store->Look());
  return store;
}

absl::Status GlossaryStore::Look() {
  absl::MutexLock lock(&writing_);
  std::map<std::string, FileVersion> there;
  for (const auto& [name, version] : VersionsIn(directory_)) {
    const std::string id = IdOfFile(name);
    if (!id.empty()) there[id] = version;
  }
  std::erase_if(versions_, [&](const auto& known) {
    if (there.contains(known.first)) return false;
    Set(known.first, nullptr);
    return true;
  });
  absl::Status status;
  for (const auto& [id, version] : there) {
    const auto known = versions_.find(id);
    if (known != versions_.end() && known->second == version) continue;
    const absl::Status read = Read(id);
    status.Update(read);
    if (read.ok()) versions_[id] = version;
  }
  return status;
}

std::string GlossaryStore::PathOf(const std::string& id) const {
  return absl::StrCat(directory_, "/", id, IsOfOthers(id) ? "" : kSuffix);
}

absl::Status GlossaryStore::Read(const std::string& id) {
  std::ifstream in(PathOf(id), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot read ", PathOf(id)));
  }
  absl::StatusOr<GlossaryText> glossary =
      id.ends_with(kTbx) ? ParseTbx(text) : ParseGlossary(text, id.ends_with(kCommas) ? ',' : '\t');
  if (!glossary.ok()) return Annotate(glossary.status(), PathOf(id) + ": ");
  Set(id, InMemory(id, *std::move(glossary)));
  return absl::OkStatus();
}

void GlossaryStore::Set(const std::string& id, GlossaryPtr glossary) {
  absl::MutexLock lock(&mutex_);
  if (glossary == nullptr) {
    glossaries_.erase(id);
  } else {
    glossaries_[id] = std::move(glossary);
  }
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Find(const std::string& id,
                                                const std::string& principal) const {
  absl::MutexLock lock(&mutex_);
  const auto found = glossaries_.find(id);
  if (found == glossaries_.end() || !found->second->IsSeenBy(principal)) {
    return GlossaryNotFound(id);
  }
  return found->second;
}

std::vector<GlossaryPtr> GlossaryStore::List(const std::string& principal) const {
  std::vector<GlossaryPtr> list;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [id, glossary] : glossaries_) {
      if (glossary->IsSeenBy(principal)) list.push_back(glossary);
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const GlossaryPtr& a, const GlossaryPtr& b) {
    return a->created < b->created;
  });
  return list;
}

absl::StatusOr<GlossaryPtr> GlossaryStore::FindOwn(const std::string& id,
                                                   const std::string& principal) const {
  ASSIGN_OR_RETURN(GlossaryPtr glossary, Find(id, principal));
  if (glossary->IsChangedBy(principal)) return glossary;
  return absl::FailedPreconditionError("the glossary is not yours: you can use it, not change it");
}

absl::Status GlossaryStore::CheckLimits(const std::string& id, const GlossaryText& glossary) const {
  size_t glossaries = 1, entries = 0;
  for (const GlossaryDictionary& dictionary : glossary.dictionaries) {
    entries += dictionary.entries.size();
  }
  absl::MutexLock lock(&mutex_);
  for (const auto& [other, stored] : glossaries_) {
    if (other == id || stored->owner != glossary.owner) continue;
    ++glossaries;
    entries += stored->entries();
  }
  if (glossaries > limits_.glossaries) {
    return absl::ResourceExhaustedError(
        absl::StrCat("you have ", glossaries - 1, " glossaries, the most is ", limits_.glossaries));
  }
  if (entries > limits_.entries) {
    return absl::ResourceExhaustedError(absl::StrCat("your glossaries would have ", entries,
                                                     " entries, the most is ", limits_.entries));
  }
  return absl::OkStatus();
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Create(GlossaryText glossary) {
  glossary.version = 1;
  glossary.created = absl::FromUnixSeconds(absl::ToUnixSeconds(absl::Now()));
  absl::MutexLock lock(&writing_);
  return Put(NewId(), std::move(glossary));
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Update(
    const std::string& id, const std::string& principal,
    absl::FunctionRef<absl::Status(GlossaryText*)> edit) {
  absl::MutexLock lock(&writing_);
  ASSIGN_OR_RETURN(const GlossaryPtr before, FindOwn(id, principal));
  GlossaryText text = AsText(*before);
  RETURN_IF_ERROR(edit(&text));
  text.owner = before->owner;
  text.created = before->created;
  text.version = before->version + 1;
  return Put(id, std::move(text));
}

absl::StatusOr<GlossaryPtr> GlossaryStore::Put(const std::string& id, GlossaryText glossary) {
  TidyGlossary(&glossary);
  RETURN_IF_ERROR(CheckGlossary(glossary));
  RETURN_IF_ERROR(CheckLimits(id, glossary));
  RETURN_IF_ERROR(Write(id, WriteGlossary(glossary)));
  versions_[id] = VersionOf(PathOf(id));
  GlossaryPtr stored = InMemory(id, std::move(glossary));
  Set(id, stored);
  return stored;
}

absl::Status GlossaryStore::Delete(const std::string& id, const std::string& principal) {
  absl::MutexLock lock(&writing_);
  RETURN_IF_ERROR(FindOwn(id, principal).status());
  Step();
  if (unlink(PathOf(id).c_str()) != 0 && errno != ENOENT) return NotStored("unlink");
  versions_.erase(id);
  Set(id, nullptr);
  Step();
  return KeepDirectory();
}

// Writes a file under another name, and renames it when all of it is on the disk.
absl::Status GlossaryStore::Write(const std::string& id, const std::string& text) {
  const std::string partial = absl::StrCat(directory_, "/.", id, kPartial);
  {
    Step();
    const FileToWrite file(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (file.fd() < 0) return NotStored(partial);
    for (size_t begin = 0; begin < text.size();) {
      Step();
      const ssize_t written =
          write(file.fd(), text.data() + begin, std::min(kPiece, text.size() - begin));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return NotStored("write");
      begin += static_cast<size_t>(written);
    }
    Step();
    if (fsync(file.fd()) != 0) return NotStored("fsync");
  }
  Step();
  if (rename(partial.c_str(), PathOf(id).c_str()) != 0) return NotStored("rename");
  Step();
  return KeepDirectory();
}

// Brings the names in the directory to the disk.
absl::Status GlossaryStore::KeepDirectory() const {
  const FileToWrite directory(directory_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory.fd() < 0 || fsync(directory.fd()) != 0) return NotStored(directory_);
  return absl::OkStatus();
}

}  // namespace dragoman
