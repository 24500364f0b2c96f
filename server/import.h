// Glossaries and translation memories of servers up to version 0.1, which kept each in a file of a
// directory, become those of a store.

#ifndef DRAGOMAN_SERVER_IMPORT_H_
#define DRAGOMAN_SERVER_IMPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "server/config/config.h"

namespace dragoman {

// Imports the files that are not in the store yet, with their ids, owners and versions, and prints
// a line for each.  FAILED_PRECONDITION if some could not be imported; the others are.
absl::Status ImportKept(const std::string& store, const Errand& errand, std::ostream* out);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_IMPORT_H_
