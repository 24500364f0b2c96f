#include "server/api/document_exchange.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

// What one document has in flight: enough for all rows of a server, but one of several callers.
constexpr BulkLimits kInFlight = {.items = 128, .bytes = 1 << 20};
// A passage that is refused is sent again after the time that the refusal gives, but not later.
constexpr absl::Duration kLongestDelay = absl::Seconds(2);
// How much more than the file may come out when it is unpacked.
constexpr size_t kUnpacked = 8;
constexpr size_t kSampleBytes = 4000;  // in which the language is detected
constexpr int kMostWarnings = 100;

v1::Markup ToProto(PassageMarkup markup) {
  switch (markup) {
    case PassageMarkup::kHtml:
      return v1::MARKUP_HTML;
    case PassageMarkup::kXml:
      return v1::MARKUP_XML;
    default:
      return v1::MARKUP_NONE;
  }
}

std::string NamesOfFormats() {
  std::string names;
  for (const DocumentFormat& format : DocumentFormats()) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(format.name));
  }
  return names;
}

// What a reader of the translation should know of it; null if nothing.
const char* WarningOf(const v1::Translation& translation) {
  if (translation.truncated()) return "a sentence was cut at the model's limit";
  switch (translation.hypotheses(0).finish_reason()) {
    case v1::FINISH_REASON_MAX_LENGTH:
      return "the translation may be incomplete";
    case v1::FINISH_REASON_REPETITION:
      return "the translation began to repeat itself and was cut off";
    default:
      return nullptr;
  }
}

// The beginning of a text, of whole characters.
std::string_view BeginningOf(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

// A part of the file that is being translated.
struct DocumentExchange::Part {
  std::string place;  // "report.docx, word/document.xml"
  std::string name;
  std::vector<Passage> passages;
  std::vector<std::string> translations;
  std::deque<size_t> to_send;
  std::multimap<absl::Time, size_t> refused;  // to be sent again at this time
  size_t done = 0;

  std::string At(size_t passage) const {
    return absl::StrCat(place, ", line ", passages[passage].line);
  }
};

DocumentExchange::DocumentExchange(const ServerParts* parts, Caller caller,
                                   std::function<void()> ready)
    : parts_(parts), caller_(std::move(caller)), ready_(std::move(ready)) {}

void DocumentExchange::Start() {
  const auto on_news = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnNews();
  };
  bulk_ = std::make_shared<BulkExchange>(parts_, std::move(caller_), on_news, kInFlight,
                                         "TranslateDocument");
  bulk_->Start();
}

void DocumentExchange::OnNews() {
  bool working = false;
  {
    absl::MutexLock lock(&mutex_);
    news_ = true;
    working = stage_ == Stage::kWorking;
  }
  if (!working) ready_();  // otherwise it is news for the working thread
}

// ---- Receiving ---------------------------------------------------------------------------------

bool DocumentExchange::HasRoom() {
  absl::MutexLock lock(&mutex_);
  return stage_ == Stage::kReceiving && bulk_->reads();
}

void DocumentExchange::Add(absl::StatusOr<v1::TranslateDocumentRequest> message) {
  absl::Status status = message.status();
  if (status.ok()) status = Receive(*message);
  if (!status.ok()) bulk_->NoMore(status);
}

absl::Status DocumentExchange::Receive(const v1::TranslateDocumentRequest& message) {
  if (message.has_header()) {
    if (std::exchange(has_header_, true)) return InvalidField("header", "came twice");
    header_ = message.header();
    RETURN_IF_ERROR(CheckHeader().status());
    ASSIGN_OR_RETURN(ticket_, parts_->documents->Enter());
    ASSIGN_OR_RETURN(input_, Spool::New(0));
    return absl::OkStatus();
  }
  if (!has_header_) return InvalidField("header", "is missing: it is the first message");
  const size_t most = parts_->documents->limits().max_bytes;
  if (const size_t size = input_->size() + message.chunk().size(); size > most) {
    return MessageTooLarge(size, most);
  }
  return input_->Append(message.chunk());
}

void DocumentExchange::NoMore(const absl::Status& status) {
  if (status.ok() && has_header_) return BeginWork(nullptr);
  bulk_->NoMore(status.ok() ? InvalidField("header", "is missing") : status);
}

void DocumentExchange::Work(ReadFile read) { BeginWork(std::move(read)); }

