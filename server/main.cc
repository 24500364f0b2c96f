// dragoman-server: serves translation models over gRPC until it is told to stop.  See --help.

#include <cstdlib>
#include <iostream>

#include "server/config.h"
#include "server/logging.h"
#include "server/machine_report.h"
#include "server/server.h"
#include "server/shutdown.h"

namespace {

int Fail(const absl::Status& status) {
  std::cerr << "dragoman-server: " << status.message() << std::endl;
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const absl::StatusOr<dragoman::CommandLine> command_line = dragoman::ParseCommandLine(argc, argv);
  if (!command_line.ok()) return Fail(command_line.status());
  if (command_line->print.has_value()) {
    std::cout << *command_line->print;
    return EXIT_SUCCESS;
  }
  dragoman::InitLogging(command_line->options.log);
  // Before other threads: oneDNN asks the kernel for the use of AMX at its first call.
  dragoman::LogMachine({command_line->options.precision, command_line->options.matmul});
  // Never destroyed: its thread ends with the process.
  auto& signals = *new dragoman::ShutdownSignals();
  const absl::StatusOr<std::unique_ptr<dragoman::Server>> server =
      dragoman::Server::Start(command_line->options);
  if (!server.ok()) return Fail(server.status());
  signals.Catch();
  std::cout << "listening grpc=" << (*server)->grpc_address()
            << " http=" << (*server)->http_address() << std::endl;
  signals.Await();
  (*server)->Drain();
  return EXIT_SUCCESS;
}
