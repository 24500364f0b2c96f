#include "server/compat/stored_files.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "engine/base/work_threads.h"
#include "engine/text/language_tag.h"
#include "server/api/auto_source.h"
#include "server/api/document_translator.h"
#include "server/http/api.h"

namespace dragoman {

void AddFileRoute(const ApiContext& context, const CompatApi& api, const char* path,
                  UploadKind kind, CompatHandler* handle, HttpErrorBody error, HttpRouter* router) {
  HttpRoute route = {.method = "POST",
                     .path = path,
                     .handler = HandlerOf(context, handle),
                     .error = std::move(error)};
  if (kind.file_field == nullptr) route.body_types = {"application/json"};
  kind.use_key = [&api](HttpRequest* http) { UseKeyOfQuery(api, http); };
  ReceiveFiles(context, kind, &route);
  // Base64 is longer.
  if (kind.file_field == nullptr) route.max_file_bytes += context.max_document_bytes / 3 + 1;
  router->Add(std::move(route));
}

namespace {

// What would only be found when the file is translated.
absl::Status CheckUpload(const ApiContext& context, const CompatApi& api, const Caller& caller,
                         const v1::DocumentHeader& header) {
  const absl::Status format = CheckHeader(header).status();
  if (!format.ok()) {
    return InvalidField("file", "has an unknown file extension: ", format.message());
  }
  ASSIGN_OR_RETURN(const Permit permit, context.parts->principals->Identify(caller));
  const std::string& target = header.request().target_language();
  if (IsWrittenAlike(header.request().source_language(), target)) return absl::OkStatus();
  for (const auto& [source, targets] : PairsOf(*context.parts, permit)) {
    for (const std::string& served : targets) {
      if (IsLanguage(served, target)) return absl::OkStatus();
    }
  }
  return InvalidField(api.target, "\"", target.substr(0, 32), "\" is not served");
}

}  // namespace

void StoreUpload(const ApiContext& context, const CompatApi& api, HttpRequest http,
                 std::shared_ptr<HttpAnswer> answer, const UploadFormat& format) {
  if (const absl::Status loaded = context.loaded(); !loaded.ok()) {
    return answer->Send(WithHeaders(format.error(loaded), {.status = loaded}));
  }
  absl::StatusOr<DocumentForm> form = TakeDocumentForm(http, "file");
  http.upload = nullptr;
  const absl::StatusOr<CompatFields> fields = form.ok()
                                                  ? CompatFields::FromForm(std::move(form->fields))
                                                  : absl::StatusOr<CompatFields>(form.status());
  UseKey(api, fields, &http);
  Caller caller = CallerOf(http, api.name);
  absl::Status status = caller.wrong;
  status.Update(fields.status());
  v1::DocumentHeader header;
  if (status.ok()) header.set_file_name(form->file_name);
  if (status.ok()) status = format.read(*fields, &header);
  if (status.ok()) status = CheckUpload(context, api, caller, header);
  if (!status.ok()) {
    return AnswerCall(
        context, {api, "TranslateDocument", format.error}, http, std::move(answer),
        [&](const HttpRequest&) { return status; }, nullptr);
  }
  const auto request = std::make_shared<HttpRequest>(std::move(http));
  const auto work = [context, &api, caller = std::move(caller), header = std::move(header),
                     file = form->file, request, answer, format] {
    DocumentStore::OnEnd on_end;
    if (format.ended != nullptr) {
      on_end = [answer, format, request](const StoredDocument& document) {
        format.ended(*request, document, answer);
      };
    }
    const absl::StatusOr<StoredDocument> document =
        context.parts->stored_documents->Add(caller, header, file, std::move(on_end));
    if (document.ok()) return format.begun(*request, *document, answer);
    const CallEnd end = {.status = document.status(), .retry_delay = absl::Seconds(1)};
    answer->Send(WithHeaders(format.error(InWordsOf(api, end.status)), end));
  };
  WithStore(context, *request, answer, format.error, work);
}

void WithStore(const ApiContext& context, const HttpRequest& http,
               std::shared_ptr<HttpAnswer> answer,
               HttpResponse (*error)(const absl::Status& status), std::function<void()> work) {
  absl::Status waits = context.loaded();
  if (waits.ok()) {
    const Caller caller = CallerOf(http, "");
    const auto permit = context.parts->principals->Identify(caller);
    const std::string& principal = permit.ok() ? permit->principal() : "";
    const auto state = std::make_shared<RequestState>(
        RequestTerms{.deadline = caller.deadline, .principal = HolderOf(principal, http.peer)});
    answer->OnGone([state] { state->Cancel(absl::Now()); });
    waits = DoWork(CallWork::kStore, *context.parts, state,
                   [work = std::move(work), answer, error](const absl::Status& wanted) {
                     wanted.ok() ? work() : answer->Send(error(wanted));
                   });
  }
  if (!waits.ok()) answer->Send(error(waits));
}

HttpHandler WithStore(const ApiContext& context, HttpResponse (*error)(const absl::Status& status),
                      HttpHandler handler) {
  return [=](HttpRequest http, const std::shared_ptr<HttpAnswer>& answer) {
    const auto request = std::make_shared<HttpRequest>(std::move(http));
    WithStore(context, *request, answer, error, [=] { handler(std::move(*request), answer); });
  };
}

void SendStored(const ApiContext& context, const StoredDocument& document,
                const std::shared_ptr<HttpAnswer>& answer) {
  DocumentStore* const store = context.parts->stored_documents;
  const absl::StatusOr<std::shared_ptr<Spool>> output = store->Output(document);
  if (!output.ok()) return answer->Send(ToHttpError({.status = output.status()}));
  const auto sent = [parts = context.parts, store, id = document.id] {
    parts->store_threads->Run("", [store, id] { store->Remove(id).IgnoreError(); }).IgnoreError();
  };
  SendSpooled(answer,
              {.content_type = document.report.media_type(),
               .headers = {SaveAs(document.report.file_name()), {"Cache-Control", "no-store"}}},
              *output, sent);
}

}  // namespace dragoman