std::optional<std::string> DocumentExchange::principal() const { return bulk_->principal(); }

void DocumentExchange::BeginWork(ReadFile read) {
  if (!bulk_->reads()) return;  // Next tells why
  {
    absl::MutexLock lock(&mutex_);
    stage_ = Stage::kWorking;
  }
  parts_->documents->Run([self = shared_from_this(), act = std::move(read)] { self->DoWork(act); });
}

// ---- Working -----------------------------------------------------------------------------------

void DocumentExchange::DoWork(const ReadFile& read) {
  const absl::Status status = TranslateFile(read);
  input_ = nullptr;
  FinishCall(status);
}

absl::StatusOr<const DocumentFormat*> DocumentExchange::CheckHeader() const {
  const v1::TranslateRequest& request = header_.request();
  const char* const set = request.contents_size() > 0          ? "contents"
                          : request.markup() > v1::MARKUP_NONE ? "markup"
                          : request.target_prefixes_size() > 0 ? "target_prefixes"
                                                               : nullptr;
  if (set != nullptr) {
    return InvalidField(absl::StrCat("header.request.", set), "is set: the file has the text");
  }
  const bool named = !header_.format().empty();
  const std::string& name = named ? header_.format() : header_.file_name();
  if (const DocumentFormat* const format = FindDocumentFormat(name)) return format;
  return InvalidField(
      named ? "header.format" : "header.file_name",
      absl::StrCat("\"", name.substr(0, 100), "\" is of no known format, want ", NamesOfFormats()));
}

absl::Status DocumentExchange::TranslateFile(const ReadFile& read) {
  if (read != nullptr) {
    ASSIGN_OR_RETURN(ticket_, parts_->documents->Enter());
    ASSIGN_OR_RETURN(input_, read(&header_));
  }
  ASSIGN_OR_RETURN(const DocumentFormat* const format, CheckHeader());
  report_.set_source_language(header_.request().source_language());
  report_.set_format(std::string(format->name));
  report_.set_media_type(std::string(format->media_type));
  const std::string& target = header_.request().target_language();
  const std::string name = std::filesystem::path(header_.file_name()).filename().string();
  report_.set_file_name(TranslatedName(
      name.empty() ? absl::StrCat("document", std::string(format->suffixes[0])) : name,
      target.empty() ? "translated" : target));
  if (const size_t most = parts_->documents->limits().max_bytes; input_->size() > most) {
    return MessageTooLarge(input_->size(), most);
  }
  ASSIGN_OR_RETURN(output_, Spool::New(2 * input_->size()));
  const size_t unpacked = kUnpacked * parts_->documents->limits().max_bytes;
  const DocumentOptions options = {.source_language = header_.request().source_language(),
                                   .target_language = target,
                                   .columns = {header_.columns().begin(), header_.columns().end()},
                                   .max_part_bytes = most,
                                   .max_total_bytes = most};
  absl::StatusOr<std::unique_ptr<Document>> document =
      OpenDocument(*format, input_->path(), output_->path(), options);
  absl::Status status = document.status();
  if (status.ok()) status = TranslateParts(document->get());
  // The spool's path means nothing to the caller.
  const std::string message = absl::StrReplaceAll(
      status.message(), {{input_->path(), FileName()}, {output_->path(), "the output"}});
  if (message == status.message()) return status;
  return absl::Status(status.code(), message);
}

absl::Status DocumentExchange::TranslateParts(Document* document) {
  for (bool first = true;; first = false) {
    absl::StatusOr<std::optional<std::vector<Passage>>> passages = document->Next();
    Part part;
    part.name = std::string(document->part());
    part.place = FileName();
    if (!part.name.empty()) absl::StrAppend(&part.place, ", ", part.name);
    if (!passages.ok()) return Annotate(passages.status(), part.place + ": ");
    if (!passages->has_value()) return absl::OkStatus();
    part.passages = **std::move(passages);
    if (first) RETURN_IF_ERROR(DetectSource(part.passages));
    RETURN_IF_ERROR(TranslatePart(&part));
    RETURN_IF_ERROR(document->Write(part.translations));
  }
}

