#include "client/hub.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/credentials.h"
#include "client/file_digest.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxAnswer = 64 << 20;  // bytes of a list of files
constexpr int kMaxAttempts = 6;           // without receiving a byte
constexpr absl::Duration kFirstPause = absl::Milliseconds(500);

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The file in which Hugging Face's login stores its token.
std::string TokenFile() {
  if (const std::string path = Variable("HF_TOKEN_PATH"); !path.empty()) return path;
  if (const std::string home = Variable("HF_HOME"); !home.empty()) return home + "/token";
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty()) {
    return cache + "/huggingface/token";
  }
  return Variable("HOME") + "/.cache/huggingface/token";
}

std::string FindToken() {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    const std::string token(absl::StripAsciiWhitespace(Variable(name)));
    if (!token.empty()) return token;
  }
  const absl::StatusOr<std::string> token = LoadToken(TokenFile());
  return token.ok() ? *token : "";
}

bool IsHex(std::string_view text, size_t size) {
  return text.size() == size && absl::c_all_of(text, [](unsigned char c) {
           return absl::ascii_isxdigit(c) && !absl::ascii_isupper(c);
         });
}

// The error for a status other than 2xx.
absl::Status StatusOf(const WebResponse& response, const std::string& what, bool with_token) {
  const std::string code = response.Header("x-error-code");
  switch (response.status) {
    case 401:
      return absl::PermissionDeniedError(absl::StrCat(
          what, with_token ? ": there is none, or the token in HF_TOKEN does not open it"
                           : ": there is none, or it is private: check the name, or set HF_TOKEN"));
    case 403:
      return absl::PermissionDeniedError(
          absl::StrCat(what, ": the Hub refuses it",
                       code == "GatedRepo" ? "; accept its licence on its page, and set HF_TOKEN"
                                           : " to this token"));
    case 404:
      return NotFoundError(what, code == "RevisionNotFound" ? ": there is no such revision"
                                                            : ": the Hub does not have it");
    case 429:
      return ResourceExhaustedError(what, ": too many requests to the Hub; try again later");
    default:
      break;
  }
  const std::string message = absl::StrCat(what, ": the Hub answered ", response.status);
  return response.status >= 500 ? absl::UnavailableError(message) : absl::InternalError(message);
}

// Whether trying again may help.
bool IsPassing(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
}

HubFile ParseFile(const nlohmann::json& sibling) {
  HubFile file;
  file.name = TextIn(sibling, "rfilename");
  const nlohmann::json& lfs = Member(sibling, "lfs");
  for (const nlohmann::json& size : {Member(sibling, "size"), Member(lfs, "size")}) {
    if (size.is_number_unsigned()) file.size = size.get<int64_t>();
  }
  const std::string oid = TextIn(sibling, "blobId");
  if (!lfs.is_object() && IsHex(oid, 40)) file.git_oid = oid;
  for (const char* field : {"sha256", "oid"}) {
    const std::string sha256 = TextIn(lfs, field);
    if (IsHex(sha256, 64)) file.sha256 = sha256;
  }
  return file;
}

absl::StatusOr<HubRepository> ParseRepository(const std::string& name, const std::string& answer) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJsonObject(answer, "the Hub's answer"));
  HubRepository repository;
  repository.name = name;
  repository.commit = TextIn(json, "sha");
  const nlohmann::json& siblings = Member(json, "siblings");
  if (!IsHex(repository.commit, 40) || !siblings.is_array()) {
    return absl::InternalError("the Hub's answer has no commit or no list of files");
  }
  for (const nlohmann::json& sibling : siblings) {
    HubFile file = ParseFile(sibling);
    if (!file.name.empty()) repository.files.push_back(std::move(file));
  }
  return repository;
}

