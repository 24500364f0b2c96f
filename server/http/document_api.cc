#include "server/http/document_api.h"

#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/status.h"
#include "server/http/json.h"
#include "server/http/stream_api.h"
#include "server/observe/trace.h"

namespace dragoman {
namespace {

FileAnswer FileItself(const v1::DocumentReport& report) {
  return {.head = {.content_type = report.media_type(), .headers = {SaveAs(report.file_name())}}};
}

// One translation of a file whose sender waits for it.  Events come from the exchange and from the
// connection; one thread at a time pumps, and checks again for what has come up meanwhile.
class HttpDocument : public std::enable_shared_from_this<HttpDocument> {
 public:
  // With `events` it answers with all messages of the stream, otherwise with the file.
  HttpDocument(std::shared_ptr<HttpAnswer> answer, std::string request_id, bool events,
               FileCall call)
      : answer_(std::move(answer)),
        request_id_(std::move(request_id)),
        events_(events),
        call_(std::move(call)) {}

  // `received` is why the file was refused before the call, if it was.
  void Start(const ServerParts* parts, Caller caller, const absl::Status& received,
             DocumentExchange::ReadFile read) {
    self_ = shared_from_this();
    exchange_ =
        std::make_shared<DocumentExchange>(parts, std::move(caller), [weak = weak_from_this()] {
          if (const auto call = weak.lock()) call->Pump();
        });
    exchange_->Start();
    answer_->OnGone([weak = weak_from_this()] {
      if (const auto call = weak.lock()) call->Gone();
    });
    if (received.ok()) {
      exchange_->Work(std::move(read));
    } else {
      exchange_->NoMore(received);
    }
    Pump();
  }

 private:
  void Pump() {
    const auto self = shared_from_this();
    absl::MutexLock lock(&mutex_);
    while (!writing_ && !ended_) {
      DocumentEvent event = exchange_->Next();
      if (event.end.has_value()) {
        ended_ = true;
        End(*event.end);
        self_ = nullptr;
      } else if (!event.message.has_value()) {
        return;
      } else if (!gone_ && (events_ || event.message->has_chunk())) {
        std::string text = Begin();
        text += events_ ? EventOf(*event.message) : Written(event.message->chunk());
        writing_ = true;
        // Called back later, on the connection's thread.
        answer_->Write(std::move(text), [self] { self->OnWritten(); });
      }
    }
  }

  // The client has gone away: nothing is written any more.
  void Gone() {
    {
      absl::MutexLock lock(&mutex_);
      gone_ = true;
      writing_ = false;
    }
    exchange_->Cancel();
    Pump();
  }

  void OnWritten() {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
    }
    Pump();
  }

  FileAnswer Describe() const {
    FileAnswer file;
    if (events_) {
      file.head = {.content_type = kEventStream, .headers = {{"X-Accel-Buffering", "no"}}};
    } else {
      file = call_.answer == nullptr ? FileItself(exchange_->report())
                                     : call_.answer(exchange_->report());
    }
    file.head.headers.emplace_back("X-Request-Id", request_id_);
    return file;
  }

  // Sends the head, once; returns what stands in front of the file.
  std::string Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (std::exchange(begun_, true)) return "";
    file_ = Describe();
    answer_->Begin(file_.head);
    return file_.before;
  }

  std::string Written(const std::string& chunk) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return file_.before.empty() ? chunk : absl::Base64Escape(chunk);
  }

  void End(const CallEnd& end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!begun_ && !end.status.ok()) return answer_->Send(call_.error(end));
    if (!begun_) {
      FileAnswer file = Describe();
      file.head.body = file.before + file.after;
      return answer_->Send(std::move(file.head));
    }
    if (!end.status.ok() && !events_) return;  // it is cut off: the connection closes
    if (!end.status.ok()) answer_->Write(ErrorEventOf(end), nullptr);
    if (end.status.ok() && !file_.after.empty()) answer_->Write(file_.after, nullptr);
    answer_->End();
  }

  std::shared_ptr<HttpAnswer> answer_;
  const std::string request_id_;
  const bool events_;
  const FileCall call_;
  std::shared_ptr<DocumentExchange> exchange_;
  std::shared_ptr<HttpDocument> self_;  // until its end

  absl::Mutex mutex_;
  FileAnswer file_ ABSL_GUARDED_BY(mutex_);  // once it has begun
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool begun_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

// A file that is being sent.
struct Sending {
  std::shared_ptr<HttpAnswer> answer;
  std::shared_ptr<const Spool> file;
  std::function<void()> sent;
  size_t next = 0;
  std::atomic<bool> gone = false;  // the client
};

