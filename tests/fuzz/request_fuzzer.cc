// Any bytes as a request, through the whole service: gRPC, the exchange, the engine with a small
// model, and back.  The first byte chooses the method, the rest is the message.
//
// Whatever is sent, the call ends in time.  Its status code is one that a client's mistake can
// have, the translation service adds a request id, and an OK response has a translation for each
// text.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>

#include "dragoman/v1/translation.pb.h"
#include "engine/base/mutex_checks.h"
#include "tests/fuzz/fuzz_server.h"
#include "tests/fuzz/fuzzer.h"

namespace dragoman {
namespace {

constexpr char kTranslate[] = "dragoman.v1.TranslationService/Translate";
constexpr const char* kMethods[] = {
    kTranslate,
    "dragoman.v1.ModelService/GetModel",
    "dragoman.v1.ModelService/ListModels",
    "dragoman.v1.TranslationService/Score",
    "dragoman.v1.TranslationService/Tokenize",
    "dragoman.v1.TranslationService/TranslateStream",
    "dragoman.v1.TranslationService/TranslateBulk",
    "dragoman.v1.TranslationService/NoSuchMethod",
    "google.cloud.translation.v3.TranslationService/TranslateText",
    "google.cloud.translation.v3.TranslationService/TranslateDocument",
    "inference.GRPCInferenceService/ModelInfer",
};

Server& TheGrpcServer() {
  static Server& server = *[] {
    DisableMutexChecks();  // in the gRPC of Debian 13 they find a cycle among its own locks
    return StartForever(FuzzServerOptions());
  }();
  return server;
}

struct Answer {
  grpc::Status status;
  std::string message;
  bool has_request_id = false;
};

// Sends one message and reads until the call ends; unary methods answer once.
Answer Send(const std::string& method, const std::string& message) {
  static auto& stub = *new grpc::GenericStub(TheGrpcServer().InProcessChannel());
  const grpc::Slice slice(message);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  grpc::CompletionQueue queue;
  const auto wait = [&] {
    void* tag = nullptr;
    bool ok = false;
    const auto patience = std::chrono::system_clock::now() + std::chrono::seconds(60);
    FUZZ_CHECK(queue.AsyncNext(&tag, &ok, patience) == grpc::CompletionQueue::GOT_EVENT);
    return ok;
  };
  const auto call = stub.PrepareCall(&context, "/" + method, &queue);
  call->StartCall(nullptr);
  bool ok = wait();
  if (ok) {
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    ok = wait();
  }
  Answer answer;
  while (ok) {
    grpc::ByteBuffer response;
    call->Read(&response, nullptr);
    ok = wait();
    grpc::Slice bytes;
    if (ok && response.DumpToSingleSlice(&bytes).ok()) {
      answer.message.assign(bytes.begin(), bytes.end());
    }
  }
  call->Finish(&answer.status, nullptr);
  wait();
  answer.has_request_id = context.GetServerTrailingMetadata().contains("x-request-id");
  return answer;
}

void CheckCode(grpc::StatusCode code) {
  switch (code) {
    case grpc::OK:
    case grpc::INVALID_ARGUMENT:
    case grpc::NOT_FOUND:
    case grpc::UNIMPLEMENTED:
    case grpc::FAILED_PRECONDITION:
    case grpc::RESOURCE_EXHAUSTED:
    case grpc::DEADLINE_EXCEEDED:
      return;
    default:
      std::fprintf(stderr, "the code is %d\n", code);
      std::abort();
  }
}

void CheckTranslate(const std::string& message, const Answer& answer) {
  if (answer.status.error_code() != grpc::DEADLINE_EXCEEDED) FUZZ_CHECK(answer.has_request_id);
  if (!answer.status.ok()) return;
  v1::TranslateRequest request;
  v1::TranslateResponse response;
  FUZZ_CHECK(request.ParseFromString(message));
  FUZZ_CHECK(response.ParseFromString(answer.message));
  FUZZ_CHECK(response.translations_size() == request.contents_size());
  for (const v1::Translation& translation : response.translations()) {
    FUZZ_CHECK(translation.hypotheses_size() >= 1);
  }
}

}  // namespace
}  // namespace dragoman

FUZZER(request) {
  if (size == 0) return;
  const std::string method = dragoman::kMethods[data[0] % std::size(dragoman::kMethods)];
  const std::string message(reinterpret_cast<const char*>(data) + 1, size - 1);
  const dragoman::Answer answer = dragoman::Send(method, message);
  dragoman::CheckCode(answer.status.error_code());
  if (method == dragoman::kTranslate) dragoman::CheckTranslate(message, answer);
}