// Percent-encodes every character with a special meaning in a path.
std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || strchr("-_.~/", c) != nullptr) {
      escaped.push_back(c);
    } else {
      absl::StrAppend(&escaped, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return escaped;
}

// A file that is appended to.
class PartFile {
 public:
  explicit PartFile(std::string path) : path_(std::move(path)) {
    std::error_code error;
    const uintmax_t size = fs::file_size(path_, error);
    size_ = error ? 0 : static_cast<int64_t>(size);
  }

  int64_t size() const { return size_; }

  absl::Status Append(std::string_view bytes) {
    if (file_ == nullptr) file_.reset(std::fopen(path_.c_str(), "ab"));
    if (file_ == nullptr ||
        std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      return CannotWrite();
    }
    size_ += static_cast<int64_t>(bytes.size());
    return absl::OkStatus();
  }
  void Restart() {
    file_.reset();
    std::remove(path_.c_str());
    size_ = 0;
  }
  // When it returns, the appended bytes are on disk.
  absl::Status Sync() {
    if (file_ == nullptr) return absl::OkStatus();
    const bool ok = std::fflush(file_.get()) == 0 && fsync(fileno(file_.get())) == 0;
    file_.reset();
    return ok ? absl::OkStatus() : CannotWrite();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  absl::Status CannotWrite() const {
    return FailedPreconditionError(path_, ": cannot write: ", std::strerror(errno));
  }

  const std::string path_;
  int64_t size_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

// Appends the result of one GET.
absl::Status FetchOnce(HttpClient* http, const WebRequest& request, const HubFile& file,
                       int64_t max_unannounced, PartFile* part,
                       const std::function<void(int64_t)>& progress) {
  bool begun = false;
  const auto sink = [&](const WebResponse& response, std::string_view bytes) -> absl::Status {
    if (!begun && request.from > 0) {
      const std::string range = absl::StrCat("bytes ", request.from, "-");
      if (response.status != 206) {
        part->Restart();  // the server sends the whole file
      } else if (response.Header("content-range").compare(0, range.size(), range) != 0) {
        return absl::DataLossError(file.name +
                                   ": the Hub sent a different part than was requested");
      }
    }
    begun = true;
    const int64_t size = part->size() + static_cast<int64_t>(bytes.size());
    if (file.size >= 0 && size > file.size) {
      return absl::DataLossError(file.name + ": is longer than the Hub announced");
    }
    if (file.size < 0 && size > max_unannounced) {
      part->Restart();
      return absl::DataLossError(absl::StrCat(file.name, ": is longer than ", max_unannounced,
                                              " bytes, and its size was not announced"));
    }
    RETURN_IF_ERROR(part->Append(bytes));
    progress(part->size());
    return absl::OkStatus();
  };
  absl::StatusOr<WebResponse> response = http->Get(request, sink);
  RETURN_IF_ERROR(part->Sync());
  if (!response.ok()) return response.status();
  if (response->status == 416) {  // the existing bytes are not a prefix of the file
    part->Restart();
    return UnavailableError(file.name, ": the Hub does not have the requested part");
  }
  if (response->status / 100 != 2) return StatusOf(*response, file.name, !request.token.empty());
  if (file.size >= 0 && part->size() < file.size) {
    return UnavailableError(file.name, ": the connection ended early");
  }
  return absl::OkStatus();
}

}  // namespace

HubAccess HubAccess::FromEnvironment() {
  HubAccess access;
  if (const std::string endpoint = Variable("HF_ENDPOINT"); !endpoint.empty()) {
    access.endpoint = endpoint;
    while (access.endpoint.ends_with('/')) access.endpoint.pop_back();
  }
  access.token = FindToken();
  return access;
}

const HubFile* HubRepository::Find(const std::string& file) const {
  for (const HubFile& candidate : files) {
    if (candidate.name == file) return &candidate;
  }
  return nullptr;
}

absl::Status CheckRepositoryName(const std::string& name) {
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part[0] != '.' && part[0] != '-' &&
           absl::c_all_of(part, [](unsigned char c) {
             return absl::ascii_isalnum(c) || strchr("-_.", c) != nullptr;
           });
  };
  const std::string_view view = name;
  const size_t slash = view.find('/');
  const bool ok = slash == view.npos
                      ? is_part(view)
                      : is_part(view.substr(0, slash)) && is_part(view.substr(slash + 1));
  if (ok) return absl::OkStatus();
  return InvalidArgumentError("\"", name, "\" is not a repository, want OWNER/NAME as on the Hub");
}

absl::StatusOr<std::string> GetText(HttpClient* http, const WebRequest& request,
                                    const std::string& what) {
  absl::Duration pause = kFirstPause;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    std::string answer;
    const absl::StatusOr<WebResponse> response =
        http->Get(request, [&answer](const WebResponse&, std::string_view bytes) {
          answer.append(bytes);
          return static_cast<int64_t>(answer.size()) <= kMaxAnswer
                     ? absl::OkStatus()
                     : absl::InternalError("the answer has no end");
        });
    absl::Status status = response.status();
    if (status.ok()) {
      if (response->status / 100 == 2) return answer;
      status = StatusOf(*response, what, !request.token.empty());
    }
    if (!IsPassing(status) || attempt == kMaxAttempts) return status;
    absl::SleepFor(pause);
  }
}

