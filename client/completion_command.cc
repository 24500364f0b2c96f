// dragoman completion: the script that makes a shell complete `dragoman` and `dragoman-server`.
//
// There is one script (deploy/package/completion.bash), which reads what to propose from the --help
// of both programs, and the names of models and languages from the server.  zsh runs it as it is,
// and fish asks bash.

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "client/commands.h"
#include "client/completion_script.h"

namespace dragoman {
namespace {

constexpr char kBeforeZsh[] =
    "autoload -U +X compinit && compinit\n"
    "autoload -U +X bashcompinit && bashcompinit\n"
    "compopt() { :; }  # zsh knows by itself what is a file\n";

constexpr char kFish[] = R"(function __dragoman_complete
  set -l words (commandline -opc) (commandline -ct)
  bash -c 'source <("$1" completion bash); shift
    compopt() { :; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
    _dragoman "$1"; printf "%s\n" "${COMPREPLY[@]}"' bash dragoman $words 2>/dev/null
end
complete -c dragoman -f -a '(__dragoman_complete)'
complete -c dragoman-server -f -a '(__dragoman_complete)'
)";

}  // namespace

void AddCompletionCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app->add_subcommand(
      "completion",
      "Prints a script that makes a shell complete dragoman and dragoman-server:\n"
      "  source <(dragoman completion bash)       in ~/.bashrc\n"
      "  source <(dragoman completion zsh)        in ~/.zshrc\n"
      "  dragoman completion fish | source        in ~/.config/fish/config.fish");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &console, exit_code] {
    if (*shell == "fish") {
      console.out << kFish;
    } else {
      console.out << (*shell == "zsh" ? kBeforeZsh : "") << kCompletionScript;
    }
    *exit_code = kExitOk;
  });
}

}  // namespace dragoman
