// dragoman verify: translates a saved request again and compares the answer with the saved one.

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/client_command.h"
#include "crypto/pem_files.h"
#include "crypto/receipt.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr char kVerifyDescription[] =
    "Translates a saved REQUEST again, and says whether the ANSWER that was given to it is equal.";
constexpr char kVerifyNotes[] =
    "\nBoth are files of JSON as the HTTP API has it.  The answer has a receipt if the request "
    "had\n"
    "\"output\": {\"receipt\": true}.  Exit codes: 0 equal; 1 different, or a file is wrong.";

struct VerifyFlags {
  ServerFlags server;
  std::string request;
  std::string answer;
};

template <typename Message>
absl::StatusOr<Message> ReadJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // of a later version
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &message, options);
  if (status.ok()) return message;
  return InvalidArgumentError(path, ": ",
                              std::string(status.message().data(), status.message().size()));
}

// An answer whose receipt is about something else proves nothing.
absl::Status CheckReceipt(const std::string& path, const v1::TranslateResponse& answer) {
  if (!answer.has_receipt()) {
    return InvalidArgumentError(
        path, " has no receipt, want the answer to a request with \"output\": {\"receipt\": true}");
  }
  if (answer.receipt().answer() != DigestOfAnswer(answer) ||
      answer.receipt().digest() != DigestOfReceipt(answer)) {
    return InvalidArgumentError(path, " was changed: its receipt is that of another answer");
  }
  return absl::OkStatus();
}

// Prints both, unless they are equal.
void Compare(const std::string& what, const std::string& saved, const std::string& now,
             std::ostream& out) {
  if (saved != now) out << what << ": was \"" << saved << "\", is \"" << now << "\"\n";
}

// Where the texts differ, with what follows there.
void CompareTexts(const std::string& what, const std::string& saved, const std::string& now,
                  std::ostream& out) {
  size_t same = 0;
  while (same < std::min(saved.size(), now.size()) && saved[same] == now[same]) ++same;
  // Back to the first byte of a character.
  const auto continues = [](char c) { return (c & 0xC0) == 0x80; };
  while (same > 0 && ((same < saved.size() && continues(saved[same])) ||
                      (same < now.size() && continues(now[same])))) {
    --same;
  }
  Compare(absl::StrCat(what, " from character ", CountCodePoints(saved.substr(0, same)), " on"),
          saved.substr(same), now.substr(same), out);
}

void CompareAnswers(const v1::TranslateResponse& saved, const v1::TranslateResponse& now,
                    std::ostream& out) {
  const int texts = std::min(saved.translations_size(), now.translations_size());
  for (int t = 0; t < texts; ++t) {
    const auto& was = saved.translations(t).hypotheses();
    const auto& is = now.translations(t).hypotheses();
    Compare(absl::StrCat("contents[", t, "], hypotheses"), std::to_string(was.size()),
            std::to_string(is.size()), out);
    for (int h = 0; h < std::min(was.size(), is.size()); ++h) {
      const std::string what = absl::StrCat("contents[", t, "], hypothesis ", h + 1);
      CompareTexts(what, was[h].text(), is[h].text(), out);
      if (was[h].text() != is[h].text()) continue;
      Compare(what + ", score", FieldOfScore(was[h].score()), FieldOfScore(is[h].score()), out);
    }
  }
}

// Prints what differs, and whether anything does.
ExitCode Judge(const v1::TranslateResponse& saved, const v1::TranslateResponse& now,
               const Console& console) {
  if (saved.receipt().digest() == now.receipt().digest()) {
    console.out << "equal: " << saved.receipt().digest() << std::endl;
    return kExitOk;
  }
  console.out << "different:\n";
  Compare("model_version", saved.model_version(), now.model_version(), console.out);
  Compare("isa", saved.isa(), now.isa(), console.out);
  Compare("request", saved.receipt().request(), now.receipt().request(), console.out);
  CompareAnswers(saved, now, console.out);
  console.out << std::flush;
  return kExitUsage;
}

Outcome RunVerify(const VerifyFlags& flags, const Console& console, TranslationClient* client) {
  ASSIGN_OR_RETURN(auto request, ReadJson<v1::TranslateRequest>(flags.request));
  ASSIGN_OR_RETURN(const auto saved, ReadJson<v1::TranslateResponse>(flags.answer));
  RETURN_IF_ERROR(CheckReceipt(flags.answer, saved));
  request.mutable_output()->set_receipt(true);
  const absl::StatusOr<v1::TranslateResponse> now = client->Translate(request);
  if (!now.ok()) return ReportFailedTranslation(console, now.status(), client);
  if (!now->has_receipt()) {
    return ReportError(console, absl::UnimplementedError("the server gives no receipts"));
  }
  return Judge(saved, *now, console);
}

}  // namespace

void AddVerifyCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] = AddClientCommand<VerifyFlags>(app, "verify", kVerifyDescription,
                                                              RunVerify, console, exit_code);
  command->footer(kVerifyNotes);
  command->add_option("REQUEST", flags->request, "the saved request")->required();
  command->add_option("ANSWER", flags->answer, "the saved answer")->required();
}

}  // namespace dragoman
