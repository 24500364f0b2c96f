#include "server/http/document_api.h"

#include <atomic>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "server/http/json.h"
#include "server/http/multipart.h"
#include "server/http/stream_api.h"
#include "server/observe/trace.h"

namespace dragoman {
namespace {

constexpr char kFileDoor[] = "http";
// The form around a file, and its other fields.
constexpr size_t kFormBytes = 1 << 20;

absl::Status CheckField(const FormPart& part) {
  if (!IsValidUtf8(part.name)) return absl::InvalidArgumentError("a name is not valid UTF-8");
  if (!IsValidUtf8(part.value)) return InvalidField(part.name, "is not valid UTF-8");
  return absl::OkStatus();
}

// One translation of a file whose sender waits for it.  Events come from the exchange and from the
// connection; one thread at a time pumps, and checks again for what has come up meanwhile.
class HttpDocument : public std::enable_shared_from_this<HttpDocument> {
 public:
  using Error = std::function<HttpResponse(const CallEnd& end)>;

  // With `events` it answers with all messages of the stream, otherwise with the file.
  HttpDocument(std::shared_ptr<HttpAnswer> answer, std::string request_id, bool events, Error error)
      : answer_(std::move(answer)),
        request_id_(std::move(request_id)),
        events_(events),
        error_(std::move(error)) {}

  void Start(const ServerParts* parts, Caller caller, DocumentExchange::ReadFile read) {
    self_ = shared_from_this();
    exchange_ =
        std::make_shared<DocumentExchange>(parts, std::move(caller), [weak = weak_from_this()] {
          if (const auto call = weak.lock()) call->Pump();
        });
    exchange_->Start();
    answer_->OnGone([weak = weak_from_this()] {
      if (const auto call = weak.lock()) call->Gone();
    });
    exchange_->Work(std::move(read));
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
        Begin();
        writing_ = true;
        // Called back later, on the connection's thread.
        answer_->Write(
            events_ ? EventOf(*event.message) : std::move(*event.message->mutable_chunk()),
            [self] { self->Written(); });
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

  void Written() {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
    }
    Pump();
  }

  HttpResponse Head() const {
    if (events_) {
      return {.content_type = kEventStream,
              .headers = {{"X-Request-Id", request_id_}, {"X-Accel-Buffering", "no"}}};
    }
    const v1::DocumentReport& report = exchange_->report();
    return {.content_type = report.media_type(),
            .headers = {{"X-Request-Id", request_id_}, SaveAs(report.file_name())}};
  }

  void Begin() {
    if (!std::exchange(begun_, true)) answer_->Begin(Head());
  }

  void End(const CallEnd& end) {
    if (begun_ && end.status.ok()) return answer_->End();
    if (begun_ && !events_) return;  // it is cut off: the connection closes
    if (begun_) {
      answer_->Write(ErrorEventOf(end), nullptr);
      return answer_->End();
    }
    answer_->Send(end.status.ok() ? Head() : error_(end));
  }

  std::shared_ptr<HttpAnswer> answer_;
  const std::string request_id_;
  const bool events_;
  const Error error_;
  std::shared_ptr<DocumentExchange> exchange_;
  std::shared_ptr<HttpDocument> self_;  // until its end

