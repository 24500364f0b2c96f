#include "client/translation_client.h"

#include <grpcpp/grpcpp.h>

#include <future>
#include <limits>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/cord.h"
#include "absl/synchronization/mutex.h"
#include "client/bulk_call.h"
#include "client/server_address.h"
#include "client/service_config.h"
#include "dragoman/v1/translation.grpc.pb.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "google/rpc/error_details.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace dragoman {
namespace {

constexpr char kUnreachablePayload[] = "dragoman.unreachable";
constexpr int kMaxResponseBytes = 64 << 20;

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(const ClientOptions& options) {
  if (!options.tls.has_value()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = options.tls->ca,
                               .pem_private_key = options.tls->key,
                               .pem_cert_chain = options.tls->cert});
}

grpc::ChannelArguments MakeArguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("dragoman/" DRAGOMAN_VERSION);
  arguments.SetMaxReceiveMessageSize(kMaxResponseBytes);
  // The server is usually on the local network, for which the environment's proxy is not meant.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Detects a server that has silently vanished, and one that has come back.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10'000);
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  return arguments;
}

// A channel to all servers behind the name.
std::shared_ptr<grpc::Channel> BalancedChannel(const std::string& server,
                                               const ClientOptions& options) {
  grpc::ChannelArguments arguments = MakeArguments(options);
  arguments.SetServiceConfigJSON(kServiceConfig);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, options.retry ? 1 : 0);
  return grpc::CreateCustomChannel(server, MakeCredentials(options), arguments);
}

// A channel to any one of them, healthy or not: to ask it about itself.
std::shared_ptr<grpc::Channel> PlainChannel(const std::string& server,
                                            const ClientOptions& options) {
  return grpc::CreateCustomChannel(server, MakeCredentials(options), MakeArguments(options));
}

// True if the failed call cannot have reached a server: there is no connection, and none was lost.
bool NeverConnected(grpc::Channel* channel, const grpc::Status& status) {
  const grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/false);
  return (status.error_code() == grpc::UNAVAILABLE && state == GRPC_CHANNEL_TRANSIENT_FAILURE) ||
         (status.error_code() == grpc::DEADLINE_EXCEEDED && state == GRPC_CHANNEL_CONNECTING);
}

// Why no connection can be made to one address of a host, or "" if one can.
std::string CauseAt(const std::string& target, const std::string& host, ClientOptions options) {
  if (options.tls.has_value() && options.tls->server_name.empty()) options.tls->server_name = host;
  const std::shared_ptr<grpc::Channel> channel = PlainChannel(target, options);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(2)));
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status =
      grpc::health::v1::Health::NewStub(channel)->Check(&context, {}, &response);
  if (!NeverConnected(channel.get(), status)) return "";
  return ExplainUnreachable(status.error_message(),
                            options.tls.has_value() ? &*options.tls : nullptr);
}

// Explains why there is no connection to a server, from gRPC's message.  A name such as "localhost"
// may stand for several addresses, and the message is about one of them: what counts is an address
// where something listens.
std::string CauseOf(const std::string& server, const ClientOptions& options,
                    const std::string& message) {
  // On a thread of its own: this one may be gRPC's, which must not wait for a channel.
  std::future<std::string> other = std::async(std::launch::async, [&]() -> std::string {
    const ResolvedName name = ResolveName(server);
    for (const std::string& target : name.targets) {
      const std::string cause = CauseAt(target, name.host, options);
      if (!cause.empty() && cause != kNothingListens) return cause;
    }
    return "";
  });
  const std::string cause = other.get();
  if (!cause.empty()) return cause;
  return ExplainUnreachable(message, options.tls.has_value() ? &*options.tls : nullptr);
}

std::string TypeUrl(const google::protobuf::Message& detail) {
  return "type.googleapis.com/" + detail.GetDescriptor()->full_name();
}

template <typename Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  Detail detail;
  const absl::optional<absl::Cord> payload = status.GetPayload(TypeUrl(detail));
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

