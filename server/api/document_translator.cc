#include "server/api/document_translator.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "crypto/pem_files.h"
#include "engine/base/heap.h"
#include "engine/base/limit.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/api/document_desk.h"
#include "server/api/glossaries.h"
#include "server/base/errors.h"

namespace dragoman {
namespace {

// A passage that is refused is sent again after the time that the refusal gives, but not later.
constexpr absl::Duration kLongestDelay = absl::Seconds(2);
// How much more than the file may come out when it is unpacked.
constexpr size_t kUnpacked = 8;
// How much more memory than the file its parts may take, and what every file may; and what is taken
// besides: the file that is one part, what it was decoded from, and what is written.
constexpr size_t kMemory = 12, kLeastMemory = 48 << 20, kCopies = 3;
constexpr size_t kSampleBytes = 4000;  // in which the language is detected
constexpr int kMostWarnings = 100;

std::string DigestOf(const std::string& bytes) { return HexSha256(bytes).substr(0, 32); }

// An error of the file, as callers see it.  What others have a limit for was not the file's fault.
absl::Status OfDocument(absl::Status status) {
  if (absl::IsResourceExhausted(status) && LimitOf(status).empty()) {
    return DocumentTooLarge(std::move(status));
  }
  if (absl::IsInternal(status)) return ShownToClients(std::move(status));
  return status;
}

}  // namespace

absl::StatusOr<const DocumentFormat*> CheckHeader(const v1::DocumentHeader& header) {
  const v1::TranslateRequest& request = header.request();
  const char* const set = request.contents_size() > 0          ? "contents"
                          : request.markup() > v1::MARKUP_NONE ? "markup"
                          : request.target_prefixes_size() > 0 ? "target_prefixes"
                                                               : nullptr;
  if (set != nullptr) {
    return InvalidField(absl::StrCat("header.request.", set), "is set: the file has the text");
  }
  const bool named = !header.format().empty();
  const std::string& name = named ? header.format() : header.file_name();
  if (const DocumentFormat* const format = FindDocumentFormat(name)) return format;
  return InvalidField(named ? "header.format" : "header.file_name", "\"",
                      std::string(BeginningOf(name, 100)), "\" is of no known format, want ",
                      DocumentFormatNames());
}

// The part of the file that is being translated.
struct DocumentTranslator::Part {
  PartLoop* loop = nullptr;
  std::deque<size_t> to_send;
  std::multimap<absl::Time, size_t> refused;  // to be sent again at this time
  size_t texts = 0, done = 0;                 // passages that are translated
  std::vector<std::string> keys;              // in the journal
};

absl::StatusOr<std::shared_ptr<Spool>> DocumentTranslator::Translate(v1::DocumentHeader header,
                                                                     const Spool& input,
                                                                     const std::string& holder,
                                                                     PassageJournal journal) {
  header_ = std::move(header);
  journal_ = std::move(journal);
  header_.mutable_request()->clear_output();  // what else there is goes nowhere
  header_.mutable_request()->mutable_output()->set_quality(true);
  ASSIGN_OR_RETURN(const DocumentFormat* const format, CheckHeader(header_));
  header_.mutable_request()->set_literals(LiteralsOf(*format, header_.request().literals()));
  RETURN_IF_ERROR(bulk_->Judge(header_.request()));
  TakeGlossary();
  const size_t most = parts_->documents->limits().max_bytes;
  if (input.size() > most) return MessageTooLarge(input.size(), most);
  report_.set_source_language(header_.request().source_language());
  report_.set_format(std::string(format->name));
  report_.set_media_type(std::string(format->media_type));
  const std::string& target = header_.request().target_language();
  const std::string name = std::filesystem::path(header_.file_name()).filename().string();
  report_.set_file_name(TranslatedName(
      name.empty() ? absl::StrCat("document", std::string(format->suffixes[0])) : name,
      target.empty() ? "translated" : target));
  const size_t copies = kCopies * input.size();
  const size_t budget =
      parts_->documents->limits().memory / 2;  // nobody has more (shared_budget.h)
  ASSIGN_OR_RETURN(memory_, parts_->documents->TakeMemory(holder, copies));
  ASSIGN_OR_RETURN(output_, parts_->documents->NewSpool(holder, 2 * input.size()));
  const auto reserve = [&](size_t bytes) {
    return memory_.Raise((counted_ = copies + bytes) + longer_);
  };
  const DocumentOptions options = {.source_language = header_.request().source_language(),
                                   .target_language = target,
                                   .encoding = header_.encoding(),
                                   .columns = {header_.columns().begin(), header_.columns().end()},
                                   .max_part_bytes = kUnpacked * most,
                                   .max_total_bytes = kUnpacked * most,
                                   .max_memory = std::min(std::max(kMemory * most, kLeastMemory),
                                                          budget - std::min(budget, copies)),
                                   .reserve = reserve,
                                   .wanted = [this]() -> absl::Status {
                                     RETURN_IF_ERROR(bulk_->Wanted());
                                     return turn_->Continue();
                                   },
                                   .warn = [this](const std::string& what) { Warn(what); }};
  turn_.emplace(parts_->pool->preparing(), bulk_->principal().value_or(""),
                [this](absl::Time) { return bulk_->Wanted(); });
  absl::StatusOr<std::unique_ptr<Document>> document =
      InTurns([&] { return OpenDocument(*format, input.path(), output_->path(), options); });
  absl::Status status = OfDocument(document.status());
  if (status.ok()) status = TranslateParts(*std::move(document));
  if (status.ok()) return std::move(output_);
  // The spool's path means nothing to the caller.
  const std::string message = absl::StrReplaceAll(
      status.message(), {{input.path(), FileName()}, {output_->path(), "the output"}});
  if (message == status.message()) return status;
  return absl::Status(status.code(), message);
}

template <typename Work>
auto DocumentTranslator::InTurns(const Work& work) -> decltype(work()) {
  RETURN_IF_ERROR(turn_->Begin());
  auto done = work();
  turn_->End();
  return done;
}

// Once for all passages.
void DocumentTranslator::TakeGlossary() {
  if (header_.request().options().glossary().empty()) return;
  v1::DecodingOptions* const options = header_.mutable_request()->mutable_options();
  glossary_digest_ = DigestOf(options->SerializeAsString());
  std::vector<GlossaryEntry> entries;
  for (const v1::GlossaryEntry& entry : options->glossary()) entries.push_back(EntryFrom(entry));
  glossary_ = std::make_shared<SharedGlossary>(std::move(entries));
  google::protobuf::RepeatedPtrField<v1::GlossaryEntry>().Swap(options->mutable_glossary());
}

absl::Status DocumentTranslator::TranslateParts(std::unique_ptr<Document> document) {
  PartLoop loop(FileName(), std::move(document),
                [this](const std::string& warning) { Warn(warning); });
  for (bool first = true;; first = false) {
    const absl::StatusOr<bool> next = InTurns([&] { return loop.Next(); });
    if (!next.ok()) return OfDocument(Annotate(next.status(), loop.Place(), ": "));
    if (!*next) return absl::OkStatus();
    if (first) RETURN_IF_ERROR(DetectSource(loop.passages()));
    Part part = {.loop = &loop};
    RETURN_IF_ERROR(TranslatePart(&part));
    const absl::Status written = InTurns([&] { return loop.Write(); });
    RETURN_IF_ERROR(OfDocument(Annotate(written, loop.Place(), ": ")));
    RETURN_IF_ERROR(output_->CountAll());
    longer_ = output_->in_memory() ? output_->size() : 0;
  }
}

// Once for the whole file: a heading of two words says little.
absl::Status DocumentTranslator::DetectSource(absl::Span<const Passage> passages) {
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
  request.clear_glossary_ids();  // those of the passages are looked up with them
  request.clear_memory_ids();
  TranslateTask task(parts_);
  StillWanted always;
  RETURN_IF_ERROR(
      task.Prepare(std::move(request), bulk_->permit(), absl::InfiniteFuture(), &always));
  if (!task.detected().has_value()) return absl::OkStatus();
  const TextGroup& group = task.detected()->groups.front();
  report_.set_source_language(task.detected()->texts.front().language);
  // In the target language already: then passages in other languages may be translated.
  if (group.route.has_value()) header_.mutable_request()->set_source_language(group.language);
  return absl::OkStatus();
}

absl::Status DocumentTranslator::TranslatePart(Part* part) {
  const absl::Span<const Passage> passages = part->loop->passages();
  part->keys.resize(passages.size());
  for (size_t i = 0; i < passages.size(); ++i) {
    if (passages[i].text.empty()) continue;
    part->to_send.push_back(i);
    report_.set_characters(report_.characters() + CountCodePoints(passages[i].text));
  }
  part->texts = part->to_send.size();
  report_.set_passages(report_.passages() + static_cast<int64_t>(part->texts));
  NoteProgress(*part);
  while (part->done < part->texts) {
    ASSIGN_OR_RETURN(const bool sent, SendPassages(part));
    const BulkEvent event = bulk_->Next();
    if (event.end.has_value()) {
      end_ = event.end;
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

// Whether any was sent, or had been translated before.
absl::StatusOr<bool> DocumentTranslator::SendPassages(Part* part) {
  const absl::Time now = absl::Now();
  while (!part->refused.empty() && part->refused.begin()->first <= now) {
    part->to_send.push_front(part->refused.begin()->second);
    part->refused.erase(part->refused.begin());
  }
  bool any = false;
  for (; !part->to_send.empty() && bulk_->HasRoom(); any = true) {
    const size_t i = part->to_send.front();
    part->to_send.pop_front();
    const Passage& passage = part->loop->passages()[i];
    v1::TranslateRequest request = header_.request();
    request.add_contents(passage.text);
    request.set_markup(MarkupOf(passage));
    if (journal_.find != nullptr) {
      part->keys[i] = DigestOf(request.SerializeAsString() + glossary_digest_);
      const std::optional<std::string> known = journal_.find(part->keys[i]);
      v1::TranslateBulkResponse answer;
      if (known.has_value() && answer.ParseFromString(*known)) {
        answer.set_id(absl::StrCat(i));
        RETURN_IF_ERROR(TakeAnswer(answer, part));
        continue;
      }
    }
    const size_t bytes = request.ByteSizeLong();  // with what the header has for all passages
    bulk_->Add({.id = absl::StrCat(i),
                .request = std::move(request),
                .bytes = bytes,
                .glossary = glossary_});
  }
  return any;
}

absl::Status DocumentTranslator::TakeAnswer(const v1::TranslateBulkResponse& answer, Part* part) {
  size_t passage = 0;
  if (!absl::SimpleAtoi(answer.id(), &passage)) return absl::InternalError("an answer without id");
  if (answer.has_error()) return TakeError(answer.error(), passage, part);
  if (journal_.add != nullptr) {
    v1::TranslateBulkResponse kept = answer;
    kept.clear_id();
    journal_.add(part->keys[passage], kept.SerializeAsString());
  }
  const Passage& of = part->loop->passages()[passage];
  const PassageAnswer taken = AnswerOf(of, answer.response().translations(0));
  RETURN_IF_ERROR(CountLonger(taken.text.size(), of.text.size()));
  Take(passage, taken, part);
  report_.set_model(answer.response().model());
  report_.set_model_version(answer.response().model_version());
  report_.set_isa(answer.response().isa());
  return absl::OkStatus();
}

// Readers have counted a passage and three times its text.  What is longer is in the journal, among
// the translations, and in what is written.
absl::Status DocumentTranslator::CountLonger(size_t translation, size_t passage) {
  const size_t counted = 300 + 2 * passage, most = parts_->documents->limits().memory / 2;
  if (translation <= counted) return absl::OkStatus();
  longer_ += kCopies * (translation - counted);
  if (counted_ + longer_ <= most) return memory_.Raise(counted_ + longer_);
  return DocumentTooLarge(ResourceExhaustedError(
      "takes more than ", most, " bytes of memory, which is the most for a document"));
}

void DocumentTranslator::Take(size_t passage, const PassageAnswer& answer, Part* part) {
  part->loop->Take(passage, answer);
  ++part->done;
  report_.set_literal_faults(report_.literal_faults() + answer.faults);
  if (answer.is_untranslated()) {
    report_.set_untranslated_passages(report_.untranslated_passages() + 1);
  }
}

absl::Status DocumentTranslator::TakeError(const v1::Error& error, size_t passage, Part* part) {
  const absl::Status status(static_cast<absl::StatusCode>(error.code()), error.message());
  if (absl::IsResourceExhausted(status) && error.has_retry_delay()) {
    const absl::Duration delay = absl::Seconds(error.retry_delay().seconds()) +
                                 absl::Nanoseconds(error.retry_delay().nanos());
    part->refused.emplace(absl::Now() + std::min(delay, kLongestDelay), passage);
    return absl::OkStatus();
  }
  const bool of_text = absl::StartsWith(error.field(), "contents") || absl::IsInternal(status);
  if (!of_text && error.field().empty()) return status;
  if (!of_text) {  // of the request in the header
    absl::string_view message = error.message();
    absl::ConsumePrefix(&message, absl::StrCat(error.field(), ": "));
    return InvalidField(error.field(), std::string(message));
  }
  // A text that is too long stays as it is, and refuses no file.
  if (!header_.skip_errors() && !absl::IsInvalidArgument(status)) {
    return Annotate(status, part->loop->At(passage), ": ");
  }
  Take(passage, {.error = error.message()}, part);
  return absl::OkStatus();
}

void DocumentTranslator::Warn(const std::string& warning) {
  if (report_.warnings_size() < kMostWarnings) report_.add_warnings(warning);
}

// Tells of the beginning and the end of a part, and of every hundredth of what is known between.
void DocumentTranslator::NoteProgress(const Part& part) const {
  const int64_t known = report_.passages();
  const int64_t done = known - static_cast<int64_t>(part.texts) + static_cast<int64_t>(part.done);
  const int64_t step = std::max<int64_t>(known / 100, 1);
  if (part.done > 0 && part.done < part.texts && done % step != 0) return;
  v1::DocumentProgress progress;
  progress.set_passages_done(done);
  progress.set_passages_known(known);
  progress.set_part(part.loop->part());
  on_progress_(progress);
}

// Waits for an event of the bulk exchange; or until a passage may be tried again.
void DocumentTranslator::AwaitNews(absl::Time until) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithDeadline(absl::Condition(&news_), until);
  news_ = false;
}

// What is still in flight after an error is answered to nobody.
CallEnd DocumentTranslator::Finish(const absl::Status& status) {
  if (memory_.amount() > (16 << 20)) GiveBackHeap();  // the thread ends
  memory_.Return();
  bulk_->NoMore(status);
  while (!end_.has_value()) {
    BulkEvent event = bulk_->Next();
    if (event.end.has_value()) {
      end_ = std::move(event.end);
    } else if (!event.message.has_value()) {
      AwaitNews(absl::InfiniteFuture());
    }
  }
  return *std::move(end_);
}

void DocumentTranslator::Wake() {
  absl::MutexLock lock(&mutex_);
  news_ = true;
}

}  // namespace dragoman
