#include "client/file_translator.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/file_digest.h"
#include "crypto/pem_files.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// How many files are open, and how much text of them is sent or waits to be written, at a time.
constexpr size_t kFilesAtOnce = 16;
constexpr size_t kBytesAtOnce = 4 << 20;

std::string DigestOf(const Passage& passage) {
  return HexSha256(absl::StrCat(static_cast<int>(passage.markup), passage.text)).substr(0, 16);
}

// Words of the text outside of tags.
int64_t CountWords(const Passage& passage) {
  int64_t words = 0;
  bool in_word = false, in_tag = false;
  for (const char c : passage.text) {
    if (passage.markup != PassageMarkup::kNone && c == '<') in_tag = true;
    const bool letter = !in_tag && c != ' ' && c != '\n' && c != '\t' && c != '\r';
    words += letter && !in_word ? 1 : 0;
    in_word = in_tag ? in_word : letter;
    if (c == '>') in_tag = false;
  }
  return words;
}

// The error with `where` in front of it, unless it says so itself.
absl::Status In(const std::string& where, const absl::Status& status) {
  return absl::StrContains(status.message(), where) ? status : Annotate(status, where, ": ");
}

}  // namespace

// A file in progress, and its part that is being translated.
struct FileTranslator::Open {
  const FileToTranslate* file = nullptr;
  FileReport* report = nullptr;
  std::unique_ptr<Journal> journal;
  bool journal_checked = false;
  std::optional<PartLoop> parts;  // none: there will be no output, or it is there

  size_t bytes = 0;      // of the passages of this part
  double file_size = 0;  // in bytes
  int64_t end = 0;       // how many passages are sent up to the last one of this part

  std::string partial() const { return file->output + ".new"; }

  // How much of the file a passage is, in bytes.
  double Share(size_t passage) const {
    return file_size * static_cast<double>(parts->passages()[passage].text.size()) /
           static_cast<double>(std::max<size_t>(bytes, 1));
  }

  void Note(size_t passage, const PassageAnswer& answer) {
    parts->Take(passage, answer);
    report->faults += answer.faults;
    if (answer.is_untranslated()) ++report->untranslated;
    if (!answer.error.empty()) ++report->failed;
  }

  // There will be no output.  What is translated stays in the journal; without anything in it, that
  // goes, too.
  void Fail(const absl::Status& error) {
    if (report->error.ok()) report->error = error;
    parts.reset();
    std::error_code ignored;
    fs::remove(partial(), ignored);
    if (journal != nullptr && journal->empty()) journal->Remove();
  }
};

FileTranslator::FileTranslator(TranslationClient* client, const v1::TranslateRequest& request,
                               const FileTranslatorOptions& options, Progress* progress)
    : client_(client),
      request_(request),
      options_(options),
      progress_(progress),
      pipeline_(
          client, request,
          {.max_texts = 1,  // each passage is answered as soon as it is done
           .max_in_flight = 256,
           .bulk = true,
           .max_wait = options.max_wait,
           .skip_errors = true},
          [this](const TranslationPipeline::Translated& translated) { Deliver(translated); }) {}

FileTranslator::~FileTranslator() { pipeline_.Finish().IgnoreError(); }

absl::Status FileTranslator::Translate(const std::vector<FileToTranslate>& files,
                                       std::vector<FileReport>* reports) {
  reports->assign(files.size(), {});
  for (size_t i = 0; i < files.size(); ++i) {
    (*reports)[i].input = files[i].input;
    (*reports)[i].output = files[i].output;
    (*reports)[i].format = std::string(files[i].format->name);
  }
  std::deque<std::shared_ptr<Open>> row;
  size_t next = 0, bytes = 0;
  while (next < files.size() || !row.empty()) {
    std::shared_ptr<Open> open;
    if (next < files.size() && row.size() < kFilesAtOnce && bytes < kBytesAtOnce) {
      open = OpenFile(files[next], &(*reports)[next]);
      ++next;
    } else {
      open = std::move(row.front());
      row.pop_front();
      bytes -= open->bytes;
      RETURN_IF_ERROR(pipeline_.AwaitDelivered(open->end));
      if (const absl::Status status = WritePart(open.get()); !status.ok()) open->Fail(status);
    }
    bool more = false;
    RETURN_IF_ERROR(ReadPart(open, &more));
    if (!more) continue;
    bytes += open->bytes;
    row.push_back(std::move(open));
  }
  return pipeline_.Finish();
}

// An error is in the report, and the file has no parts.
std::shared_ptr<FileTranslator::Open> FileTranslator::OpenFile(const FileToTranslate& file,
                                                               FileReport* report) {
  auto open = std::make_shared<Open>();
  open->file = &file;
  open->report = report;
  const auto try_open = [&]() -> absl::Status {
    std::error_code error;
    const fs::path directory = fs::path(file.output).parent_path();
    if (!directory.empty()) fs::create_directories(directory, error);
    if (error) return UnavailableError(directory.string(), ": ", error.message());
    ASSIGN_OR_RETURN(const std::string digest, dragoman::DigestOf(file.input, DigestKind::kSha256));
    std::string what = absl::StrCat(digest, "\n", std::string(file.format->name), "\n",
                                    request_.SerializeAsString(), options_.document.encoding);
    for (const std::string& column : options_.document.columns)
      absl::StrAppend(&what, "\n", column);
    ASSIGN_OR_RETURN(open->journal, Journal::Open(file.output + ".part", HexSha256(what)));
    open->file_size = static_cast<double>(fs::file_size(file.input, error));
    DocumentOptions document = options_.document;
    document.warn = [report, input = file.input](const std::string& warning) {
      report->warnings.push_back(absl::StrCat(input, ", ", warning));
    };
    ASSIGN_OR_RETURN(std::unique_ptr<Document> opened,
                     OpenDocument(*file.format, file.input, open->partial(), document));
    open->parts.emplace(file.input, std::move(opened), [report](const std::string& warning) {
      report->warnings.push_back(warning);
    });
    return absl::OkStatus();
  };
  if (const absl::Status status = try_open(); !status.ok()) open->Fail(In(file.input, status));
  return open;
}

