// What the commands of `dragoman` share: their flags, and how they read texts and report errors.

#ifndef DRAGOMAN_CLIENT_FLAGS_H_
#define DRAGOMAN_CLIENT_FLAGS_H_

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/translation_client.h"

namespace CLI {
class App;
}

namespace dragoman {

// The exit code of a command.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,        // the command line, or a file that it names, is wrong
  kExitRefused = 2,      // the server refused or failed, or is not serving
  kExitUnreachable = 3,  // there is no server
};

// Where a command reads and writes.
struct Console {
  int in;  // file descriptor
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;  // if so, progress is shown
};

// The options of every command: which server, how to verify it, and which credentials to send.
class ServerFlags {
 public:
  void AddTo(CLI::App* command);

  // A client for that server; an error says what is wrong with a file or the token.
  absl::StatusOr<std::unique_ptr<TranslationClient>> Connect(const Console& console,
                                                             bool retry = true) const;

 private:
  absl::StatusOr<std::string> Token() const;

  std::string server_ = "127.0.0.1:50051";
  double deadline_seconds_ = 60.0;  // of each call; 0: none
  bool tls_ = false;
  std::string tls_ca_;
  std::string tls_cert_;
  std::string tls_key_;
  std::string tls_server_name_;
  std::string token_file_;
};

// --output text|json.
void AddOutputFlag(CLI::App* command, bool* json);

// --model, --source-language and --target-language.
class ModelFlags {
 public:
  void AddTo(CLI::App* command);

  // Sets them in any request that has such fields.
  template <typename Request>
  void Set(Request* request) const {
    request->set_model(model_);
    request->set_source_language(source_language_);
    request->set_target_language(target_language_);
  }

 private:
  std::string model_;
  std::string source_language_;
  std::string target_language_;
};

// --alignments, --alignment-threshold and --attention.
class AlignmentFlags {
 public:
  void AddTo(CLI::App* command);

  // Sets them in an OutputOptions or a ScoreRequest.
  template <typename Message>
  void Set(Message* message) const {
    message->set_alignments(alignments_ || attention_ || threshold_ > 0.0f);
    message->set_attention(attention_);
    if (threshold_ > 0.0f) message->set_alignment_threshold(threshold_);
  }

 private:
  bool alignments_ = false;
  bool attention_ = false;
  float threshold_ = 0.0f;  // 0: none
};

// The options of a translation: everything in a request except its texts.
class RequestFlags {
 public:
  void AddTo(CLI::App* command);
  // Sets in `request` what the command line sets; the server decides the rest.
  v1::TranslateRequest Request() const;

 private:
  ModelFlags model_;
  v1::TranslateRequest request_;
  bool truncate_ = false;
  std::optional<bool> split_sentences_;
};

// Tells a person at a terminal, who may have expected something else, that a command reads lines.
void SayThatLinesAreRead(const Console& console);

// Calls `print` for each of the texts or, without one, for each line of standard input, until one
// fails.
absl::Status ForEachText(const std::vector<std::string>& texts, const Console& console,
                         const std::function<absl::Status(const std::string& text)>& print);

// What a command ends with: its exit code, or what is wrong with the command line, or with a file
// that it names.
using Outcome = absl::StatusOr<ExitCode>;
// The exit code for it, after such an error was printed to the console's error stream.
ExitCode CodeOf(const Outcome& outcome, const Console& console);

// The message of a status.
std::string Text(const absl::Status& status);

// The server's error for people: lines with its code, its message and what else it says.
std::string DescribeError(const absl::Status& status);

// Prints the server's error to the console's error stream, and returns the exit code for it.
ExitCode ReportError(const Console& console, const absl::Status& status);

// ReportError for a failed translation.  Translations are sent only to servers that report SERVING,
// so this finds out whether a server is draining or still loading its models, and says so.
ExitCode ReportFailedTranslation(const Console& console, const absl::Status& status,
                                 TranslationClient* client);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_FLAGS_H_
