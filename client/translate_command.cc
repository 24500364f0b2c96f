// dragoman translate: translates texts from the command line, standard input or a file, to standard
// output or a file.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/commands.h"
#include "client/json.h"
#include "client/line_reader.h"
#include "client/output_file.h"
#include "client/pipeline.h"
#include "client/progress.h"
#include "engine/base/not_copyable.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kTranslateDescription[] =
    "Translates each TEXT or, without one, each line of standard input or of --input.";
constexpr char kTranslateNotes[] =
    "\nThe order is kept.  Text output is a line per translation: with --num-hypotheses N, N "
    "lines\n"
    "per text (json is easier to read then).  JSON output is an object per text, on a line of its\n"
    "own.  -- before a TEXT that begins with a dash.\n"
    "With --markup html or xml, or an --input whose name ends in .html, .htm or .xml, the input "
    "is\n"
    "one text, and its translation is written as it is.\n"
    "\n"
    "A long file, which may be stopped and resumed:\n"
    "  dragoman translate --input english.txt --resume german.txt";

struct TranslateFlags {
  ServerFlags server;
  RequestFlags request;
  AlignmentFlags alignment;
  bool json = false;
  std::string input;
  std::string resume;
  std::optional<double> max_wait_seconds;
  bool stream = false;
  PipelineOptions pipeline;
  std::vector<std::string> texts;
};

// The translation of a line as a single line, whatever it contains.
std::string OneLine(std::string text) {
  absl::c_replace(text, '\n', ' ');
  absl::c_replace(text, '\r', ' ');
  return text;
}

// What a file with this name is written in.
v1::Markup MarkupOf(const std::string& name) {
  if (name.ends_with(".html") || name.ends_with(".htm")) return v1::MARKUP_HTML;
  return name.ends_with(".xml") ? v1::MARKUP_XML : v1::MARKUP_UNSPECIFIED;
}

// One run of the command.
class Translation : private NotCopyable {
 public:
  Translation(const TranslateFlags& flags, const Console& console)
      : flags_(flags), console_(console), in_(console.in) {}
  ~Translation() {
    if (in_ >= 0 && in_ != console_.in) close(in_);
  }

  Outcome Run() {
    v1::TranslateRequest request = flags_.request.Request();
    request.mutable_output()->set_tokens(flags_.json);
    request.mutable_output()->set_quality(flags_.json);
    flags_.alignment.Set(request.mutable_output());
    if (request.markup() == v1::MARKUP_UNSPECIFIED) request.set_markup(MarkupOf(flags_.input));
    document_ = flags_.texts.empty() && request.markup() > v1::MARKUP_NONE;
    RETURN_IF_ERROR(CheckFlags(request));
    ASSIGN_OR_RETURN(const auto client, flags_.server.Connect(console_));
    RETURN_IF_ERROR(OpenFiles());
    if (flags_.texts.empty() && flags_.input.empty()) SayThatLinesAreRead(console_);
    return flags_.stream ? RunStream(request, client.get()) : RunPipeline(request, client.get());
  }

 private:
  absl::Status OpenFiles() {
    if (!flags_.input.empty()) {
      in_ = open(flags_.input.c_str(), O_RDONLY | O_CLOEXEC);
      if (in_ < 0) {
        return NotFoundError(flags_.input, ": ", std::strerror(errno));
      }
    }
    if (!flags_.resume.empty()) {
      ASSIGN_OR_RETURN(file_, ResumeOutputFile(flags_.resume));
    }
    const bool watched = console_.err_is_terminal && flags_.texts.empty() &&
                         (file_.stream != nullptr || !isatty(STDOUT_FILENO));
    if (watched) {
      struct stat status = {};
      const bool known = fstat(in_, &status) == 0 && S_ISREG(status.st_mode);
      progress_.emplace(&console_.err, known ? status.st_size : 0, absl::Now());
    }
    return absl::OkStatus();
  }

  absl::Status ReadTexts(TranslationPipeline* pipeline) {
    for (const std::string& text : flags_.texts) RETURN_IF_ERROR(pipeline->Add(text));
    return absl::OkStatus();
  }

