#include "server/http/document_api.h"

#include <atomic>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status.h"
#include "server/api/methods.h"
#include "server/http/api.h"
#include "server/http/json.h"
#include "server/http/stream_api.h"
#include "server/http/streamed_call.h"
#include "server/observe/trace.h"

namespace dragoman {
namespace {

// The translated file alone, as it is or as a part of an answer.
StreamFormat<DocumentExchange> AsFile(std::string request_id, const FileCall& call) {
  const auto file = std::make_shared<FileAnswer>();
  const auto head = [=, id = std::move(request_id),
                     answer = call.answer](const DocumentExchange& exchange) {
    const v1::DocumentReport& report = exchange.report();
    if (answer == nullptr) {
      file->head = {.content_type = report.media_type(), .headers = {SaveAs(report.file_name())}};
    } else {
      *file = answer(report);
    }
    file->head.headers.emplace_back("X-Request-Id", id);
    return file->head;
  };
  const auto event = [in_base64 =
                          call.answer != nullptr](const v1::TranslateDocumentResponse& message) {
    return in_base64 ? absl::Base64Escape(message.chunk()) : message.chunk();
  };
  const auto last = [file](const CallEnd& end) -> std::optional<std::string> {
    if (!end.status.ok()) return std::nullopt;
    return file->after;
  };
  return {.head = head, .event = event, .last = last, .error = call.error};
}

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
  v1::TranslateRequest& request = *header->mutable_request();
  const std::map<std::string_view, std::string*> texts = {
      {"source_language", request.mutable_source_language()},
      {"target_language", request.mutable_target_language()},
      {"model", request.mutable_model()},
      {"format", header->mutable_format()},
      {"encoding", header->mutable_encoding()}};
  for (const auto& [name, value] : form.fields) {
    if (const auto text = texts.find(name); text != texts.end()) {
      *text->second = value;
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
    size_t bytes = 0;
    for (const auto& [_, value] : form.fields) {
      bytes += kMemoryPerByte * value.size() + MemoryOfValues(value);
    }
    ASSIGN_OR_RETURN(const Share memory, http.upload->TakeMemory(bytes));
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
  const auto call = std::make_shared<StreamedHttpCall<DocumentExchange>>(
      std::move(answer), events ? AsEvents<DocumentExchange>(caller.request_id, file_call.error)
                                : AsFile(caller.request_id, file_call));
  const auto request = std::make_shared<HttpRequest>(std::move(http));
  call->Run(std::make_shared<DocumentExchange>(context.parts, std::move(caller), call->Ready()),
            [&](DocumentExchange* exchange) {
              exchange->Start();
              const absl::Status received =
                  request->upload == nullptr ? absl::OkStatus() : request->upload->refusal();
              if (!received.ok()) return exchange->NoMore(received);
              exchange->Work([request, read = file_call.read](v1::DocumentHeader* header) {
                absl::StatusOr<std::shared_ptr<Spool>> file = read(*request, header);
                request->upload = nullptr;
                return file;
              });
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