  absl::Mutex mutex_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool begun_ = false;
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
absl::Status ReadFields(const DocumentForm& form, v1::DocumentHeader* header) {
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

std::string DocumentForm::Field(std::string_view name) const {
  for (const auto& [field, value] : fields) {
    if (field == name) return value;
  }
  return "";
}

absl::StatusOr<DocumentForm> ReadDocumentForm(const HttpRequest& http, const char* file_field) {
  if (http.file == nullptr) return InvalidField(file_field, "is missing");
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> body,
                   MappedFile::Open(http.file->path()));
  const std::string_view bytes(reinterpret_cast<const char*>(body->bytes().data()),
                               body->bytes().size());
  ASSIGN_OR_RETURN(const std::vector<FormPart> parts,
                   ReadMultipart(http.Header("content-type"), bytes));
  DocumentForm form;
  size_t form_bytes = 0;
  for (const FormPart& part : parts) {
    const bool is_file = part.name == file_field;
    if (is_file && form.file != nullptr) return InvalidField(file_field, "is there twice");
    if (is_file) {
      form.file_name = part.file_name.value_or("");
      if (!IsValidUtf8(form.file_name)) return InvalidField(file_field, "has no name in UTF-8");
      ASSIGN_OR_RETURN(form.file, Spool::New(0));
      RETURN_IF_ERROR(form.file->Append(part.value));
      continue;
    }
    RETURN_IF_ERROR(CheckField(part));
    form_bytes += part.value.size();
    if (form_bytes > kFormBytes) return InvalidField(part.name, "is too long");
    form.fields.emplace_back(part.name, part.value);
  }
  if (form.file == nullptr) return InvalidField(file_field, "is missing");
  return form;
}

void ReceiveForms(const HttpDoor& door, HttpRoute* route) {
  route->body_types = {kMultipart};
  route->max_file_bytes = door.max_document_bytes + kFormBytes;
  route->receive = [door]() -> absl::StatusOr<std::shared_ptr<Spool>> {
    RETURN_IF_ERROR(door.loaded());
    return door.parts->documents->Receive();
  };
}

void WithDocumentForm(
    const HttpDoor& door, HttpRequest http, const char* file_field,
    std::function<void(const HttpRequest& http, absl::StatusOr<DocumentForm> form)> act) {
  door.parts->documents->Run(
      [request = std::make_shared<HttpRequest>(std::move(http)), file_field, act = std::move(act)] {
        absl::StatusOr<DocumentForm> form = ReadDocumentForm(*request, file_field);
        request->file = nullptr;
        act(*request, std::move(form));
      });
}

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

void TranslateFileOverHttp(
    const HttpDoor& door, const char* door_name, HttpRequest http,
    std::shared_ptr<HttpAnswer> answer, const char* file_field,
    std::function<absl::Status(const DocumentForm& form, v1::DocumentHeader* header)> read,
    std::function<HttpResponse(const CallEnd& end)> error) {
  if (const absl::Status loaded = door.loaded(); !loaded.ok()) {
    return answer->Send(error({.status = loaded}));
  }
  const auto act = [door, door_name, answer, read, error](const HttpRequest& request,
                                                          absl::StatusOr<DocumentForm> form) {
    absl::StatusOr<Caller> read_caller = CallerOf(request, door_name);
    absl::Status status = read_caller.status();
    status.Update(form.status());
    Caller caller = read_caller.ok() ? *std::move(read_caller) : Caller{.door = door_name};
    // The head of the answer contains the id, and is sent before the end of the call.
    if (!IsRequestId(caller.request_id)) caller.request_id = NewRequestId();
    const bool events = MediaType(request.Header("accept")) == kEventStream;
    const auto call = std::make_shared<HttpDocument>(answer, caller.request_id, events, error);
    const auto shared_form = std::make_shared<absl::StatusOr<DocumentForm>>(std::move(form));
    call->Start(door.parts, std::move(caller),
                [=](v1::DocumentHeader* header) -> absl::StatusOr<std::shared_ptr<Spool>> {
                  RETURN_IF_ERROR(status);
                  header->set_file_name((*shared_form)->file_name);
                  RETURN_IF_ERROR(read(**shared_form, header));
                  return std::move((*shared_form)->file);
                });
  };
  WithDocumentForm(door, std::move(http), file_field, act);
}

void AddDocumentApi(const HttpDoor& door, HttpRouter* router) {
  HttpRoute route = {.method = "POST",
                     .path = "/v1/translate_file",
                     .handler = [door](HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
                       TranslateFileOverHttp(door, kFileDoor, std::move(http), std::move(answer),
                                             "file", ReadFields, ToHttpError);
                     }};
  ReceiveForms(door, &route);
  router->Add(std::move(route));
}

}  // namespace dragoman