void SendRest(const std::shared_ptr<Sending>& sending) {
  if (sending->gone) return;
  const absl::StatusOr<std::string> chunk =
      sending->file->Read(sending->next, DocumentExchange::kChunkBytes);
  if (!chunk.ok()) return;  // without an end
  if (chunk->empty()) {
    sending->answer->End();
    if (sending->sent != nullptr) sending->sent();
    return;
  }
  sending->next += chunk->size();
  sending->answer->Write(*chunk, [sending] { SendRest(sending); });
}

// The fields of /v1/translate_file: a TranslateRequest as JSON, and the most usual ones by name.
absl::Status ReadFormFields(const DocumentForm& form, v1::DocumentHeader* header) {
  for (const auto& [name, value] : form.fields) {
    if (name == "request") {
      RETURN_IF_ERROR(FromJson(value, header->mutable_request()));
    }
  }
  for (const auto& [name, value] : form.fields) {
    if (name == "source_language") {
      header->mutable_request()->set_source_language(value);
    } else if (name == "target_language") {
      header->mutable_request()->set_target_language(value);
    } else if (name == "model") {
      header->mutable_request()->set_model(value);
    } else if (name == "format") {
      header->set_format(value);
    } else if (name == "column") {
      header->add_columns(value);
    } else if (name == "skip_errors") {
      if (value != "true" && value != "false") {
        return InvalidField("skip_errors", "is neither true nor false");
      }
      header->set_skip_errors(value == "true");
    } else if (name != "request") {
      return InvalidField(name, "is not a field of this form");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::pair<std::string, std::string> SaveAs(const std::string& file_name) {
  std::string escaped;
  for (const char c : file_name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '-' || c == '_';
    if (plain) {
      escaped += c;
    } else {
      absl::StrAppendFormat(&escaped, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return {"Content-Disposition", "attachment; filename*=UTF-8''" + escaped};
}

void SendSpooled(const std::shared_ptr<HttpAnswer>& answer, HttpResponse head,
                 std::shared_ptr<const Spool> file, std::function<void()> sent) {
  const auto sending = std::make_shared<Sending>();
  sending->answer = answer;
  sending->file = std::move(file);
  sending->sent = std::move(sent);
  answer->OnGone([weak = std::weak_ptr(sending)] {
    if (const auto self = weak.lock()) self->gone = true;
  });
  answer->Begin(std::move(head));
  SendRest(sending);
}

std::function<absl::StatusOr<std::shared_ptr<Spool>>(const HttpRequest& http,
                                                     v1::DocumentHeader* header)>
FileOfForm(const char* file_field,
           std::function<absl::Status(const DocumentForm& form, v1::DocumentHeader* header)> read) {
  return [file_field, read = std::move(read)](
             const HttpRequest& http,
             v1::DocumentHeader* header) -> absl::StatusOr<std::shared_ptr<Spool>> {
    ASSIGN_OR_RETURN(DocumentForm form, TakeDocumentForm(http, file_field));
    header->set_file_name(form.file_name);
    RETURN_IF_ERROR(read(form, header));
    return std::move(form.file);
  };
}

void TranslateFileOverHttp(const ApiContext& context, HttpRequest http,
                           std::shared_ptr<HttpAnswer> answer, const FileCall& file_call) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(file_call.error({.status = loaded}));
  }
  Caller caller = CallerOf(http, file_call.api);
  // The head of the answer contains the id, and is sent before the end of the call.
  if (!IsRequestId(caller.request_id)) caller.request_id = NewRequestId();
  const bool events = file_call.events && MediaType(http.Header("accept")) == kEventStream;
  const auto call =
      std::make_shared<HttpDocument>(std::move(answer), caller.request_id, events, file_call);
  const absl::Status received = http.upload == nullptr ? absl::OkStatus() : http.upload->refusal();
  const auto request = std::make_shared<HttpRequest>(std::move(http));
  call->Start(context.parts, std::move(caller), received,
              [request, read = file_call.read](
                  v1::DocumentHeader* header) -> absl::StatusOr<std::shared_ptr<Spool>> {
                absl::StatusOr<std::shared_ptr<Spool>> file = read(*request, header);
                request->upload = nullptr;
                return file;
              });
}

void AddDocumentApi(const ApiContext& context, HttpRouter* router) {
  HttpRoute route = RouteOf(MethodOf("TranslateDocument"));
  route.handler = [context](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
    TranslateFileOverHttp(context, std::move(http), std::move(answer),
                          {.api = kHttpApi,
                           .events = true,
                           .read = FileOfForm("file", ReadFormFields),
                           .error = ToHttpError});
  };
  ReceiveFiles(context, {}, &route);
  router->Add(std::move(route));
}

}  // namespace dragoman
