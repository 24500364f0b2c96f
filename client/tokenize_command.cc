// dragoman tokenize: the tokens that a model sees for a text.

#include <string>
#include <utility>
#include <vector>

#include "client/client_command.h"
#include "client/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kTokenizeDescription[] =
    "Prints the tokens of each TEXT or, without one, of each line of standard input.";
constexpr char kTokenizeNotes[] =
    "\nText output is a line per text, the tokens separated by spaces; JSON output has their ids, "
    "too.";

struct TokenizeFlags {
  ServerFlags server;
  ModelFlags model;
  bool json = false;
  bool target = false;
  std::vector<std::string> texts;
};

absl::Status Print(const TokenizeFlags& flags, const Console& console, const std::string& text,
                   TranslationClient* client) {
  v1::TokenizeRequest request;
  flags.model.Set(&request);
  request.set_target(flags.target);
  request.add_contents(text);
  ASSIGN_OR_RETURN(const v1::TokenizeResponse response, client->Tokenize(request));
  const v1::TokenizedText& tokens = response.texts(0);
  if (flags.json) {
    console.out << ToJson(text, tokens) << std::endl;
    return absl::OkStatus();
  }
  for (int i = 0; i < tokens.tokens_size(); ++i) {
    console.out << (i > 0 ? " " : "") << tokens.tokens(i);
  }
  console.out << std::endl;
  return absl::OkStatus();
}

ExitCode RunTokenize(const TokenizeFlags& flags, const Console& console,
                     TranslationClient* client) {
  const absl::Status status = ForEachText(flags.texts, console, [&](const std::string& text) {
    return Print(flags, console, text, client);
  });
  return status.ok() ? kExitOk : ReportFailedTranslation(console, status, client);
}

}  // namespace

void AddTokenizeCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] = AddClientCommand<TokenizeFlags>(
      app, "tokenize", kTokenizeDescription, RunTokenize, console, exit_code);
  command->footer(kTokenizeNotes);
  flags->model.AddTo(command);
  AddOutputFlag(command, &flags->json);
  command->add_flag("--target", flags->target, "the texts are translations");
  command->add_option("TEXT", flags->texts, "what to tokenize");
}

}  // namespace dragoman