// Once for the whole file: a heading of two words says little.
absl::Status DocumentExchange::DetectSource(const std::vector<Passage>& passages) {
  if (!IsAuto(header_.request().source_language())) return absl::OkStatus();
  const auto limit = static_cast<size_t>(parts_->models->limits().max_characters);
  const size_t most = std::min(kSampleBytes, limit);
  std::string sample;
  v1::TranslateRequest request = header_.request();
  for (const Passage& passage : passages) {
    if (sample.size() + 1 >= most) break;
    sample += BeginningOf(passage.text, most - sample.size() - 1);
    sample += '\n';
    if (passage.markup != PassageMarkup::kNone) request.set_markup(v1::MARKUP_HTML);
  }
  request.add_contents(std::move(sample));
  TranslateTask task(parts_);
  RETURN_IF_ERROR(task.Prepare(std::move(request)));
  if (!task.detected().has_value()) return absl::OkStatus();
  const SourceGroup& group = task.detected()->groups.front();
  report_.set_source_language(task.detected()->texts.front().language);
  // In the target language already: then passages in other languages may be translated.
  if (group.route.has_value()) header_.mutable_request()->set_source_language(group.language);
  return absl::OkStatus();
}

absl::Status DocumentExchange::TranslatePart(Part* part) {
  part->translations.resize(part->passages.size());
  for (size_t i = 0; i < part->passages.size(); ++i) {
    part->to_send.push_back(i);
    report_.set_characters(report_.characters() + CountCodePoints(part->passages[i].text));
  }
  report_.set_passages(report_.passages() + static_cast<int64_t>(part->passages.size()));
  NoteProgress(*part);
  while (part->done < part->passages.size()) {
    const bool sent = SendPassages(part);
    const BulkEvent event = bulk_->Next();
    if (event.end.has_value()) {
      bulk_end_ = event.end;
      return event.end->status;
    }
    if (event.message.has_value()) {
      v1::TranslateBulkResponse answer;
      if (!answer.ParseFromString(*event.message)) return absl::InternalError("a lost answer");
      RETURN_IF_ERROR(TakeAnswer(answer, part));
      NoteProgress(*part);
    } else if (!sent) {
      AwaitNews(part->refused.empty() ? absl::InfiniteFuture() : part->refused.begin()->first);
    }
  }
  return absl::OkStatus();
}

// Whether any was sent.
bool DocumentExchange::SendPassages(Part* part) {
  const absl::Time now = absl::Now();
  while (!part->refused.empty() && part->refused.begin()->first <= now) {
    part->to_send.push_front(part->refused.begin()->second);
    part->refused.erase(part->refused.begin());
  }
  bool any = false;
  for (; !part->to_send.empty() && bulk_->HasRoom(); any = true) {
    const size_t i = part->to_send.front();
    part->to_send.pop_front();
    v1::TranslateRequest request = header_.request();
    request.add_contents(part->passages[i].text);
    request.set_markup(ToProto(part->passages[i].markup));
    const size_t bytes = part->passages[i].text.size();
    bulk_->Add({.id = absl::StrCat(i), .request = std::move(request), .bytes = bytes});
  }
  return any;
}

absl::Status DocumentExchange::TakeAnswer(const v1::TranslateBulkResponse& answer, Part* part) {
  size_t passage = 0;
  if (!absl::SimpleAtoi(answer.id(), &passage)) return absl::InternalError("an answer without id");
  if (answer.has_error()) return TakeError(answer.error(), passage, part);
  const v1::Translation& translation = answer.response().translations(0);
  part->translations[passage] = translation.hypotheses(0).text();
  ++part->done;
  report_.set_model(answer.response().model());
  report_.set_model_version(answer.response().model_version());
  report_.set_isa(answer.response().isa());
  if (const char* const warning = WarningOf(translation)) {
    Warn(absl::StrCat(part->At(passage), ": ", warning));
  }
  return absl::OkStatus();
}

absl::Status DocumentExchange::TakeError(const v1::Error& error, size_t passage, Part* part) {
  const absl::Status status(static_cast<absl::StatusCode>(error.code()), error.message());
  if (absl::IsResourceExhausted(status) && error.has_retry_delay()) {
    const absl::Duration delay = absl::Seconds(error.retry_delay().seconds()) +
                                 absl::Nanoseconds(error.retry_delay().nanos());
    part->refused.emplace(absl::Now() + std::min(delay, kLongestDelay), passage);
    return absl::OkStatus();
  }
  const bool of_text = absl::StartsWith(error.field(), "contents") || absl::IsInternal(status);
  if (!of_text && error.field().empty()) return status;
  if (!of_text) return InvalidField("header.request." + error.field(), error.message());
  if (!header_.skip_errors()) return Annotate(status, part->At(passage) + ": ");
  part->translations[passage] = part->passages[passage].text;
  ++part->done;
  report_.set_untranslated_passages(report_.untranslated_passages() + 1);
  Warn(absl::StrCat(part->At(passage), ": ", error.message()));
  return absl::OkStatus();
}

