// Digests of files, in the forms that the Hub uses.

#ifndef DRAGOMAN_CLIENT_FILE_DIGEST_H_
#define DRAGOMAN_CLIENT_FILE_DIGEST_H_

#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

enum class DigestKind {
  kSha256,   // of the content: used by Git LFS
  kGitBlob,  // SHA-1 of "blob SIZE\0" and the content: used by Git itself
};

// In lower-case hexadecimal.  NOT_FOUND if there is no such file.
absl::StatusOr<std::string> DigestOf(const std::string& path, DigestKind kind);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_FILE_DIGEST_H_
