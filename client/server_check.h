// Asks dragoman-server whether it can serve a model directory: only the server knows the families
// of models.

#ifndef DRAGOMAN_CLIENT_SERVER_CHECK_H_
#define DRAGOMAN_CLIENT_SERVER_CHECK_H_

#include <optional>
#include <string>

namespace dragoman {

struct ServerCheck {
  bool servable = false;
  std::string report;  // for people
};

// Runs `dragoman-server --check DIRECTORY`; `without_weights`: before the weights are there.
// Nothing if there is no such program beside this one or in the PATH.
std::optional<ServerCheck> CheckWithServer(const std::string& directory, bool without_weights);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_SERVER_CHECK_H_