absl::Status CheckUtf8(const std::string& text, const std::string& field) {
  if (IsValidUtf8(text)) return absl::OkStatus();
  return WrongField(field, "the text is not valid UTF-8");
}

}  // namespace

absl::Status WrongField(const std::string& field, const std::string& description) {
  absl::Status status = InvalidField(field, description);
  google::rpc::BadRequest detail;
  detail.add_field_violations()->set_field(field);
  detail.mutable_field_violations(0)->set_description(
      std::string(status.message().data(), status.message().size()));
  status.SetPayload(TypeUrl(detail), absl::Cord(detail.SerializeAsString()));
  return status;
}

absl::Status CheckTexts(const v1::TranslateRequest& request) {
  for (int i = 0; i < request.contents_size(); ++i) {
    RETURN_IF_ERROR(CheckUtf8(request.contents(i), "contents[" + std::to_string(i) + "]"));
  }
  return absl::OkStatus();
}

struct TranslationClient::Impl {
  Impl(const std::string& target, const ClientOptions& client_options)
      : server(target),
        options(client_options),
        balanced(BalancedChannel(target, client_options)),
        plain(PlainChannel(target, client_options)),
        stubs(v1::TranslationService::NewStub(balanced), v1::ModelService::NewStub(plain),
              v1::GlossaryService::NewStub(plain), v1::MemoryService::NewStub(plain),
              grpc::health::v1::Health::NewStub(plain)) {}

  void Prepare(grpc::ClientContext* context) const {
    if (options.deadline < absl::InfiniteDuration()) {
      context->set_deadline(absl::ToChronoTime(absl::Now() + options.deadline));
    }
    ShowToken(context);
  }

  void ShowToken(grpc::ClientContext* context) const {
    if (!options.token.empty()) {
      context->AddMetadata("authorization", "Bearer " + options.token);
    }
  }

  // The status of a call over `channel`.
  absl::Status ToStatus(const grpc::Status& status, grpc::Channel* channel) const;

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request) const {
    constexpr bool balances = std::is_same_v<Stub, v1::TranslationService::Stub>;
    Stub& stub = *std::get<std::unique_ptr<Stub>>(stubs);
    grpc::ClientContext context;
    Prepare(&context);
    Response response;
    RETURN_IF_ERROR(ToStatus((stub.*method)(&context, request, &response),
                             balances ? balanced.get() : plain.get()));
    return response;
  }
  // Of a thing with this id.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> CallById(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                                 const Request&, Response*),
                                    const std::string& id) const {
    Request request;
    request.set_id(id);
    return Call(method, request);
  }

  v1::TranslationService::Stub* translation() const { return std::get<0>(stubs).get(); }

  const std::string server;
  const ClientOptions options;
  const std::shared_ptr<grpc::Channel> balanced;
  const std::shared_ptr<grpc::Channel> plain;
  const std::tuple<
      std::unique_ptr<v1::TranslationService::Stub>, std::unique_ptr<v1::ModelService::Stub>,
      std::unique_ptr<v1::GlossaryService::Stub>, std::unique_ptr<v1::MemoryService::Stub>,
      std::unique_ptr<grpc::health::v1::Health::Stub>>
      stubs;

  absl::Mutex mutex;
  int under_way ABSL_GUARDED_BY(mutex) = 0;  // calls of TranslateAsync
};

absl::Status TranslationClient::Impl::ToStatus(const grpc::Status& status,
                                               grpc::Channel* channel) const {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  if (NeverConnected(channel, status)) {
    absl::Status unreachable(
        code, "cannot reach " + server + ": " + CauseOf(server, options, status.error_message()));
    unreachable.SetPayload(kUnreachablePayload, absl::Cord());
    return unreachable;
  }
  absl::Status result(code, status.error_message());
  google::rpc::Status details;
  if (details.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : details.details()) {
      result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
    }
  }
  return result;
}

TranslationClient::TranslationClient(const std::string& server, const ClientOptions& options)
    : server_(server), impl_(std::make_unique<Impl>(server, options)) {}

