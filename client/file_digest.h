// Digests of files, as the Hub names them.

#ifndef DRAGOMAN_CLIENT_FILE_DIGEST_H_
#define DRAGOMAN_CLIENT_FILE_DIGEST_H_

#include <string>

#include "absl/status/statusor.h"

namespace dragoman {

enum class DigestKind {
  kSha256,   // of the content: what Git LFS names a file by
  kGitBlob,  // SHA-1 of "blob SIZE\0" and the content: what Git itself names a file by
};

// In small hexadecimal letters.  NOT_FOUND if there is no such file.
absl::StatusOr<std::string> DigestOf(const std::string& path, DigestKind kind);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_FILE_DIGEST_H_
