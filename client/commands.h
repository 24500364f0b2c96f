// The commands of `dragoman`, one file each; what they share is in client/flags.h.

#ifndef DRAGOMAN_CLIENT_COMMANDS_H_
#define DRAGOMAN_CLIENT_COMMANDS_H_

#include "client/flags.h"

namespace dragoman {

// Runs `dragoman` with the arguments of a command line; argv[0] is the program.
ExitCode RunCommandLine(int argc, const char* const* argv, const Console& console);

// Each function adds one command to `app`, which stores its exit code in `*exit_code` when it runs.
// The arguments must outlive `app`.
void AddTranslateCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddTranslateFileCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddScoreCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddTokenizeCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddDetectCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddStoreCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddVerifyCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddModelsCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddLanguagesCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddGlossaryCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddMemoryCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddHealthCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddLoadCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddPullCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddMcpCommand(CLI::App* app, const Console& console, ExitCode* exit_code);
void AddCompletionCommand(CLI::App* app, const Console& console, ExitCode* exit_code);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_COMMANDS_H_
