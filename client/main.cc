// The command line: dragoman translate | score | tokenize | models | languages | ..., see --help.

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/commands.h"
#include "engine/base/mutex_checks.h"

int main(int argc, char** argv) {
  dragoman::DisableMutexChecks();
  // gRPC logs to standard error; what a user needs is in the errors of the calls.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  return dragoman::RunCommandLine(
      argc, argv,
      dragoman::Console{STDIN_FILENO, std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
}