  // Users who type get an answer to each line: the collected texts are sent before waiting for the
  // next one.  A line that is too long is one that fails; an earlier run may have skipped it.
  absl::Status ReadLines(TranslationPipeline* pipeline) {
    LineReader reader(in_, kMaxLineBytes);
    for (int64_t line = 0;; ++line) {
      if (line == file_.lines && progress_.has_value()) {
        progress_->Skip(line, reader.bytes(), absl::Now());
      }
      if (!reader.Ready()) RETURN_IF_ERROR(pipeline->Flush());
      absl::StatusOr<std::optional<std::string>> text = reader.Next();
      const bool done = line < file_.lines;
      if (absl::IsInvalidArgument(text.status()) && (done || flags_.pipeline.skip_errors)) {
        if (done) continue;
        RETURN_IF_ERROR(
            pipeline->AddFailed(absl::StrCat("the line has more than ", kMaxLineBytes, " bytes")));
        continue;
      }
      RETURN_IF_ERROR(text.status());
      if (!text->has_value()) {
        if (!done) return absl::OkStatus();
        return InvalidArgumentError(flags_.resume, " has ", file_.lines,
                                    " lines, more than the input (", line, ")");
      }
      if (!done) RETURN_IF_ERROR(pipeline->Add(**std::move(text)));
    }
  }

  absl::Status ReadDocument(TranslationPipeline* pipeline) {
    std::string document;
    char bytes[1 << 16];
    ssize_t size = 0;
    while ((size = read(in_, bytes, sizeof(bytes))) != 0) {
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) {
        return UnavailableError("cannot read: ", std::strerror(errno));
      }
      document.append(bytes, static_cast<size_t>(size));
      if (document.size() > kMaxLineBytes) {
        return InvalidArgumentError("the input has more than ", kMaxLineBytes, " bytes");
      }
    }
    return pipeline->Add(std::move(document));
  }

  void Deliver(const TranslationPipeline::Translated& translated) {
    if (!translated.status.ok()) {
      ++skipped_;
      if (progress_.has_value()) progress_->Clear();
      console_.err << "dragoman: skipped " << NameOf(translated.place) << ": "
                   << translated.status.ToString() << "\n";
    }
    if (flags_.json) {
      out() << ToLine(translated.status.ok()
                          ? ToJson(translated.source, translated.translation, translated.model)
                          : ToJson(translated.source, translated.status))
            << "\n";
    } else if (!translated.status.ok()) {
      out() << "\n";
    } else if (document_) {
      out() << translated.translation.hypotheses(0).text();
    } else {
      for (const v1::Hypothesis& hypothesis : translated.translation.hypotheses()) {
        out() << Written(hypothesis.text()) << "\n"
              << AlignedWords(translated.source, hypothesis.text(), hypothesis.aligned_text());
      }
    }
    if (translated.last) out().flush();
    delivered_bytes_ += static_cast<int64_t>(translated.source.size()) + 1;
    if (progress_.has_value()) {
      progress_->Update(translated.place + 1, delivered_bytes_, absl::Now());
    }
  }

  std::ostream& out() { return file_.stream == nullptr ? console_.out : *file_.stream; }
  // A text of the command line keeps its lines; that of a line is one.
  std::string Written(std::string text) const {
    return flags_.texts.empty() ? OneLine(std::move(text)) : text;
  }
  // "line 12" or "text 12", for the text at `place`, counted from 0 in this run.
  std::string NameOf(int64_t place) const {
    return absl::StrCat(flags_.texts.empty() ? "line " : "text ", file_.lines + place + 1);
  }

  ExitCode ReportFailure(const absl::Status& status, TranslationPipeline::Failure failure,
                         TranslationClient* client) {
    const ExitCode code = ReportFailedTranslation(console_, status, client);
    if (flags_.texts.size() != 1) {
      console_.err << "  at " << NameOf(failure.first);
      if (failure.last != failure.first) {
        console_.err << ", or after it up to " << NameOf(failure.last);
      }
      console_.err << "\n";
    }
    return code;
  }

  // INVALID_ARGUMENT if two flags exclude each other.
  absl::Status CheckFlags(const v1::TranslateRequest& request) const {
    if (flags_.stream && (flags_.json || request.output().alignments())) {
      return absl::InvalidArgumentError("--stream writes text: neither json nor alignments");
    }
    if (document_ && (flags_.stream || !flags_.resume.empty())) {
      return absl::InvalidArgumentError(
          "an input with markup is one text: neither --stream nor --resume");
    }
    const bool several = request.options().num_hypotheses() > 1 || request.output().alignments();
    if (!flags_.resume.empty() && !flags_.json && several) {
      return absl::InvalidArgumentError(
          "--resume counts lines, and --num-hypotheses or --alignments makes several of a text: "
          "use --output json");
    }
    return absl::OkStatus();
  }

  Outcome RunPipeline(const v1::TranslateRequest& request, TranslationClient* client) {
    PipelineOptions options = flags_.pipeline;
    if (flags_.texts.empty()) {  // each line gets its answer at once
      options.bulk = true;
      options.max_texts = 1;
      options.max_in_flight = 256;
    }
    const double patience = flags_.texts.empty() ? 60.0 : 0.0;
    options.max_wait = absl::Seconds(flags_.max_wait_seconds.value_or(patience));
    TranslationPipeline pipeline(
        client, request, options,
        [this](const TranslationPipeline::Translated& translated) { Deliver(translated); });
    const absl::Status read = !flags_.texts.empty() ? ReadTexts(&pipeline)
                              : document_           ? ReadDocument(&pipeline)
                                                    : ReadLines(&pipeline);
    const absl::Status status = pipeline.Finish();
    if (progress_.has_value()) progress_->Clear();
    if (!status.ok()) return ReportFailure(status, pipeline.failure(), client);
    RETURN_IF_ERROR(read);
    if (!out().flush()) return absl::UnavailableError("cannot write the output");
    if (skipped_ > 0) {
      console_.err << "dragoman: " << skipped_ << " skipped\n";
      return kExitRefused;
    }
    return kExitOk;
  }

  Outcome RunStream(const v1::TranslateRequest& request, TranslationClient* client) {
    LineReader reader(in_, kMaxLineBytes);
    for (size_t i = 0;; ++i) {
      std::optional<std::string> text;
      if (!flags_.texts.empty()) {
        if (i < flags_.texts.size()) text = flags_.texts[i];
      } else if (auto line = reader.Next(); line.ok()) {
        text = *std::move(line);
      } else {
        return line.status();
      }
      if (!text.has_value()) return kExitOk;
      if (const absl::Status status = StreamText(request, *text, client); !status.ok()) {
        const auto place = static_cast<int64_t>(i);
        return ReportFailure(status, {place, place}, client);
      }
    }
  }

  // Writes the words of a translation as they become certain, then the end of the line.
  absl::Status StreamText(v1::TranslateRequest request, const std::string& text,
                          TranslationClient* client) {
    request.add_contents(text);
    bool any = false;
    const absl::Status status =
        client->TranslateStream(request, [&](const v1::TranslateStreamResponse& message) {
          if (message.has_stable_text()) {
            any = true;
            out() << Written(message.stable_text()) << std::flush;
          } else if (message.has_translation()) {
            any = false;
            out() << "\n" << std::flush;
          }
          return out().good();
        });
    if (any) out() << "\n" << std::flush;  // it stopped in the middle of a line
    if (!out().good()) return absl::UnavailableError("cannot write the output");
    return status;
  }

  const TranslateFlags& flags_;
  const Console& console_;
  int in_;
  OutputFile file_;  // without a stream: standard output
  std::optional<Progress> progress_;
  bool document_ = false;  // the input is one text, in a markup
  int64_t skipped_ = 0;
  int64_t delivered_bytes_ = 0;
};

}  // namespace

void AddTranslateCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<TranslateFlags>();
  CLI::App* command =
      app->add_subcommand("translate", kTranslateDescription)->footer(kTranslateNotes);
  flags->server.AddTo(command);
  flags->request.AddTo(command);
  flags->alignment.AddTo(command);
  AddOutputFlag(command, &flags->json);
  CLI::Option* texts = command->add_option("TEXT", flags->texts, "what to translate");
  command->add_option("--input", flags->input, "FILE with a text per line")->excludes(texts);
  command
      ->add_option("--resume", flags->resume,
                   "FILE to write; continues after the lines that an earlier run has left there")
      ->excludes(texts);
  CLI::Option* resume = command->get_option("--resume");
  command
      ->add_flag("--stream", flags->stream,
                 "write each word as soon as it is certain, one text after the other (as text)")
      ->excludes(resume);
  command->add_flag("--skip-errors", flags->pipeline.skip_errors,
                    "skip texts that fail (an empty line, or the error as json)");
  command
      ->add_option("--max-wait", flags->max_wait_seconds,
                   "seconds to keep retrying while the server is busy, or unreachable after it has "
                   "answered before (60; with TEXT 0)")
      ->check(CLI::NonNegativeNumber);
  command->callback([flags, &console, exit_code] {
    *exit_code = CodeOf(Translation(*flags, console).Run(), console);
  });
}

}  // namespace dragoman
