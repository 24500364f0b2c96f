// dragoman-server --check DIR: reports what a model is and whether it can be served, without
// serving it.

#ifndef DRAGOMAN_SERVER_CHECK_H_
#define DRAGOMAN_SERVER_CHECK_H_

#include <ostream>
#include <string>

namespace dragoman {

// Prints the report on a model directory.  Returns whether it can be served.
bool CheckModel(const std::string& directory, std::ostream* out);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_CHECK_H_
