// The command line: dragoman translate | models | health | load | pull.

#include <unistd.h>

#include <iostream>

#include "client/commands.h"

int main(int argc, char** argv) {
  return dragoman::RunCommandLine(
      argc, argv,
      dragoman::Console{STDIN_FILENO, std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
}
