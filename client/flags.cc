#include "client/flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "client/json.h"
#include "client/line_reader.h"
#include "client/server_address.h"
#include "engine/base/status.h"
#include "engine/options/options.h"

namespace dragoman {
namespace {

// Adds an option that sets a field of the message only if it is given.
template <typename T>
CLI::Option* AddSetter(CLI::App* command, const std::string& name, std::function<void(T)> set,
                       const std::string& description) {
  return command->add_option_function<T>(
      name, [set = std::move(set)](const T& value) { set(value); }, description);
}

// Adds an option that takes the names of an enum, such as "full" for EARLY_STOPPING_FULL.
void AddNames(CLI::App* command, const std::string& name,
              const google::protobuf::EnumDescriptor& type, const std::function<void(int)>& set,
              const std::string& description) {
  std::map<std::string, int> names;
  for (int i = 1; i < type.value_count(); ++i) {  // the first is 0: not given
    names[NameOf(type, type.value(i)->number())] = type.value(i)->number();
  }
  AddSetter<std::string>(
      command, name, [set, names](const std::string& given) { set(names.at(given)); }, description)
      ->check(CLI::IsMember(names));
}

// Adds an option that may be repeated.
void AddRepeated(CLI::App* command, const std::string& name,
                 const std::function<void(const std::string&)>& add,
                 const std::string& description) {
  AddSetter<std::vector<std::string>>(
      command, name,
      [add](const std::vector<std::string>& given) {
        for (const std::string& each : given) add(each);
      },
      description)
      ->allow_extra_args(false);
}

// Adds an option with the name of a field, "glossary_ids" or "sampling.top_k" of a message in the
// message, that sets the field if it is given: --glossary-id, --sampling-top-k.  A field that is a
// message is there if the option is.
void AddField(CLI::App* command, const std::string& path, google::protobuf::Message* message,
              const std::string& help) {
  using google::protobuf::FieldDescriptor;
  using Setters = google::protobuf::Reflection;
  const size_t dot = path.find('.');
  const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(path.substr(0, dot));
  const FieldDescriptor* const parent = field->message_type() == nullptr ? nullptr : field;
  if (dot != path.npos) field = parent->message_type()->FindFieldByName(path.substr(dot + 1));
  std::string flag = "--" + path;
  for (char& c : flag) c = c == '_' || c == '.' ? '-' : c;
  if (field->is_repeated() && flag.ends_with('s')) flag.pop_back();
  // Creates the message in the message when something in it is set.
  const auto its = [message, parent] {
    return parent == nullptr ? message : message->GetReflection()->MutableMessage(message, parent);
  };
  const auto set = [its, field](auto setter, const auto& value) {
    (its()->GetReflection()->*setter)(its(), field, value);
  };
  const auto add = [&](auto setter, auto type) {
    using T = decltype(type);
    AddSetter<T>(
        command, flag, [set, setter](T value) { set(setter, value); }, help);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      command->add_flag_callback(
          flag, [its] { its(); }, help);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      AddNames(
          command, flag, *field->enum_type(),
          [set](int number) { set(&Setters::SetEnumValue, number); }, help);
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      AddRepeated(
          command, flag, [set](const std::string& text) { set(&Setters::AddString, text); }, help);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      return add(&Setters::SetBool, bool());
    case FieldDescriptor::CPPTYPE_INT32:
      return add(&Setters::SetInt32, int32_t());
    case FieldDescriptor::CPPTYPE_UINT64:
      return add(&Setters::SetUInt64, uint64_t());
    default:
      return add(&Setters::SetFloat, float());
  }
}

}  // namespace

std::string Text(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

void ServerFlags::AddTo(CLI::App* command) {
  command->add_option("--server", server_, "HOST:PORT of the server")
      ->envname("DRAGOMAN_SERVER")
      ->capture_default_str();
  command->add_option("--deadline", deadline_seconds_, "seconds that a call may take; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_flag(
          "--tls", tls_,
          "use TLS, as every other --tls-... implies; by default, trust the system's authorities")
      ->envname("DRAGOMAN_TLS");
  command->add_option("--tls-ca", tls_ca_, "FILE: PEM certificates of the authorities to trust")
      ->envname("DRAGOMAN_TLS_CA");
  command->add_option("--tls-cert", tls_cert_, "FILE: PEM certificate to show to the server")
      ->envname("DRAGOMAN_TLS_CERT");
  command->add_option("--tls-key", tls_key_, "FILE: the private key of --tls-cert")
      ->envname("DRAGOMAN_TLS_KEY");
  command
      ->add_option("--tls-server-name", tls_server_name_,
                   "the name in the server's certificate, if it differs from --server")
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
    return InvalidArgumentError("DRAGOMAN_TOKEN: ", Text(status));
  }
  return std::string(token);
}

absl::StatusOr<std::unique_ptr<TranslationClient>> ServerFlags::Connect(const Console& console,
                                                                        bool retry) const {
  ClientOptions options;
  options.retry = retry;
  options.deadline =
      deadline_seconds_ > 0 ? absl::Seconds(deadline_seconds_) : absl::InfiniteDuration();
  ASSIGN_OR_RETURN(const ServerAddress address, ParseServerAddress(server_));
  if (tls_ || address.tls || !(tls_ca_ + tls_cert_ + tls_key_ + tls_server_name_).empty()) {
    ASSIGN_OR_RETURN(options.tls, LoadClientTls(tls_ca_, tls_cert_, tls_key_));
    options.tls->server_name = tls_server_name_;
  }
  ASSIGN_OR_RETURN(options.token, Token());
  if (!options.token.empty() && !options.tls.has_value()) {
    console.err << "dragoman: warning: without --tls the token can be read on the way\n";
  }
  return std::make_unique<TranslationClient>(address.target, options);
}

void AddOutputFlag(CLI::App* command, bool* json) {
  static const std::map<std::string, bool> kFormats = {{"text", false}, {"json", true}};
  command
      ->add_option_function<std::string>(
          "-o,--output", [json](const std::string& format) { *json = kFormats.at(format); },
          "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
}

void ModelFlags::AddTo(CLI::App* command) {
  command->add_option("-m,--model", model_,
                      "the model's name on the server; not needed if there is one");
  command->add_option("-s,--source-language", source_language_,
                      "such as en; not needed if the model has one");
  command->add_option("-t,--target-language", target_language_,
                      "such as de; not needed if the model has one");
}

void AlignmentFlags::AddTo(CLI::App* command) {
  command->add_flag("--alignments", alignments_,
                    "which source word each word comes from, in lines below the text");
  command
      ->add_option("--alignment-threshold", threshold_,
                   "in json, all pairs of tokens of this probability; implies --alignments")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--attention", attention_,
                    "in json, the probabilities of all pairs of tokens; implies --alignments");
}

void RequestFlags::AddTo(CLI::App* command) {
  model_.AddTo(command);
  v1::DecodingOptions* const options = request_.mutable_options();
  for (const Option& option : kOptionTable) AddField(command, option.name, options, option.help);
  AddRepeated(
      command, "--glossary",
      [options](const std::string& entry) {
        const size_t equals = entry.find('=');
        v1::GlossaryEntry* const to = options->add_glossary();
        to->set_source(entry.substr(0, equals));
        if (equals != std::string::npos) to->set_target(entry.substr(equals + 1));
      },
      "SOURCE=TARGET: if a sentence contains SOURCE, its translation contains TARGET; SOURCE "
      "alone is kept untranslated");
  AddField(command, "glossary_max_loss", options,
           "how much lower an entry of a stored glossary may make the score before it is left out");
  AddField(command, "never_say", options, "PHRASE that must not appear in a translation");
  AddSetter<std::string>(
      command, "--target-prefix",
      [this](const std::string& prefix) { request_.add_target_prefixes(prefix); },
      "what every translation begins with");
  AddField(command, "glossary_ids", &request_,
           "a glossary that the server keeps; repeat it for several (dragoman glossary list)");
  AddField(command, "memory_ids", &request_,
           "a translation memory that the server keeps; repeat it for several (dragoman tm list)");
  AddField(command, "memory_threshold", &request_,
           "how much of a sentence a memory must have, in percent: 50 to 100; 75 if not given");
  AddField(
      command, "priority", &request_,
      "interactive, or batch: goes after the others, with at least a sixteenth of the capacity");
  AddField(command, "markup", &request_,
           "what the texts are written in: none (the default), html or xml");
  AddSetter<float>(
      command, "--min-quality",
      [this](float least) {
        request_.set_min_quality(least);
        request_.set_low_quality(v1::LOW_QUALITY_REFUSE);
      },
      "0 to 1: a translation whose quality.score is lower is refused");
  command->add_flag("--truncate", truncate_,
                    "truncate sentences over the limit instead of dividing them");
  command->add_flag_function(
      "--split-sentences,!--no-split-sentences",
      [this](int64_t count) { split_sentences_ = count > 0; },
      "translate each sentence of a text separately, or each text as one sentence; by default, as "
      "the model requires");
}

v1::TranslateRequest RequestFlags::Request() const {
  v1::TranslateRequest request = request_;
  model_.Set(&request);
  if (truncate_) request.set_truncation(v1::TRUNCATION_TRUNCATE);
  if (split_sentences_.has_value()) {
    request.set_sentence_splitting(*split_sentences_ ? v1::SENTENCE_SPLITTING_SENTENCES
                                                     : v1::SENTENCE_SPLITTING_NONE);
  }
  return request;
}

void SayThatLinesAreRead(const Console& console) {
  if (!console.err_is_terminal || isatty(console.in) == 0) return;
  console.err << "dragoman: reading a text per line from the terminal; Ctrl-D ends\n";
}

absl::Status ForEachText(const std::vector<std::string>& texts, const Console& console,
                         const std::function<absl::Status(const std::string& text)>& print) {
  for (const std::string& text : texts) RETURN_IF_ERROR(print(text));
  if (!texts.empty()) return absl::OkStatus();
  SayThatLinesAreRead(console);
  LineReader reader(console.in, kMaxLineBytes);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string> line, reader.Next());
    if (!line.has_value()) return absl::OkStatus();
    RETURN_IF_ERROR(print(*line));
  }
}

