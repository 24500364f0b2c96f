#include "server/grpc/reflection_service.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "dragoman/v1/translation.pb.h"

namespace dragoman {
namespace {

using ReflectionRequest = ReflectionService::Request;
using ReflectionResponse = ReflectionService::Response;

const ReflectionService& Reflection() {
  static const auto& service = *new ReflectionService({"a.A", "b.B"}, nullptr);
  return service;
}

std::vector<std::string> FilesIn(const ReflectionResponse& response) {
  std::vector<std::string> names;
  for (const std::string& file : response.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto proto;
    EXPECT_TRUE(proto.ParseFromString(file));
    names.push_back(proto.name());
  }
  return names;
}

TEST(Reflection, ListsTheServices) {
  ReflectionRequest request;
  request.set_host("here");
  request.set_list_services("");
  const ReflectionResponse response = Reflection().Answer(request);
  ASSERT_EQ(response.list_services_response().service_size(), 2);
  EXPECT_EQ(response.list_services_response().service(1).name(), "b.B");
  EXPECT_EQ(response.valid_host(), "here");
  EXPECT_EQ(response.original_request().SerializeAsString(), request.SerializeAsString());
}

TEST(Reflection, AFileComesOnceWithAllThatItImports) {
  v1::TranslateRequest::descriptor();  // so that its file is there
  ReflectionRequest by_symbol, by_name;
  by_symbol.set_file_containing_symbol("dragoman.v1.TranslationService.Translate");
  by_name.set_file_by_filename("dragoman/v1/translation.proto");
  const std::vector<std::string> names = FilesIn(Reflection().Answer(by_symbol));
  EXPECT_EQ(names.front(), "dragoman/v1/translation.proto");
  EXPECT_EQ(names, FilesIn(Reflection().Answer(by_name)));
  EXPECT_THAT(names, testing::Contains("google/protobuf/duration.proto"));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Reflection, WhatIsNotThereIsAnErrorInTheStream) {
  ReflectionRequest symbol, file, extension, type, nothing;
  symbol.set_file_containing_symbol("no.Such");
  file.set_file_by_filename("no/such.proto");
  extension.mutable_file_containing_extension()->set_containing_type("dragoman.v1.Model");
  extension.mutable_file_containing_extension()->set_extension_number(7);
  type.set_all_extension_numbers_of_type("no.Such");
  for (const ReflectionRequest& request : {symbol, file, extension, type}) {
    const ReflectionResponse response = Reflection().Answer(request);
    EXPECT_EQ(response.error_response().error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_THAT(response.error_response().error_message(), testing::HasSubstr("there is no "));
  }
  EXPECT_EQ(Reflection().Answer(nothing).error_response().error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(Reflection, AMessageWithoutExtensionsHasNone) {
  ReflectionRequest request;
  request.set_all_extension_numbers_of_type("dragoman.v1.TranslateRequest");
  const auto answer = Reflection().Answer(request).all_extension_numbers_response();
  EXPECT_EQ(answer.base_type_name(), "dragoman.v1.TranslateRequest");
  EXPECT_EQ(answer.extension_number_size(), 0);
}

}  // namespace
}  // namespace dragoman
