#include "client/commands.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "client/usage.h"

namespace dragoman {
namespace {

constexpr char kDescription[] =
    "Translates texts with a Dragoman server, and fetches models for it.\n"
    "\n"
    "Exit codes: 0 done; 1 the command line is wrong; 2 the server refused or failed;\n"
    "3 the server cannot be reached.";

}  // namespace

ExitCode RunCommandLine(int argc, const char* const* argv, const Console& console) {
  CLI::App app(kDescription, "dragoman");
  app.set_version_flag("--version", "dragoman " DRAGOMAN_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  ExitCode exit_code = kExitOk;
  for (AddCommand* const add :
       {AddTranslateCommand, AddTranslateFileCommand, AddScoreCommand, AddTokenizeCommand,
        AddDetectCommand, AddStoreCommand, AddVerifyCommand, AddModelsCommand, AddGlossaryCommand,
        AddMemoryCommand, AddLanguagesCommand, AddHealthCommand, AddLoadCommand, AddPullCommand,
        AddMcpCommand, AddCompletionCommand}) {
    add(&app, console, &exit_code);
  }

  std::vector<std::string> arguments(argv + 1, argv + argc);
  MoveServerBehindCommand(&arguments);
  try {
    absl::c_reverse(arguments);  // CLI11 takes them from the end
    app.parse(arguments);
  } catch (const CLI::Success& help) {
    return app.exit(help, console.out, console.err) == 0 ? kExitOk : kExitUsage;
  } catch (const CLI::ParseError& error) {
    console.err << DescribeUsageError(app, error);
    return kExitUsage;
  }
  if (!console.out.flush()) {
    console.err << "dragoman: cannot write the output\n";
    return kExitRefused;
  }
  return exit_code;
}

}  // namespace dragoman
