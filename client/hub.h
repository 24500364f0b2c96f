// The Hugging Face Hub: which files a repository has at a commit, and how to get one of them.

#ifndef DRAGOMAN_CLIENT_HUB_H_
#define DRAGOMAN_CLIENT_HUB_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/http_client.h"

namespace dragoman {

// Where the Hub is and who asks, from the environment as Hugging Face's own tools read it:
// HF_ENDPOINT; HF_TOKEN, or the file that `huggingface-cli login` wrote.
struct HubAccess {
  std::string endpoint = "https://huggingface.co";
  std::string token;  // "": none

  static HubAccess FromEnvironment();
};

struct HubFile {
  std::string name;
  int64_t size = -1;    // -1 if the Hub does not say
  std::string sha256;   // of a file in Git LFS; else ""
  std::string git_oid;  // of a file in Git itself; else ""

  // What the file's content is named by; "" if the Hub does not say.
  const std::string& digest() const { return sha256.empty() ? git_oid : sha256; }
};

struct HubRepository {
  std::string name;    // "Helsinki-NLP/opus-mt-en-de"
  std::string commit;  // of the revision that was asked for
  std::vector<HubFile> files;

  const HubFile* Find(const std::string& file) const;  // nullptr if there is none
};

// INVALID_ARGUMENT unless `name` is of the form NAME or OWNER/NAME.
absl::Status CheckRepositoryName(const std::string& name);

class Hub {
 public:
  explicit Hub(HubAccess access) : access_(std::move(access)) {}

  // NOT_FOUND: no such repository or revision; PERMISSION_DENIED: it wants a token, another one, or
  // its licence accepted; RESOURCE_EXHAUSTED, UNAVAILABLE: try later; INTERNAL: no Hub answers so.
  absl::StatusOr<HubRepository> List(const std::string& repository, const std::string& revision);

  // Fetches a file to `path`, going on where an earlier call stopped, and checks its size and
  // digest.  Until all is right, the bytes are in `path` + ".part" with the digest's beginning
  // between; then they are renamed.  `progress` hears how many bytes are there.  Broken connections
  // are taken up again.  The same errors; DATA_LOSS if the content is not what the Hub says.
  absl::Status Fetch(const HubRepository& repository, const HubFile& file, const std::string& path,
                     const std::function<void(int64_t)>& progress);

 private:
  HubAccess access_;
  HttpClient http_;
};

// Whether the file at `path` is that one, which its digest shows.
bool IsFile(const std::string& path, const HubFile& file);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_HUB_H_
