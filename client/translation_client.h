// A client for a Dragoman server.
//
//   TranslationClient client("127.0.0.1:50051");
//   v1::TranslateRequest request;
//   request.add_contents("The cat sleeps.");
//   ASSIGN_OR_RETURN(v1::TranslateResponse response, client.Translate(request));
//
// An error is an absl::Status that keeps everything the server said: its code and message, and each
// of its google.rpc details as a payload under the detail's type URL. The functions below read
// them.

#ifndef DRAGOMAN_CLIENT_TRANSLATION_CLIENT_H_
#define DRAGOMAN_CLIENT_TRANSLATION_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/credentials.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/base/not_copyable.h"

namespace dragoman {

struct ClientOptions {
  // Per call, from its start to its answer, including retries.
  absl::Duration deadline = absl::Seconds(60);

  // Whether a translation that is UNAVAILABLE (the server drains, or the connection was lost) is
  // retried, as deploy/service_config.json says.  RESOURCE_EXHAUSTED from a busy server is not: the
  // caller decides, and is told how long to wait (RetryDelayOf).
  bool retry = true;

  // TLS; plain text if absent.
  std::optional<ClientTls> tls;

  // Sent with every call, unless empty.  REQUIRES: CheckToken(token) is OK if it is not empty.
  std::string token;
};

class BulkCall;

// Thread-safe.  Connects with the first call, and again after losing the connection.
class TranslationClient : private NotCopyable {
 public:
  // `server` is HOST:PORT, or any other target that gRPC understands (dns:///..., unix:..., or
  // several addresses, ipv4:10.0.0.1:50051,10.0.0.2:50051).  Translations are spread over all
  // healthy servers behind that name; other calls go to any one of them.
  explicit TranslationClient(const std::string& server, const ClientOptions& options = {});

  // Waits for the calls in flight.
  ~TranslationClient();

  // INVALID_ARGUMENT if a text is not valid UTF-8; such a request is not sent.
  absl::StatusOr<v1::TranslateResponse> Translate(const v1::TranslateRequest& request);

  // Translate without waiting: `done` is called exactly once, on this thread or on one of gRPC's,
  // and must not block.  The returned function cancels the call, which then ends with CANCELLED
  // unless it has ended already; it may be called at any time, on any thread.
  using TranslateDone = std::function<void(absl::StatusOr<v1::TranslateResponse>)>;
  std::function<void()> TranslateAsync(v1::TranslateRequest request, TranslateDone done);

  // Streams the result: `on_message` is called with each message in turn, on this thread, and
  // returns whether to continue; if not, the call ends with CANCELLED.
  absl::Status TranslateStream(
      const v1::TranslateRequest& request,
      absl::FunctionRef<bool(const v1::TranslateStreamResponse&)> on_message);

  // Sends requests over one call (bulk_call.h).  The client must outlive it.
  std::unique_ptr<BulkCall> OpenBulk();

  // How probable given translations are according to a model.
  absl::StatusOr<v1::ScoreResponse> Score(const v1::ScoreRequest& request);

  // The tokens that a model sees.
  absl::StatusOr<v1::TokenizeResponse> Tokenize(const v1::TokenizeRequest& request);

  // The languages that a text is probably written in.
  absl::StatusOr<v1::DetectLanguageResponse> DetectLanguage(const std::string& text);

  absl::StatusOr<v1::ListModelsResponse> ListModels();

  // "" stands for the only or the default model.
  absl::StatusOr<v1::Model> GetModel(const std::string& name);

  // Stores a glossary: a new one, or in the place of the one with that id.
  absl::StatusOr<v1::Glossary> StoreGlossary(const std::string& id, const v1::Glossary& glossary);
  absl::StatusOr<v1::ListGlossariesResponse> ListGlossaries();
  absl::StatusOr<v1::Glossary> GetGlossaryEntries(const std::string& id);
  absl::Status DeleteGlossary(const std::string& id);

  // Translation memories, as in MemoryService.
  absl::StatusOr<v1::TranslationMemory> CreateMemory(const v1::CreateMemoryRequest& request);
  absl::StatusOr<v1::ListMemoriesResponse> ListMemories();
  absl::StatusOr<v1::GetMemorySegmentsResponse> GetMemorySegments(const std::string& id, int start);
  absl::StatusOr<v1::TranslationMemory> LearnSegments(const v1::LearnSegmentsRequest& request);
  absl::Status DeleteMemory(const std::string& id);

  // Whether a service is SERVING ("dragoman.v1.TranslationService"); "" asks for the whole server.
  // NOT_FOUND if the server has no such service.
  absl::StatusOr<bool> Serving(const std::string& service);

  const std::string& server() const { return server_; }
  // Per call.
  absl::Duration deadline() const;

 private:
  struct Impl;

  const std::string server_;
  std::unique_ptr<Impl> impl_;
};

// Whether the call failed because no connection to the server could be made.
bool IsUnreachable(const absl::Status& status);

// A field of the request that the server found wrong, from google.rpc.BadRequest.
struct FieldViolation {
  std::string field;  // "contents[3]"
  std::string description;
};
std::vector<FieldViolation> FieldViolationsOf(const absl::Status& status);

// INVALID_ARGUMENT with such a field, as a server would answer.
absl::Status WrongField(const std::string& field, const std::string& description);

// WrongField for the first text that is not UTF-8, which cannot be sent.  All translations are
// checked before they are.
absl::Status CheckTexts(const v1::TranslateRequest& request);

// How long to wait before a retry, from google.rpc.RetryInfo.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_TRANSLATION_CLIENT_H_