TranslationClient::~TranslationClient() {
  absl::MutexLock lock(&impl_->mutex);
  impl_->mutex.Await(absl::Condition(
      +[](int* under_way) { return *under_way == 0; }, &impl_->under_way));
}

absl::StatusOr<v1::TranslateResponse> TranslationClient::Translate(
    const v1::TranslateRequest& request) {
  RETURN_IF_ERROR(CheckTexts(request));
  return impl_->Call(&v1::TranslationService::Stub::Translate, request);
}

std::function<void()> TranslationClient::TranslateAsync(v1::TranslateRequest request,
                                                        TranslateDone done) {
  if (absl::Status status = CheckTexts(request); !status.ok()) {
    done(std::move(status));
    return [] {};
  }
  struct Exchange {
    grpc::ClientContext context;
    v1::TranslateRequest request;
    v1::TranslateResponse response;
  };
  auto exchange = std::make_shared<Exchange>();
  exchange->request = std::move(request);
  impl_->Prepare(&exchange->context);
  {
    absl::MutexLock lock(&impl_->mutex);
    ++impl_->under_way;
  }
  std::function<void()> cancel = [weak = std::weak_ptr(exchange)] {
    if (const auto under_way = weak.lock()) under_way->context.TryCancel();
  };
  impl_->translation()->async()->Translate(
      &exchange->context, &exchange->request, &exchange->response,
      [impl = impl_.get(), exchange, done = std::move(done)](const grpc::Status& status) mutable {
        if (status.ok()) {
          done(std::move(exchange->response));
        } else {
          done(impl->ToStatus(status, impl->balanced.get()));
        }
        // The context holds the channel, which must not be destroyed on this thread: it would have
        // to wait for itself.
        exchange.reset();
        absl::MutexLock lock(&impl->mutex);
        --impl->under_way;
      });
  return cancel;
}

absl::Status TranslationClient::TranslateStream(
    const v1::TranslateRequest& request,
    absl::FunctionRef<bool(const v1::TranslateStreamResponse&)> on_message) {
  RETURN_IF_ERROR(CheckTexts(request));
  grpc::ClientContext context;
  impl_->Prepare(&context);
  const auto stream = impl_->translation()->TranslateStream(&context, request);
  for (v1::TranslateStreamResponse message; stream->Read(&message);) {
    if (!on_message(message)) context.TryCancel();
  }
  return impl_->ToStatus(stream->Finish(), impl_->balanced.get());
}

// A bulk call lasts as long as there are requests, so it has no deadline.
std::unique_ptr<BulkCall> TranslationClient::OpenBulk() {
  return std::make_unique<BulkCall>(BulkCall::Connection{
      .stub = impl_->translation(),
      .prepare = [impl = impl_.get()](grpc::ClientContext* context) { impl->ShowToken(context); },
      .to_status =
          [impl = impl_.get()](const grpc::Status& status) {
            return impl->ToStatus(status, impl->balanced.get());
          }});
}

absl::Duration TranslationClient::deadline() const { return impl_->options.deadline; }

absl::StatusOr<v1::ScoreResponse> TranslationClient::Score(const v1::ScoreRequest& request) {
  for (int i = 0; i < request.pairs_size(); ++i) {
    const std::string pair = "pairs[" + std::to_string(i) + "]";
    RETURN_IF_ERROR(CheckUtf8(request.pairs(i).source(), pair + ".source"));
    RETURN_IF_ERROR(CheckUtf8(request.pairs(i).target(), pair + ".target"));
  }
  return impl_->Call(&v1::TranslationService::Stub::Score, request);
}

absl::StatusOr<v1::TokenizeResponse> TranslationClient::Tokenize(
    const v1::TokenizeRequest& request) {
  for (int i = 0; i < request.contents_size(); ++i) {
    RETURN_IF_ERROR(CheckUtf8(request.contents(i), "contents[" + std::to_string(i) + "]"));
  }
  return impl_->Call(&v1::TranslationService::Stub::Tokenize, request);
}

