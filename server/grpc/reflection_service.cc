#include "server/grpc/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>

#include "server/grpc/raw_message.h"

namespace dragoman {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using Request = ReflectionService::Request;
using Response = ReflectionService::Response;

// Files that are compiled into this program.
const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>* added,
             grpc::reflection::v1::FileDescriptorResponse* response) {
  if (!added->insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, response);
}

void NotFound(const std::string& what, Response* response) {
  response->mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response->mutable_error_response()->set_error_message("there is no " + what);
}

void AnswerFile(const FileDescriptor* file, const std::string& what, Response* response) {
  if (file == nullptr) return NotFound(what, response);
  std::set<const FileDescriptor*> added;
  AddFile(*file, &added, response->mutable_file_descriptor_response());
}

const FileDescriptor* FileOfExtension(const std::string& type, int number) {
  const Descriptor* const message = Pool().FindMessageTypeByName(type);
  const FieldDescriptor* const extension =
      message == nullptr ? nullptr : Pool().FindExtensionByNumber(message, number);
  return extension == nullptr ? nullptr : extension->file();
}

void AnswerExtensions(const std::string& type, Response* response) {
  const Descriptor* const message = Pool().FindMessageTypeByName(type);
  if (message == nullptr) return NotFound("message " + type, response);
  std::vector<const FieldDescriptor*> extensions;
  Pool().FindAllExtensions(message, &extensions);
  auto* const answer = response->mutable_all_extension_numbers_response();
  answer->set_base_type_name(type);
  for (const FieldDescriptor* extension : extensions) {
    answer->add_extension_number(extension->number());
  }
}

// Reads a message, writes its answer, reads the next one, until the client has no more.  It owns
// itself until OnDone.
class ReflectionStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, Response> {
 public:
  ReflectionStream(const ReflectionService* service, absl::StatusOr<Share> room)
      : service_(service), room_(std::move(room)) {
    room_.ok() ? StartRead(&incoming_) : FinishWith(room_.status());
  }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    Request request;
    const absl::Status read = ReadMessage(incoming_, kMostOfSmall, &request);
    incoming_.Clear();
    if (!read.ok()) return FinishWith(read);
    response_ = service_->Answer(request);
    StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&incoming_);
  }
  void OnDone() override { delete this; }

 private:
  void FinishWith(const absl::Status& status) {
    Finish({static_cast<grpc::StatusCode>(status.code()), std::string(status.message())});
  }

  const ReflectionService* const service_;
  const absl::StatusOr<Share> room_;  // for a request that arrives
  grpc::ByteBuffer incoming_;
  Response response_;
};

}  // namespace

ReflectionService::ReflectionService(std::vector<std::string> services, RoomForAnybody room)
    : services_(std::move(services)), room_(std::move(room)) {
  int index = 0;
  for (const char* path : {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                           "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
    AddMethod(new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::BIDI_STREAMING,
                                                   nullptr));
    MarkMethodCallback(index++, new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, Response>(
                                    [this](grpc::CallbackServerContext* context) {
                                      return new ReflectionStream(this, room_(context->peer()));
                                    }));
  }
}

Response ReflectionService::Answer(const Request& request) const {
  Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kListServices:
      for (const std::string& name : services_) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case Request::kFileByFilename:
      AnswerFile(Pool().FindFileByName(request.file_by_filename()),
                 "file " + request.file_by_filename(), &response);
      break;
    case Request::kFileContainingSymbol:
      AnswerFile(Pool().FindFileContainingSymbol(request.file_containing_symbol()),
                 "symbol " + request.file_containing_symbol(), &response);
      break;
    case Request::kFileContainingExtension: {
      const auto& wanted = request.file_containing_extension();
      AnswerFile(FileOfExtension(wanted.containing_type(), wanted.extension_number()),
                 "extension " + std::to_string(wanted.extension_number()) + " of " +
                     wanted.containing_type(),
                 &response);
      break;
    }
    case Request::kAllExtensionNumbersOfType:
      AnswerExtensions(request.all_extension_numbers_of_type(), &response);
      break;
    default:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message("the message asks for nothing");
      break;
  }
  return response;
}

}  // namespace dragoman
