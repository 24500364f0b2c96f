// The commands of `dragoman`, one file each; what they share is in client/flags.h.

#ifndef DRAGOMAN_CLIENT_COMMANDS_H_
#define DRAGOMAN_CLIENT_COMMANDS_H_

#include "client/flags.h"

namespace dragoman {

// Runs `dragoman` with the arguments of a command line; argv[0] is the program.
ExitCode RunCommandLine(int argc, const char* const* argv, const Console& console);

// Each adds one command to `app`, which stores its exit code in `*exit_code` when it runs.  The
// arguments must outlive `app`.
using AddCommand = void(CLI::App* app, const Console& console, ExitCode* exit_code);
AddCommand AddTranslateCommand, AddTranslateFileCommand, AddScoreCommand, AddTokenizeCommand,
    AddDetectCommand, AddStoreCommand, AddVerifyCommand, AddModelsCommand, AddLanguagesCommand,
    AddGlossaryCommand, AddMemoryCommand, AddHealthCommand, AddLoadCommand, AddPullCommand,
    AddMcpCommand, AddCompletionCommand;

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_COMMANDS_H_
