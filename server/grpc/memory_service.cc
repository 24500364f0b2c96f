#include "server/grpc/memory_service.h"

#include "server/api/memories.h"
#include "server/grpc/raw_message.h"

namespace dragoman {

grpc::ServerUnaryReactor* MemoryService::CreateMemory(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  return AnswerMethod("CreateMemory", dragoman::CreateMemory, *parts_, context, *request, response);
}

grpc::ServerUnaryReactor* MemoryService::GetMemory(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return AnswerMethod("GetMemory", dragoman::GetMemory, *parts_, context, *request, response);
}

grpc::ServerUnaryReactor* MemoryService::ListMemories(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  return AnswerMethod("ListMemories", dragoman::ListMemories, *parts_, context, *request, response);
}

grpc::ServerUnaryReactor* MemoryService::GetMemorySegments(grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* request,
                                                           grpc::ByteBuffer* response) {
  return AnswerMethod("GetMemorySegments", dragoman::GetMemorySegments, *parts_, context, *request,
                      response);
}

grpc::ServerUnaryReactor* MemoryService::LearnSegments(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* response) {
  return AnswerMethod("LearnSegments", dragoman::LearnSegments, *parts_, context, *request,
                      response);
}

grpc::ServerUnaryReactor* MemoryService::DeleteMemory(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request,
                                                      grpc::ByteBuffer* response) {
  return AnswerMethod("DeleteMemory", dragoman::DeleteMemory, *parts_, context, *request, response);
}

}  // namespace dragoman
