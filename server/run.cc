#include "server/run.h"

#include <signal.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include "engine/base/mutex_checks.h"
#include "engine/model/machine_report.h"
#include "server/capacity.h"
#include "server/check.h"
#include "server/config/config.h"
#include "server/import.h"
#include "server/net/inherited_sockets.h"
#include "server/net/process_limits.h"
#include "server/observe/logging.h"
#include "server/server.h"
#include "server/service_manager.h"
#include "server/shutdown.h"

namespace dragoman {
namespace {

// How long writing the rest of the log may take: its reader may have stalled.
constexpr absl::Duration kLogTimeout = absl::Seconds(1);

int CannotServe(const absl::Status& status) {
  std::cerr << "dragoman-server: " << status.message() << std::endl;
  return EXIT_FAILURE;
}

// For the arithmetic that models are loaded with.
void LogMachine(Arithmetic arithmetic) {
  const MachineReport machine = ReportMachine();
  Log(LogLevel::kInfo, "machine",
      {{"cpu", machine.cpu},
       {"cores", int64_t{machine.cores}},
       {"memory_bytes", static_cast<int64_t>(machine.memory_bytes)},
       {"huge_pages", machine.huge_pages},
       {"kernels", machine.kernels},
       {"onednn", machine.onednn},
       {"precision", NameOf(Resolve(arithmetic.precision))},
       {"products", DescribeProducts(arithmetic)}});
}

absl::StatusOr<std::unique_ptr<Server>> StartServer(const ServerOptions& options,
                                                    ReadOptions read_again,
                                                    std::function<void()> on_drain,
                                                    InheritedSockets sockets) {
  const ExplainAborts explain;
  InitLogging(options.log);
  // Before any worker thread starts: oneDNN asks the kernel for the use of AMX in its first call.
  LogMachine({options.precision, options.matmul});
  return Server::Start(options, std::move(read_again), std::move(on_drain), std::move(sockets));
}

// Parses the command line again: its config file may have changed.
absl::StatusOr<ServerOptions> ReadCommandLineAgain(int argc, char** argv) {
  ASSIGN_OR_RETURN(CommandLine command_line, ParseCommandLine(argc, argv));
  return std::move(command_line.options);
}

}  // namespace

int RunServer(int argc, char** argv) {
  DisableMutexChecks();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that is too large is an error of its write
  ExplainExhaustion();
  SaveAddressSpace();
  const absl::StatusOr<CommandLine> command_line = ParseCommandLine(argc, argv);
  if (!command_line.ok()) return CannotServe(command_line.status());
  if (command_line->print.has_value()) {
    std::cout << *command_line->print;
    return EXIT_SUCCESS;
  }
  const Errand& errand = command_line->errand;
  const ServerOptions& options = command_line->options;
  if (!errand.check.empty()) {
    const bool servable = CheckModel(errand.check, errand.without_weights, &std::cout);
    return servable ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (errand.imports()) {
    const absl::Status imported = ImportKept(options.config.store(), errand, &std::cout);
    return imported.ok() ? EXIT_SUCCESS : CannotServe(imported);
  }
  if (errand.check_config) {
    return CheckConfig(options, &std::cout) ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  if (!errand.plan.empty()) {
    const absl::Status status = PrintPlan(options, errand.plan, &std::cout);
    return status.ok() ? EXIT_SUCCESS : CannotServe(status);
  }
  absl::StatusOr<InheritedSockets> sockets = TakeInheritedSockets();
  if (!sockets.ok()) return CannotServe(sockets.status());
  // Never destroyed: its thread ends with the process.
  auto& signals = *new ShutdownSignals();
  const absl::StatusOr<std::unique_ptr<Server>> server = StartServer(
      options, [=] { return ReadCommandLineAgain(argc, argv); }, [&] { signals.End(); },
      *std::move(sockets));
  FlushLog(kLogTimeout);
  if (!server.ok()) return CannotServe(server.status());
  signals.Catch();
  Print(&std::cout, "listening",
        {{"grpc", (*server)->grpc_address()},
         {"http", (*server)->http_address()},
         {"metrics", (*server)->metrics_address()},
         {"admin", (*server)->admin_address()}});
  TellServiceManager("READY=1");
  while (signals.Await() == SIGHUP) (*server)->Reload();
  TellServiceManager("STOPPING=1");
  (*server)->Drain();
  FlushLog(kLogTimeout);
  return EXIT_SUCCESS;
}

}  // namespace dragoman
