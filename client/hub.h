// The Hugging Face Hub: lists the files of a repository at a commit, and fetches them.

#ifndef DRAGOMAN_CLIENT_HUB_H_
#define DRAGOMAN_CLIENT_HUB_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "web/http_client.h"

namespace dragoman {

// The address of the Hub and the user's token, from the same environment variables as Hugging
// Face's own tools: HF_ENDPOINT; HF_TOKEN, or the file that `huggingface-cli login` wrote.
struct HubAccess {
  std::string endpoint = "https://huggingface.co";
  std::string token;  // "": none
  // Of a file whose size is not announced, in bytes; there is no larger file of weights.
  int64_t max_unannounced = int64_t{32} << 30;

  static HubAccess FromEnvironment();
};

struct HubFile {
  std::string name;
  int64_t size = -1;     // negative if the Hub does not say
  std::string sha256;    // for a file in Git LFS; otherwise ""
  std::string git_oid;   // for a file in Git itself; otherwise ""
  std::string url = {};  // where it is, if not on the Hub (model_index.h)

  // The digest that identifies the content; "" if the Hub does not say.
  const std::string& digest() const { return sha256.empty() ? git_oid : sha256; }
};

struct HubRepository {
  std::string name;    // "Helsinki-NLP/opus-mt-en-de"
  std::string commit;  // of the requested revision; or the version, if it is not on the Hub
  std::vector<HubFile> files;

  const HubFile* Find(const std::string& file) const;  // nullptr if there is none
};

// INVALID_ARGUMENT unless `name` is of the form NAME or OWNER/NAME.
absl::Status CheckRepositoryName(const std::string& name);

class Hub {
 public:
  explicit Hub(HubAccess access) : access_(std::move(access)) {}

  // NOT_FOUND: no such repository or revision; PERMISSION_DENIED: it requires a token, another
  // token, or accepting its licence; RESOURCE_EXHAUSTED, UNAVAILABLE: try later; INTERNAL: not the
  // answer of a Hub.
  absl::StatusOr<HubRepository> List(const std::string& repository, const std::string& revision);

  // Fetches a file to `path`, continuing where an earlier call stopped, and checks its size and
  // digest.  The bytes go to a file beside it, which is renamed when it is complete:
  // model.npz.1f3870be.part, where 1f3870be is the beginning of the digest.  `progress` is called
  // with the number of bytes so far.  Broken connections are resumed.  The errors are those of
  // List, and DATA_LOSS if the content does not match the Hub's digest or has no end.
  absl::Status Fetch(const HubRepository& repository, const HubFile& file, const std::string& path,
                     const std::function<void(int64_t)>& progress);

 private:
  HubAccess access_;
  HttpClient http_;
};

// The text at an address, for messages about `what`; asks again if that may help.  The errors of
// Hub::List.
absl::StatusOr<std::string> GetText(HttpClient* http, const WebRequest& request,
                                    const std::string& what);

// Whether the file at `path` is that file, according to its digest.
bool IsFile(const std::string& path, const HubFile& file);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_HUB_H_
