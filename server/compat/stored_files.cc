#include "server/compat/stored_files.h"

#include <utility>

#include "absl/time/clock.h"

namespace dragoman {

void ReceiveUploads(const ApiContext& context, const CompatApi& api, HttpRoute* route) {
  ReceiveFiles(context,
               {.use_key = [&api](HttpRequest* http) { UseKey(api, CompatFields(), http); },
                .key_field = api.key_field},
               route);
}

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
  if (!status.ok()) {
    return answer->Send(AnswerCall(context, api, "TranslateDocument", http, format.error,
                                   [&](Call* call) -> absl::StatusOr<HttpResponse> {
                                     RETURN_IF_ERROR(call->Admit());
                                     return status;
                                   }));
  }
  const auto read_file = [header, file = form->file](
                             v1::DocumentHeader* wanted) -> absl::StatusOr<std::shared_ptr<Spool>> {
    *wanted = header;
    return file;
  };
  const auto on_end = [answer, format, http](StoredDocument* document) {
    if (format.ended != nullptr) format.ended(http, document, answer);
  };
  const absl::StatusOr<std::shared_ptr<StoredDocument>> document =
      context.parts->stored_documents->Add(context.parts, std::move(caller), read_file, on_end,
                                           absl::Now());
  if (document.ok()) return format.begun(http, *document, answer);
  const CallEnd end = {.status = document.status(), .retry_delay = absl::Seconds(1)};
  answer->Send(WithHeaders(format.error(InWordsOf(api, end.status)), end));
}

void SendStored(const ApiContext& context, const StoredDocument& document,
                const std::shared_ptr<HttpAnswer>& answer) {
  const StoredDocument::State state = document.state();
  SendSpooled(answer,
              {.content_type = state.report.media_type(),
               .headers = {SaveAs(state.report.file_name()), {"Cache-Control", "no-store"}}},
              state.output,
              [store = context.parts->stored_documents, id = document.id()] { store->Remove(id); });
}

}  // namespace dragoman
