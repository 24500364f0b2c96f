#include "server/grpc/glossary_service.h"

#include "server/api/glossaries.h"
#include "server/grpc/raw_message.h"

namespace dragoman {

grpc::ServerUnaryReactor* GlossaryService::CreateGlossary(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return AnswerMethod("CreateGlossary", dragoman::CreateGlossary, *parts_, context, *request,
                      response);
}

grpc::ServerUnaryReactor* GlossaryService::GetGlossary(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  return AnswerMethod("GetGlossary", dragoman::GetGlossary, *parts_, context, *request, response);
}

grpc::ServerUnaryReactor* GlossaryService::ListGlossaries(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return AnswerMethod("ListGlossaries", dragoman::ListGlossaries, *parts_, context, *request,
                      response);
}

grpc::ServerUnaryReactor* GlossaryService::GetGlossaryEntries(grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request,
                                                              grpc::ByteBuffer* response) {
  return AnswerMethod("GetGlossaryEntries", dragoman::GetGlossaryEntries, *parts_, context,
                      *request, response);
}

grpc::ServerUnaryReactor* GlossaryService::ReplaceGlossary(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  return AnswerMethod("ReplaceGlossary", dragoman::ReplaceGlossary, *parts_, context, *request,
                      response);
}

grpc::ServerUnaryReactor* GlossaryService::DeleteGlossary(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request,
                                                          grpc::ByteBuffer* response) {
  return AnswerMethod("DeleteGlossary", dragoman::DeleteGlossary, *parts_, context, *request,
                      response);
}

}  // namespace dragoman
