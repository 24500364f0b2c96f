// dragoman detect: the language of a text.

#include <string>
#include <vector>

#include "client/client_command.h"
#include "client/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kDetectDescription[] =
    "Prints the language of each TEXT or, without one, of each line of standard input.";
constexpr char kDetectNotes[] =
    "\nText output is a line per text: the most likely languages with their confidence, the best "
    "first;\n"
    "\"und\" where nothing suggests any.  A word or two are often not enough.";

struct DetectFlags {
  ServerFlags server;
  bool json = false;
  std::vector<std::string> texts;
};

absl::Status PrintLanguage(const DetectFlags& flags, const Console& console,
                           const std::string& text, TranslationClient* client) {
  ASSIGN_OR_RETURN(const v1::DetectLanguageResponse response, client->DetectLanguage(text));
  const v1::DetectedText& detected = response.texts(0);
  console.out << (flags.json ? ToLine(ToJson(text, detected)) : GuessesOf(detected)) << std::endl;
  return absl::OkStatus();
}

ExitCode RunDetect(const DetectFlags& flags, const Console& console, TranslationClient* client) {
  const absl::Status status = ForEachText(flags.texts, console, [&](const std::string& text) {
    return PrintLanguage(flags, console, text, client);
  });
  return status.ok() ? kExitOk : ReportFailedTranslation(console, status, client);
}

}  // namespace

void AddDetectCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] = AddClientCommand<DetectFlags>(app, "detect", kDetectDescription,
                                                              RunDetect, console, exit_code);
  command->footer(kDetectNotes);
  AddOutputFlag(command, &flags->json);
  command->add_option("TEXT", flags->texts, "whose language is asked for");
}

}  // namespace dragoman
