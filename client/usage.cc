#include "client/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "engine/base/nearest_name.h"

namespace dragoman {
namespace {

bool IsOption(const std::string& argument) {
  return argument.size() > 1 && argument.front() == '-';
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
  }
  return names;
}

// What is wrong with `argument`, which `app` did not expect.
std::string Unexpected(const CLI::App& app, const std::string& argument) {
  if (IsOption(argument)) {
    const std::string name = argument.substr(0, argument.find('='));
    return "there is no option " + name + DidYouMean(name, OptionNames(app));
  }
  const std::vector<std::string> commands = CommandNames(app);
  if (commands.empty()) return "\"" + argument + "\" is one argument too many";
  return "there is no command \"" + argument + "\"" + DidYouMean(argument, commands);
}

}  // namespace

void MoveServerBehindCommand(std::vector<std::string>* arguments) {
  size_t length = 0;  // of "--server X" or "--server=X" in front
  if (!arguments->empty() && arguments->front() == "--server") length = 2;
  if (!arguments->empty() && arguments->front().rfind("--server=", 0) == 0) length = 1;
  if (length == 0 || arguments->size() <= length || IsOption((*arguments)[length])) return;
  std::rotate(arguments->begin(), arguments->begin() + length, arguments->begin() + length + 1);
}

std::string DescribeUsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name =
      chosen.empty() ? app.get_name() : app.get_name() + " " + command.get_name();
  const std::vector<std::string> remaining = command.remaining();
  const auto option = absl::c_find_if(remaining, IsOption);
  std::string reason = error.what();
  if (chosen.empty() && remaining.empty()) {
    reason = "which command: " + absl::StrJoin(CommandNames(app), ", ") + "?";
  } else if (option != remaining.end()) {
    reason = Unexpected(command, *option);
  } else if (!remaining.empty()) {
    reason = Unexpected(command, remaining.front());
  }
  return name + ": " + reason + "\nSee " + name + " --help.\n";
}

}  // namespace dragoman
