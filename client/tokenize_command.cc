// dragoman tokenize: the tokens that a model sees for a text.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/commands.h"
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

ExitCode RunTokenize(const TokenizeFlags& flags, const Console& console) {
  const auto client = flags.server.Connect(console);
  if (!client.ok()) return ReportUsage(console, client.status());
  const absl::Status status = ForEachText(flags.texts, console, [&](const std::string& text) {
    return Print(flags, console, text, client->get());
  });
  return status.ok() ? kExitOk : ReportFailedTranslation(console, status, client->get());
}

}  // namespace

void AddTokenizeCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* command = app->add_subcommand("tokenize", kTokenizeDescription)->footer(kTokenizeNotes);
  flags->server.AddTo(command);
  flags->model.AddTo(command);
  AddOutputFlag(command, &flags->json);
  command->add_flag("--target", flags->target, "the texts are translations");
  command->add_option("TEXT", flags->texts, "what to tokenize");
  command->callback([flags, &console, exit_code] { *exit_code = RunTokenize(*flags, console); });
}

}  // namespace dragoman
