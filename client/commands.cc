#include "client/commands.h"

#include <cstdlib>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kDescription[] =
    "Translates texts with a Dragoman server, and fetches models for it.\n"
    "\n"
    "Exit codes: 0 done; 1 the command line is wrong; 2 the server refused or failed;\n"
    "3 the server cannot be reached.";

// An option that sets a field of the message only if it is given.
template <typename T>
CLI::Option* AddSetter(CLI::App* command, const std::string& name, std::function<void(T)> set,
                       const std::string& description) {
  return command->add_option_function<T>(
      name, [set = std::move(set)](const T& value) { set(value); }, description);
}

std::string Text(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace

ExitCode RunCommandLine(int argc, const char* const* argv, const Console& console) {
  CLI::App app(kDescription, "dragoman");
  app.set_version_flag("--version", "dragoman " DRAGOMAN_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  ExitCode exit_code = kExitOk;
  AddTranslateCommand(&app, console, &exit_code);
  AddModelsCommand(&app, console, &exit_code);
  AddHealthCommand(&app, console, &exit_code);
  AddLoadCommand(&app, console, &exit_code);
  AddPullCommand(&app, console, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, console.out, console.err) == 0 ? kExitOk : kExitUsage;
  }
  if (!console.out.flush()) {
    console.err << "dragoman: cannot write the output\n";
    return kExitRefused;
  }
  return exit_code;
}

void ServerFlags::AddTo(CLI::App* command) {
  command->add_option("--server", server_, "HOST:PORT of the server")
      ->envname("DRAGOMAN_SERVER")
      ->capture_default_str();
  command->add_option("--deadline", deadline_seconds_, "seconds that a call may take; 0: any time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--tls", tls_, "TLS, as each --tls-... means; trusts the system's authorities")
      ->envname("DRAGOMAN_TLS");
  command->add_option("--tls-ca", tls_ca_, "FILE: PEM certificates of the authorities to trust")
      ->envname("DRAGOMAN_TLS_CA");
  command->add_option("--tls-cert", tls_cert_, "FILE: PEM certificate to show to the server")
      ->envname("DRAGOMAN_TLS_CERT");
  command->add_option("--tls-key", tls_key_, "FILE: the private key of --tls-cert")
      ->envname("DRAGOMAN_TLS_KEY");
  command
      ->add_option("--tls-server-name", tls_server_name_,
                   "the name in the server's certificate, if it is not that in --server")
      ->envname("DRAGOMAN_TLS_SERVER_NAME");
  command
      ->add_option("--token-file", token_file_,
                   "FILE with the bearer token to show; or the token itself in DRAGOMAN_TOKEN")
      ->envname("DRAGOMAN_TOKEN_FILE");
}

absl::StatusOr<std::string> ServerFlags::Token() const {
  if (!token_file_.empty()) return LoadToken(token_file_);
  const char* const token = std::getenv("DRAGOMAN_TOKEN");
  if (token == nullptr || *token == '\0') return std::string();
  if (const absl::Status status = CheckToken(token); !status.ok()) {
    return absl::InvalidArgumentError("DRAGOMAN_TOKEN: " + Text(status));
  }
  return std::string(token);
}

absl::StatusOr<std::unique_ptr<TranslationClient>> ServerFlags::Connect(const Console& console,
                                                                        bool retry) const {
  ClientOptions options;
  options.retry = retry;
  options.deadline =
      deadline_seconds_ > 0 ? absl::Seconds(deadline_seconds_) : absl::InfiniteDuration();
  if (tls_ || !(tls_ca_ + tls_cert_ + tls_key_ + tls_server_name_).empty()) {
    ASSIGN_OR_RETURN(options.tls, LoadClientTls(tls_ca_, tls_cert_, tls_key_));
    options.tls->server_name = tls_server_name_;
  }
  ASSIGN_OR_RETURN(options.token, Token());
  if (!options.token.empty() && !options.tls.has_value()) {
    console.err << "dragoman: warning: without --tls the token can be read on the way\n";
  }
  return std::make_unique<TranslationClient>(server_, options);
}

void AddOutputFlag(CLI::App* command, bool* json) {
  static const std::map<std::string, bool> kFormats = {{"text", false}, {"json", true}};
  command
      ->add_option_function<std::string>(
          "--output", [json](const std::string& format) { *json = kFormats.at(format); },
          "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
}

void RequestFlags::AddTo(CLI::App* command) {
  v1::TranslateRequest* r = &request_;
  v1::DecodingOptions* o = request_.mutable_options();
  auto text = [command](const char* name, std::function<void(std::string)> set, const char* help) {
    AddSetter<std::string>(command, name, std::move(set), help);
  };
  auto integer = [command](const char* name, std::function<void(int32_t)> set, const char* help) {
    AddSetter<int32_t>(command, name, std::move(set), help);
  };
  auto number = [command](const char* name, std::function<void(float)> set, const char* help) {
    AddSetter<float>(command, name, std::move(set), help);
  };
  text(
      "--model", [r](const std::string& name) { r->set_model(name); },
      "the model's name on the server; not needed if there is one");
  text(
      "--source-language", [r](const std::string& name) { r->set_source_language(name); },
      "such as en; not needed if the model has one");
  text(
      "--target-language", [r](const std::string& name) { r->set_target_language(name); },
      "such as de; likewise");
  integer(
      "--beam-size", [o](int32_t n) { o->set_beam_size(n); },
      "hypotheses that the search keeps; 1: greedy");
  integer(
      "--num-hypotheses", [o](int32_t n) { o->set_num_hypotheses(n); },
      "translations of each text, best first");
  number(
      "--length-penalty", [o](float x) { o->set_length_penalty(x); },
      "score = sum of log-probabilities / length ^ this");
  integer(
      "--min-length", [o](int32_t n) { o->set_min_length(n); },
      "generated tokens, without the end of the sentence");
  integer(
      "--max-length", [o](int32_t n) { o->set_max_length(n); },
      "generated tokens, with the end of the sentence");
  number(
      "--max-length-ratio", [o](float x) { o->set_max_length_ratio(x); },
      "maximum length in proportion to the source");
  integer(
      "--no-repeat-ngram-size", [o](int32_t n) { o->set_no_repeat_ngram_size(n); },
      "no run of so many tokens stands twice; 0: off");
  number(
      "--repetition-penalty", [o](float x) { o->set_repetition_penalty(x); },
      "above 1: makes repeated tokens less likely");
  static const std::map<std::string, v1::EarlyStopping> kStopping = {
      {"heuristic", v1::EARLY_STOPPING_HEURISTIC},
      {"full", v1::EARLY_STOPPING_FULL},
      {"never", v1::EARLY_STOPPING_NEVER}};
  AddSetter<std::string>(
      command, "--early-stopping",
      [o](const std::string& name) { o->set_early_stopping(kStopping.at(name)); },
      "when the search stops: heuristic, full or never")
      ->check(CLI::IsMember({"heuristic", "full", "never"}));
  static const std::map<std::string, v1::Priority> kPriorities = {
      {"interactive", v1::PRIORITY_INTERACTIVE}, {"batch", v1::PRIORITY_BATCH}};
  AddSetter<std::string>(
      command, "--priority",
      [r](const std::string& name) { r->set_priority(kPriorities.at(name)); },
      "interactive, or batch: fills the gaps that others leave")
      ->check(CLI::IsMember({"interactive", "batch"}));
  command->add_flag("--truncate", truncate_, "cut sentences over the limit instead of refusing");
  command->add_flag("--split-sentences", split_sentences_, "translate each sentence by itself");
}

v1::TranslateRequest RequestFlags::Request() const {
  v1::TranslateRequest request = request_;
  if (truncate_) request.set_truncation(v1::TRUNCATION_TRUNCATE);
  if (split_sentences_) request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  return request;
}

ExitCode ReportUsage(const Console& console, const absl::Status& status) {
  console.err << "dragoman: " << Text(status) << "\n";
  return kExitUsage;
}

ExitCode ReportError(const Console& console, const absl::Status& status) {
  console.out.flush();
  const std::string message = Text(status);
  console.err << "dragoman: " << absl::StatusCodeToString(status.code()) << ": " << message << "\n";
  for (const FieldViolation& violation : FieldViolationsOf(status)) {
    if (message.find(violation.field) == std::string::npos) {
      console.err << "  " << violation.field << ": " << violation.description << "\n";
    }
  }
  if (const std::optional<absl::Duration> delay = RetryDelayOf(status)) {
    console.err << "  try again in " << absl::ToDoubleSeconds(*delay) << " s\n";
  }
  return IsUnreachable(status) ? kExitUnreachable : kExitRefused;
}

ExitCode ReportFailedTranslation(const Console& console, const absl::Status& status,
                                 TranslationClient* client) {
  if (IsUnreachable(status) && absl::IsUnavailable(status)) {
    const absl::StatusOr<bool> serving = client->Serving("dragoman.v1.TranslationService");
    if (serving.ok() && !*serving) {
      return ReportError(
          console,
          absl::UnavailableError(client->server() + " does not serve: it is ending, or starting"));
    }
  }
  return ReportError(console, status);
}

}  // namespace dragoman
