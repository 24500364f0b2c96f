// What the metrics say of the messages of real calls.

#include <gtest/gtest.h>

#include <string>

#include "tests/server/test_server.h"

namespace dragoman {
namespace {

class MessageBytesTest : public testing::Test {
 protected:
  // Of all calls of a method, which ended with this code.
  double Sum(const std::string& direction, const std::string& method, const std::string& code) {
    return server_.Metrics().at(
        "grpc_server_call_" + direction +
        "_total_compressed_message_size_bytes_sum{grpc_method=\"dragoman.v1." + method +
        "\",grpc_status=\"" + code + "\"}");
  }

  TestServer server_;
};

TEST_F(MessageBytesTest, OfACallAreThoseOfItsMessageAndItsAnswer) {
  const v1::TranslateRequest request = RequestFor({"The cat is old."});
  v1::TranslateResponse response;
  ASSERT_TRUE(server_.Translate(request, &response).ok());
  const std::string method = "TranslationService/Translate";
  EXPECT_EQ(Sum("rcvd", method, "OK"), request.ByteSizeLong());
  EXPECT_EQ(Sum("sent", method, "OK"), response.ByteSizeLong());

  grpc::ClientContext context;
  v1::ListModelsResponse models;
  ASSERT_TRUE(server_.models().ListModels(&context, {}, &models).ok());
  EXPECT_EQ(Sum("rcvd", "ModelService/ListModels", "OK"), 0);
  EXPECT_EQ(Sum("sent", "ModelService/ListModels", "OK"), models.ByteSizeLong());
}

TEST_F(MessageBytesTest, OfAnErrorNoneAreSent) {
  v1::TranslateRequest request = RequestFor({"The cat is old."});
  request.set_model("gone");
  v1::TranslateResponse response;
  ASSERT_FALSE(server_.Translate(request, &response).ok());
  EXPECT_EQ(Sum("rcvd", "TranslationService/Translate", "NOT_FOUND"), request.ByteSizeLong());
  EXPECT_EQ(Sum("sent", "TranslationService/Translate", "NOT_FOUND"), 0);
}

TEST_F(MessageBytesTest, OfAStreamAreAllOfThem) {
  grpc::ClientContext context;
  const v1::TranslateRequest request = RequestFor({"The cat is old.", "The sea is cold."});
  const auto stream = server_.translation().TranslateStream(&context, request);
  size_t sent = 0;
  for (v1::TranslateStreamResponse message; stream->Read(&message);) sent += message.ByteSizeLong();
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(Sum("rcvd", "TranslationService/TranslateStream", "OK"), request.ByteSizeLong());
  EXPECT_EQ(Sum("sent", "TranslationService/TranslateStream", "OK"), sent);

  grpc::ClientContext other;
  const auto bulk = server_.translation().TranslateBulk(&other);
  size_t received = 0, answered = 0;
  for (const char* id : {"a", "b", "c"}) {
    v1::TranslateBulkRequest item;
    item.set_id(id);
    *item.mutable_request() = request;
    received += item.ByteSizeLong();
    ASSERT_TRUE(bulk->Write(item));
  }
  bulk->WritesDone();
  for (v1::TranslateBulkResponse answer; bulk->Read(&answer);) answered += answer.ByteSizeLong();
  ASSERT_TRUE(bulk->Finish().ok());
  EXPECT_EQ(Sum("rcvd", "TranslationService/TranslateBulk", "OK"), received);
  EXPECT_EQ(Sum("sent", "TranslationService/TranslateBulk", "OK"), answered);
}

}  // namespace
}  // namespace dragoman
