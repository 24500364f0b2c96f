#include "tests/client/fake_server.h"

#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "google/rpc/error_details.pb.h"

namespace dragoman {
namespace {

grpc::Status WithDetail(grpc::StatusCode code, const std::string& message,
                        const google::protobuf::Message& detail) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  status.add_details()->PackFrom(detail);
  return grpc::Status(code, message, status.SerializeAsString());
}

// The status for the condition that a text names.  `attempts` counts the requests so far, including
// this one.
grpc::Status Answer(const std::string& text, int index, size_t attempts) {
  if (text == "bad") {
    google::rpc::BadRequest detail;
    const std::string field = "contents[" + std::to_string(index) + "]";
    detail.add_field_violations()->set_field(field);
    detail.mutable_field_violations(0)->set_description("is bad");
    return WithDetail(grpc::INVALID_ARGUMENT, "the request is bad", detail);
  }
  if (text == "draining once" && attempts > 1) return grpc::Status::OK;
  if (text == "draining twice" && attempts > 3)
    return grpc::Status::OK;  // the first request was an "a"
  if (text == "busy once" && attempts > 1) return grpc::Status::OK;
  if (text == "broken after eleven" && attempts <= 11) return grpc::Status::OK;
  if (text == "broken" || text == "broken after eleven")
    return grpc::Status(grpc::INTERNAL, "internal error");
  if (text == "wrong option") {
    google::rpc::BadRequest detail;
    detail.add_field_violations()->set_field("options.beam_size");
    return WithDetail(grpc::INVALID_ARGUMENT, "options.beam_size: is wrong", detail);
  }
  if (text == "busy" || text == "busy once") {
    google::rpc::RetryInfo detail;
    detail.mutable_retry_delay()->set_nanos(250'000'000);
    return WithDetail(grpc::RESOURCE_EXHAUSTED, "too much is waiting", detail);
  }
  if (text == "draining" || text == "draining once" || text == "draining twice") {
    return grpc::Status(grpc::UNAVAILABLE, "the server is draining");
  }
  if (text == "slow") absl::SleepFor(absl::Milliseconds(500));  // as a slow server would
  return grpc::Status::OK;
}

v1::Model EnDe() {
  v1::Model model;
  model.set_name("en-de");
  model.set_version("v1");
  model.set_architecture("MarianMTModel");
  model.set_precision("float32");
  model.add_language_pairs()->set_source("en");
  model.mutable_language_pairs(0)->set_target("de");
  model.set_is_default(true);
  model.set_state(v1::Model::STATE_READY);
  return model;
}

}  // namespace

FakeServer::FakeServer() {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterService(&translations_);
  builder.RegisterService(&models_);
  server_ = builder.BuildAndStart();
  DRAGOMAN_CHECK(server_ != nullptr);
  server_->GetHealthCheckService()->SetServingStatus("dragoman.v1.TranslationService", true);
}

FakeServer::~FakeServer() { server_->Shutdown(); }

std::vector<v1::TranslateRequest> FakeServer::requests() const {
  absl::MutexLock lock(&translations_.mutex);
  return translations_.requests;
}

void FakeServer::SetServing(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
}

grpc::Status FakeServer::Translations::Translate(grpc::ServerContext* context,
                                                 const v1::TranslateRequest* request,
                                                 v1::TranslateResponse* response) {
  size_t attempts = 0;
  {
    absl::MutexLock lock(&mutex);
    requests.push_back(*request);
    attempts = requests.size();
  }
  for (int i = 0; i < request->contents_size(); ++i) {
    std::string text = request->contents(i);
    // gRPC does not tell the thread of a call that its client has gone: it has to ask.
    while (text == "never" && !context->IsCancelled()) absl::SleepFor(absl::Milliseconds(1));
    if (grpc::Status status = Answer(text, i, attempts); !status.ok()) return status;
    std::transform(text.begin(), text.end(), text.begin(), ::toupper);
    v1::Translation* translation = response->add_translations();
    translation->set_source_tokens(static_cast<int32_t>(text.size()) + 1);
    const int hypotheses = std::max(request->options().num_hypotheses(), 1);
    for (int n = 0; n < hypotheses; ++n) {
      v1::Hypothesis* hypothesis = translation->add_hypotheses();
      hypothesis->set_text(n == 0 ? text : text + " " + std::to_string(n));
      hypothesis->set_score(-0.23f - static_cast<float>(n));
      hypothesis->set_finish_reason(v1::FINISH_REASON_EOS);
      if (request->output().tokens()) hypothesis->add_tokens(text);
      if (request->output().tokens()) hypothesis->add_token_ids(7);
    }
  }
  response->set_model("en-de");
  return grpc::Status::OK;
}

grpc::Status FakeServer::Translations::TranslateBulk(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::TranslateBulkResponse, v1::TranslateBulkRequest>* call) {
  for (v1::TranslateBulkRequest item; call->Read(&item);) {
    v1::TranslateBulkResponse answer;
    answer.set_id(item.id());
    const grpc::Status status = Translate(context, &item.request(), answer.mutable_response());
    if (status.error_code() == grpc::UNAVAILABLE) return status;
    if (item.request().contents(0) == "hang up once" && !std::exchange(hung_up, true)) {
      return grpc::Status(grpc::UNAVAILABLE, "the server hangs up");
    }
    if (!status.ok()) {
      v1::Error* const error = answer.mutable_error();
      error->set_code(status.error_code());
      error->set_message(status.error_message());
      google::rpc::Status rich;
      rich.ParseFromString(status.error_details());
      for (const google::protobuf::Any& detail : rich.details()) {
        google::rpc::BadRequest bad_request;
        google::rpc::RetryInfo retry;
        if (detail.UnpackTo(&bad_request)) {
          error->set_field(bad_request.field_violations(0).field());
          error->set_message(bad_request.field_violations(0).description());
        } else if (detail.UnpackTo(&retry)) {
          *error->mutable_retry_delay() = retry.retry_delay();
        }
      }
    }
    call->Write(answer);
  }
  return grpc::Status::OK;
}

grpc::Status FakeServer::Models::ListModels(grpc::ServerContext*, const v1::ListModelsRequest*,
                                            v1::ListModelsResponse* response) {
  *response->add_models() = EnDe();
  return grpc::Status::OK;
}

grpc::Status FakeServer::Models::GetModel(grpc::ServerContext*, const v1::GetModelRequest* request,
                                          v1::Model* response) {
  if (request->name() != "en-de") {
    return grpc::Status(grpc::NOT_FOUND, "no model \"" + request->name() + "\"; there is en-de");
  }
  *response = EnDe();
  return grpc::Status::OK;
}

}  // namespace dragoman