absl::StatusOr<HubRepository> Hub::List(const std::string& repository,
                                        const std::string& revision) {
  RETURN_IF_ERROR(CheckRepositoryName(repository));
  std::string revision_in_path = Escape(revision);
  for (size_t i = 0; (i = revision_in_path.find('/', i)) != std::string::npos;) {
    revision_in_path.replace(i, 1, "%2F");  // a branch may be called a/b
  }
  const WebRequest request{absl::StrCat(access_.endpoint, "/api/models/", repository, "/revision/",
                                        revision_in_path, "?blobs=true"),
                           access_.token};
  ASSIGN_OR_RETURN(const std::string answer, GetText(&http_, request, repository));
  return ParseRepository(repository, answer);
}

absl::Status Hub::Fetch(const HubRepository& repository, const HubFile& file,
                        const std::string& path, const std::function<void(int64_t)>& progress) {
  // Named after the content, so that different content is never appended to it.
  const std::string name = file.digest().empty() ? repository.commit : file.digest();
  const std::string part_path = absl::StrCat(path, ".", name.substr(0, 12), ".part");
  PartFile part(part_path);
  WebRequest request{.url = file.url};
  if (file.url.empty()) {
    request = {absl::StrCat(access_.endpoint, "/", repository.name, "/resolve/", repository.commit,
                            "/", Escape(file.name)),
               access_.token};
  }
  int attempts = 0;
  int wrong_contents = 0;
  while (true) {
    if (file.size >= 0 && part.size() > file.size) part.Restart();
    request.from = part.size();
    absl::Status status;
    if (file.size <= 0 || part.size() < file.size) {
      status = FetchOnce(&http_, request, file, access_.max_unannounced, &part, progress);
    }
    if (status.ok()) {
      if (file.size == 0) RETURN_IF_ERROR(part.Append(""));
      RETURN_IF_ERROR(part.Sync());
      if (IsFile(part_path, file)) break;
      part.Restart();
      status = absl::DataLossError(file.name + ": its content does not match the Hub's digest");
      if (++wrong_contents > 1) return status;
      continue;
    }
    attempts = part.size() > request.from ? 1 : attempts + 1;
    if (!IsPassing(status) || attempts >= kMaxAttempts) return status;
    absl::SleepFor(kFirstPause * (1 << (attempts - 1)));
  }
  std::error_code error;
  fs::rename(part_path, path, error);
  if (error) return FailedPreconditionError(path, ": ", error.message());
  return absl::OkStatus();
}

bool IsFile(const std::string& path, const HubFile& file) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error || (file.size >= 0 && static_cast<int64_t>(size) != file.size)) return false;
  if (file.digest().empty()) return true;
  const absl::StatusOr<std::string> digest =
      DigestOf(path, file.sha256.empty() ? DigestKind::kGitBlob : DigestKind::kSha256);
  return digest.ok() && *digest == file.digest();
}

}  // namespace dragoman
