// dragoman translate: texts from the command line or standard input, translations to standard
// output.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/commands.h"
#include "client/json.h"
#include "client/line_reader.h"
#include "client/pipeline.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kDescription[] =
    "Translates each TEXT or, without one, each line of standard input.";
constexpr char kNotes[] =
    "\nThe order is kept.  Text output is a line per translation: with --num-hypotheses N, N "
    "lines\n"
    "per text (json is easier to read then).  JSON output is an object per text, on a line of its\n"
    "own.  -- before a TEXT that begins with a dash.";
constexpr size_t kMaxLineBytes = 512 << 10;  // the server takes messages of 1 MiB

struct TranslateFlags {
  ServerFlags server;
  RequestFlags request;
  bool json = false;
  std::vector<std::string> texts;
};

void Print(const Console& console, bool json, const TranslationPipeline::Translated& translated) {
  if (json) {
    console.out << ToJson(translated.source, translated.translation, translated.response.model())
                << std::endl;
    return;
  }
  for (const v1::Hypothesis& hypothesis : translated.translation.hypotheses()) {
    console.out << hypothesis.text() << std::endl;
  }
}

absl::Status AddTexts(const std::vector<std::string>& texts, TranslationPipeline* pipeline) {
  for (const std::string& text : texts) RETURN_IF_ERROR(pipeline->Add(text));
  return absl::OkStatus();
}

// Whoever types gets an answer to each line: what was gathered is sent before the next is waited
// for.
absl::Status AddLines(int fd, TranslationPipeline* pipeline) {
  LineReader reader(fd, kMaxLineBytes);
  while (true) {
    if (!reader.Ready()) RETURN_IF_ERROR(pipeline->Flush());
    ASSIGN_OR_RETURN(std::optional<std::string> line, reader.Next());
    if (!line.has_value()) return absl::OkStatus();
    RETURN_IF_ERROR(pipeline->Add(*std::move(line)));
  }
}

ExitCode RunTranslate(const TranslateFlags& flags, const Console& console) {
  v1::TranslateRequest request = flags.request.Request();
  request.mutable_output()->set_tokens(flags.json);
  const auto client = flags.server.Connect(console);
  if (!client.ok()) return ReportUsage(console, client.status());
  TranslationPipeline pipeline(client->get(), request, PipelineOptions(),
                               [&](const TranslationPipeline::Translated& translated) {
                                 Print(console, flags.json, translated);
                               });
  const bool from_input = flags.texts.empty();
  const absl::Status read =
      from_input ? AddLines(console.in, &pipeline) : AddTexts(flags.texts, &pipeline);
  if (const absl::Status status = pipeline.Finish(); !status.ok()) {
    const ExitCode code = ReportFailedTranslation(console, status, client->get());
    if (pipeline.failed_at() > 0 || from_input) {
      console.err << "  contents[0] of that request is " << (from_input ? "line " : "text ")
                  << pipeline.failed_at() + 1 << "\n";
    }
    return code;
  }
  if (!read.ok()) {
    ReportError(console, read);
    return kExitUsage;
  }
  return kExitOk;
}

}  // namespace

void AddTranslateCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<TranslateFlags>();
  CLI::App* command = app->add_subcommand("translate", kDescription)->footer(kNotes);
  flags->server.AddTo(command);
  flags->request.AddTo(command);
  AddOutputFlag(command, &flags->json);
  command->add_option("TEXT", flags->texts, "what to translate");
  command->callback([flags, &console, exit_code] { *exit_code = RunTranslate(*flags, console); });
}

}  // namespace dragoman
