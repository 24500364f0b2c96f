// Parses the command line of dragoman-server (config.h) and merges it with the config file.

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <memory>

#include "engine/base/nearest_name.h"
#include "engine/base/status.h"
#include "engine/model/machine_report.h"
#include "server/config/config.h"
#include "server/config/flags.h"

namespace dragoman {
namespace {

constexpr char kDescription[] =
    "Serves machine-translation models over gRPC (dragoman.v1.TranslationService).\n"
    "Prints `listening grpc=HOST:PORT http=HOST:PORT` when it is ready; SIGTERM drains it.\n"
    "Each setting can also be a variable of the environment: --log-level is DRAGOMAN_LOG_LEVEL.";

// The names of all these variables would only be noise.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0, text.find(" (" + get_label("Env") + ":"));
  }
};

// Removes from `config` the messages and lists that `flags` sets: a flag replaces such a field as a
// whole, whereas MergeFrom would mix both.
void ClearMergedFields(const v1::ServerConfig& flags, v1::ServerConfig* config) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  flags.GetReflection()->ListFields(flags, &fields);
  for (const auto* field : fields) {
    if (!field->is_repeated() && field->message_type() == nullptr) continue;
    config->GetReflection()->ClearField(config, field);
  }
}

// What is wrong with the command line, and what may have been meant.
std::string UsageError(const CLI::App& app, const CLI::ParseError& error) {
  for (const std::string& argument : app.remaining()) {
    if (argument.rfind("--", 0) != 0) continue;
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::string flag = argument.substr(0, argument.find('='));
    return "there is no flag " + flag + DidYouMean(flag, names) + " (see --help)";
  }
  return std::string(error.what()) + " (see --help)";
}

absl::StatusOr<v1::ServerConfig> ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFoundError("config: cannot read ", path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  absl::StatusOr<v1::ServerConfig> config = ParseConfig(text);
  if (!config.ok()) {
    return InvalidArgumentError("config: ", path, ": ", std::string(config.status().message()));
  }
  return config;
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(int argc, const char* const* argv) {
  Flags flags;
  CLI::App app(kDescription, "dragoman-server");
  app.formatter(std::make_shared<HelpFormatter>());
  AddFlags(&app, &flags);
  bool machine = false;
  app.add_flag("--machine", machine,
               "Prints what this machine supports and what would multiply matrices on it");
  app.set_version_flag("--version", "dragoman-server " DRAGOMAN_VERSION, "Print the version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return CommandLine{.print = app.help()};
  } catch (const CLI::CallForVersion& version) {
    return CommandLine{.print = std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(UsageError(app, error));
  }
  CommandLine command_line{.print = {}, .errand = flags.errand};
  if (!flags.errand.check.empty()) return command_line;
  RETURN_IF_ERROR(flags.error);
  if (machine) {
    Matmul matmul = Matmul::kAuto;
    if (flags.config.has_matmul()) {
      ASSIGN_OR_RETURN(matmul, ParseMatmul(flags.config.matmul()));
    }
    return CommandLine{.print = "version      " DRAGOMAN_VERSION "\n" + DescribeMachine(matmul)};
  }
  v1::ServerConfig config;
  if (!flags.config_file.empty()) {
    ASSIGN_OR_RETURN(config, ReadConfigFile(flags.config_file));
    ClearMergedFields(flags.config, &config);
  }
  config.MergeFrom(flags.config);
  if (flags.errand.imports()) {
    command_line.options.config = config;
    return command_line;
  }
  ASSIGN_OR_RETURN(command_line.options, Resolve(config));
  command_line.options.config_file = flags.config_file;
  return command_line;
}

}  // namespace dragoman