ExitCode CodeOf(const Outcome& outcome, const Console& console) {
  if (outcome.ok()) return *outcome;
  console.err << "dragoman: " << Text(outcome.status()) << "\n";
  return kExitUsage;
}

std::string DescribeError(const absl::Status& status) {
  const std::string message = Text(status);
  std::ostringstream lines;
  lines << absl::StatusCodeToString(status.code()) << ": " << message << "\n";
  for (const FieldViolation& violation : FieldViolationsOf(status)) {
    if (message.find(violation.field) == std::string::npos) {
      lines << "  " << violation.field << ": " << violation.description << "\n";
    }
  }
  if (const std::optional<absl::Duration> delay = RetryDelayOf(status)) {
    lines << "  try again in " << absl::ToDoubleSeconds(*delay) << " s\n";
  }
  return lines.str();
}

ExitCode ReportError(const Console& console, const absl::Status& status) {
  console.out.flush();
  console.err << "dragoman: " << DescribeError(status);
  return IsUnreachable(status) ? kExitUnreachable : kExitRefused;
}

ExitCode ReportFailedTranslation(const Console& console, const absl::Status& status,
                                 TranslationClient* client) {
  if (IsUnreachable(status) && absl::IsUnavailable(status)) {
    const absl::StatusOr<bool> serving = client->Serving("dragoman.v1.TranslationService");
    if (serving.ok() && !*serving) {
      return ReportError(
          console,
          UnavailableError(client->server(), " is not serving: it is starting or shutting down"));
    }
  }
  return ReportError(console, status);
}

}  // namespace dragoman
