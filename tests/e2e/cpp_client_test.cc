// The client library against the real server.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "client/translation_client.h"
#include "tests/e2e/server_process.h"

namespace dragoman::cpp_client_test {
namespace {

TEST(CppClient, TranslatesAsHuggingFaceDoes) {
  ServerProcess server;
  ASSERT_NE(server.grpc_address(), "");
  std::ifstream file("tests/golden/expected/en-de/golden.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  TranslationClient client(server.grpc_address());
  v1::TranslateRequest request;
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_NONE);
  for (int i = 0; i < 50; ++i) request.add_contents(golden["inputs"][i]["text"]);
  const absl::StatusOr<v1::TranslateResponse> response = client.Translate(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->translations_size(), 50);
  for (int i = 0; i < 50; ++i) {
    const nlohmann::json& want = golden["inputs"][i]["beam4"][0];
    const v1::Hypothesis& got = response->translations(i).hypotheses(0);
    EXPECT_EQ(got.text(), want["text"].get<std::string>());
    EXPECT_NEAR(got.score(), want["score"].get<double>(), 1e-4);
  }
  EXPECT_EQ(server.Stop(), 0);
}

TEST(CppClient, SeesErrorsAndTheEndOfTheServer) {
  ServerProcess server;
  ASSERT_NE(server.grpc_address(), "");
  TranslationClient client(server.grpc_address());
  EXPECT_TRUE(client.Serving("dragoman.v1.TranslationService").value_or(false));
  v1::TranslateRequest request;
  request.add_contents("Good morning.");
  request.mutable_options()->set_beam_size(99);
  const absl::Status refused = client.Translate(request).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(FieldViolationsOf(refused).size(), 1u);
  EXPECT_EQ(FieldViolationsOf(refused)[0].field, "options.beam_size");
  request.clear_options();
  request.set_model("xx-yy");
  EXPECT_EQ(client.Translate(request).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_TRUE(IsUnreachable(client.ListModels().status()));
}

}  // namespace
}  // namespace dragoman::cpp_client_test