absl::StatusOr<v1::DetectLanguageResponse> TranslationClient::DetectLanguage(
    const std::string& text) {
  RETURN_IF_ERROR(CheckUtf8(text, "contents[0]"));
  v1::DetectLanguageRequest request;
  request.add_contents(text);
  return impl_->Call(&v1::TranslationService::Stub::DetectLanguage, request);
}

absl::StatusOr<v1::ListModelsResponse> TranslationClient::ListModels() {
  return impl_->Call(&v1::ModelService::Stub::ListModels, {});
}

absl::StatusOr<v1::Model> TranslationClient::GetModel(const std::string& name) {
  v1::GetModelRequest request;
  request.set_name(name);
  return impl_->Call(&v1::ModelService::Stub::GetModel, request);
}

absl::StatusOr<v1::Glossary> TranslationClient::StoreGlossary(const std::string& id,
                                                              const v1::Glossary& glossary) {
  v1::CreateGlossaryRequest create;
  v1::ReplaceGlossaryRequest replace;
  *(id.empty() ? create.mutable_glossary() : replace.mutable_glossary()) = glossary;
  replace.set_id(id);
  return id.empty() ? impl_->Call(&v1::GlossaryService::Stub::CreateGlossary, create)
                    : impl_->Call(&v1::GlossaryService::Stub::ReplaceGlossary, replace);
}

absl::StatusOr<v1::ListGlossariesResponse> TranslationClient::ListGlossaries() {
  return impl_->Call(&v1::GlossaryService::Stub::ListGlossaries, {});
}

absl::StatusOr<v1::Glossary> TranslationClient::GetGlossaryEntries(const std::string& id) {
  return impl_->CallById(&v1::GlossaryService::Stub::GetGlossaryEntries, id);
}

absl::Status TranslationClient::DeleteGlossary(const std::string& id) {
  return impl_->CallById(&v1::GlossaryService::Stub::DeleteGlossary, id).status();
}

absl::StatusOr<v1::TranslationMemory> TranslationClient::CreateMemory(
    const v1::CreateMemoryRequest& request) {
  return impl_->Call(&v1::MemoryService::Stub::CreateMemory, request);
}

absl::StatusOr<v1::ListMemoriesResponse> TranslationClient::ListMemories() {
  return impl_->Call(&v1::MemoryService::Stub::ListMemories, {});
}

absl::StatusOr<v1::GetMemorySegmentsResponse> TranslationClient::GetMemorySegments(
    const std::string& id, int start) {
  v1::GetMemorySegmentsRequest request;
  request.set_id(id);
  request.set_start(start);
  return impl_->Call(&v1::MemoryService::Stub::GetMemorySegments, request);
}

absl::StatusOr<v1::TranslationMemory> TranslationClient::LearnSegments(
    const v1::LearnSegmentsRequest& request) {
  return impl_->Call(&v1::MemoryService::Stub::LearnSegments, request);
}

absl::Status TranslationClient::DeleteMemory(const std::string& id) {
  return impl_->CallById(&v1::MemoryService::Stub::DeleteMemory, id).status();
}

absl::StatusOr<bool> TranslationClient::Serving(const std::string& service) {
  using grpc::health::v1::HealthCheckResponse;
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  ASSIGN_OR_RETURN(const HealthCheckResponse response,
                   impl_->Call(&grpc::health::v1::Health::Stub::Check, request));
  return response.status() == HealthCheckResponse::SERVING;
}

bool IsUnreachable(const absl::Status& status) {
  return status.GetPayload(kUnreachablePayload).has_value();
}

std::vector<FieldViolation> FieldViolationsOf(const absl::Status& status) {
  std::vector<FieldViolation> violations;
  if (const auto bad_request = DetailOf<google::rpc::BadRequest>(status)) {
    for (const auto& violation : bad_request->field_violations()) {
      violations.push_back({violation.field(), violation.description()});
    }
  }
  return violations;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto retry = DetailOf<google::rpc::RetryInfo>(status);
  if (!retry.has_value()) return std::nullopt;
  return absl::Seconds(retry->retry_delay().seconds()) +
         absl::Nanoseconds(retry->retry_delay().nanos());
}

}  // namespace dragoman
