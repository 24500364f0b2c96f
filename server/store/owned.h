// Things that principals keep on a server, glossaries and translation memories alike: what is known
// of one without its content.
//
// A thing is seen by its owner, the principal that made it; by everybody if it is shared or has no
// owner.  Only its owner changes it.

#ifndef DRAGOMAN_SERVER_STORE_OWNED_H_
#define DRAGOMAN_SERVER_STORE_OWNED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/text/languages.h"

namespace dragoman {

// Who asks for a thing, and how long it may wait for the store.
struct Asker {
  absl::Time until;
  std::string principal;
};

// Entries of a glossary or segments of a translation memory, for a pair of languages.
struct OwnedList {
  LanguagePair languages;  // tags; "": any
  int64_t size = 0;
};

// What its text says of a thing besides its content.
struct OwnedHead {
  std::string name = {};
  std::string owner = {};  // a principal; "": nobody, so it is for everybody
  bool shared = false;     // others may use and read it, too
  int64_t version = 1;     // how often it was written
  absl::Time created = absl::UnixEpoch();
};

struct Owned : OwnedHead {
  std::string id = {};
  bool read_only = false;  // a file of the operator's
  int64_t bytes = 0;       // of the content
  std::vector<OwnedList> lists = {};

  bool IsSeenBy(const std::string& principal) const {
    return shared || owner.empty() || owner == principal;
  }
  bool IsChangedBy(const std::string& principal) const { return owner == principal && !read_only; }
  int64_t size() const {
    int64_t size = 0;
    for (const OwnedList& list : lists) size += list.size;
    return size;
  }
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_STORE_OWNED_H_