void DocumentExchange::Warn(const std::string& warning) {
  if (report_.warnings_size() < kMostWarnings) report_.add_warnings(warning);
}

// Tells of the beginning and the end of a part, and of every hundredth of what is known between.
void DocumentExchange::NoteProgress(const Part& part) {
  const int64_t known = report_.passages();
  const int64_t done =
      known - static_cast<int64_t>(part.passages.size()) + static_cast<int64_t>(part.done);
  const int64_t step = std::max<int64_t>(known / 100, 1);
  if (part.done > 0 && part.done < part.passages.size() && done % step != 0) return;
  {
    absl::MutexLock lock(&mutex_);
    progress_.emplace();
    progress_->set_passages_done(done);
    progress_->set_passages_known(known);
    progress_->set_part(part.name);
  }
  ready_();
}

// Waits for an event of the bulk exchange; or until a passage may be tried again.
void DocumentExchange::AwaitNews(absl::Time until) {
  const bool retry = bulk_->WantsRetry();
  if (retry) until = std::min(until, absl::Now() + BulkExchange::kRetryDelay);
  {
    absl::MutexLock lock(&mutex_);
    mutex_.AwaitWithDeadline(absl::Condition(&news_), until);
    news_ = false;
  }
  if (retry && bulk_->WantsRetry()) bulk_->Retry();
}

// Ends the bulk call; what is still in flight after an error is answered to nobody.
void DocumentExchange::FinishCall(const absl::Status& status) {
  bulk_->NoMore(status);
  while (!bulk_end_.has_value()) {
    BulkEvent event = bulk_->Next();
    if (event.end.has_value()) {
      bulk_end_ = std::move(event.end);
    } else if (!event.message.has_value()) {
      AwaitNews(absl::InfiniteFuture());
    }
  }
  if (!bulk_end_->status.ok()) output_ = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    stage_ = bulk_end_->status.ok() ? Stage::kSending : Stage::kEnded;
    end_ = std::move(bulk_end_);
    if (stage_ == Stage::kEnded) progress_.reset();
  }
  ready_();
}

// ---- Sending -----------------------------------------------------------------------------------

DocumentEvent DocumentExchange::Next() {
  DocumentEvent event;
  Stage stage;
  {
    absl::MutexLock lock(&mutex_);
    stage = stage_;
    if (progress_.has_value()) {
      *event.message.emplace().mutable_progress() = *std::exchange(progress_, std::nullopt);
      return event;
    }
    if (cancelled_ && stage == Stage::kSending) stage = stage_ = Stage::kEnded;
    if (stage == Stage::kEnded) event.end = std::exchange(end_, std::nullopt);
    // It was refused, cancelled or cut off by a drain.  Not once the work has begun.
    if (stage == Stage::kReceiving) event.end = bulk_->Next().end;
  }
  if (stage != Stage::kSending) return event;
  if (output_ != nullptr && sent_ < output_->size()) {
    absl::StatusOr<std::string> chunk = output_->Read(sent_, kChunkBytes);
    if (chunk.ok()) {
      sent_ += chunk->size();
      event.message.emplace().set_chunk(*std::move(chunk));
      return event;
    }
    absl::MutexLock lock(&mutex_);
    end_->status = chunk.status();
  } else if (!std::exchange(reported_, true)) {
    *event.message.emplace().mutable_report() = report_;
    return event;
  }
  absl::MutexLock lock(&mutex_);
  stage_ = Stage::kEnded;
  event.end = std::exchange(end_, std::nullopt);
  return event;
}

std::shared_ptr<Spool> DocumentExchange::TakeOutput() {
  ticket_ = nullptr;
  return std::exchange(output_, nullptr);
}

void DocumentExchange::Cancel() {
  {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }
  bulk_->Cancel();
}

}  // namespace dragoman