// Reads and sends the next part; `more` is whether there is one.  After the last one, the output
// gets its name.  An error is one of the pipeline.
absl::Status FileTranslator::ReadPart(const std::shared_ptr<Open>& open, bool* more) {
  *more = false;
  if (!open->parts.has_value()) return absl::OkStatus();
  const absl::StatusOr<bool> next = open->parts->Next();
  if (!next.ok()) {
    open->Fail(In(open->parts->Place(), next.status()));
    return absl::OkStatus();
  }
  if (*next) {
    *more = true;
    return SendPart(open);
  }
  open->parts.reset();
  std::error_code error;
  fs::rename(open->partial(), open->file->output, error);
  if (error) {
    open->Fail(UnavailableError(open->file->output, ": ", error.message()));
  } else {
    open->journal->Remove();
  }
  return absl::OkStatus();
}

absl::Status FileTranslator::SendPart(const std::shared_ptr<Open>& open) {
  const absl::Span<const Passage> passages = open->parts->passages();
  open->bytes = 0;
  for (const Passage& passage : passages) open->bytes += passage.text.size();
  if (!std::exchange(open->journal_checked, true)) RETURN_IF_ERROR(CheckJournal(open.get()));
  const v1::Literals literals = LiteralsOf(*open->file->format, request_.literals());
  for (size_t i = 0; i < passages.size(); ++i) {
    const Passage& passage = passages[i];
    if (passage.text.empty()) continue;
    ++open->report->segments;
    open->report->words += CountWords(passage);
    const std::optional<JournalEntry> known = open->journal->Take(DigestOf(passage));
    if (known.has_value()) {
      ++open->report->earlier;
      open->Note(i, known->answer);
      absl::MutexLock lock(&mutex_);
      ++earlier_;
      earlier_bytes_ += open->Share(i);
      continue;
    }
    {
      absl::MutexLock lock(&mutex_);
      waiting_.push_back({open, i});
    }
    ++sent_;
    RETURN_IF_ERROR(pipeline_.Add(passage.text, TextForm{MarkupOf(passage), literals}));
  }
  open->end = sent_;
  return pipeline_.Flush();
}

// The translations of an earlier run are used only if the server still gives the same: asks for the
// first one again.
absl::Status FileTranslator::CheckJournal(Open* open) {
  if (!open->journal->next().has_value()) return absl::OkStatus();
  const JournalEntry& entry = *open->journal->next();
  v1::TranslateRequest request = request_;
  const absl::Span<const Passage> passages = open->parts->passages();
  const Passage& passage =
      *absl::c_find_if(passages, [](const Passage& candidate) { return !candidate.text.empty(); });
  request.add_contents(passage.text);
  request.set_markup(MarkupOf(passage));
  request.set_literals(LiteralsOf(*open->file->format, request_.literals()));
  absl::StatusOr<v1::TranslateResponse> response = client_->Translate(request);
  if (response.ok() && VersionOf(*response) == entry.version) return absl::OkStatus();
  if (!response.ok() && !absl::IsInvalidArgument(response.status())) return response.status();
  open->report->warnings.push_back(
      absl::StrCat(open->file->input,
                   ": the model has changed since the earlier run, so this one starts again"));
  open->journal->Cut();
  return absl::OkStatus();
}

absl::Status FileTranslator::WritePart(Open* open) {
  RETURN_IF_ERROR(open->report->error);
  RETURN_IF_ERROR(open->journal->Flush());
  return In(open->file->input, open->parts->Write());
}

// On the pipeline's thread.
void FileTranslator::Deliver(const TranslationPipeline::Translated& translated) {
  Place place;
  {
    absl::MutexLock lock(&mutex_);
    place = std::move(waiting_.front());
    waiting_.pop_front();
    ++done_;
    done_bytes_ += place.open->Share(place.passage);
    ShowProgress();
  }
  Open& open = *place.open;
  if (!open.report->error.ok()) return;
  // A text that is too long stays as it is, and refuses no file.
  const bool stays = options_.skip_errors || absl::IsInvalidArgument(translated.status);
  if (!translated.status.ok() && !stays) {
    open.report->error = In(open.parts->At(place.passage), translated.status);
    open.report->refused = true;
    return;
  }
  const Passage& passage = open.parts->passages()[place.passage];
  const PassageAnswer answer = translated.status.ok()
                                   ? AnswerOf(passage, translated.translation)
                                   : PassageAnswer{.error = translated.status.ToString()};
  open.Note(place.passage, answer);
  open.journal->Add({DigestOf(passage), translated.version, answer});
  if (translated.last) open.journal->Flush().IgnoreError();  // the end of the part reports it
}

void FileTranslator::ShowProgress() {
  mutex_.AssertHeld();
  if (progress_ == nullptr) return;
  progress_->SetEarlier(earlier_, static_cast<int64_t>(earlier_bytes_));
  progress_->Update(done_, static_cast<int64_t>(done_bytes_), absl::Now());
}

std::string FileTranslator::FailedAt() {
  absl::MutexLock lock(&mutex_);
  return waiting_.empty() ? "" : waiting_.front().open->parts->At(waiting_.front().passage);
}

}  // namespace dragoman
