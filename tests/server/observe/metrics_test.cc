#include "server/observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "store/database.h"
#include "tests/server/test_server.h"

namespace dragoman {
namespace {

std::shared_ptr<const Model> LoadModel() {
  auto model = Model::Load("en-de", kModelDirectory, {.precision = Precision::kFloat32});
  EXPECT_TRUE(model.ok()) << model.status();
  return *model;
}

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() : metrics_(2) { metrics_.AddModel(*model_, absl::Seconds(1.5)); }

  double Sample(const std::string& name) {
    const Samples samples = ParseMetrics(metrics_.Text());
    const auto found = samples.find(name);
    if (found != samples.end()) return found->second;
    ADD_FAILURE() << "no sample " << name;
    return -1;
  }

  const std::shared_ptr<const Model> model_ = LoadModel();
  Metrics metrics_;
};

TEST_F(MetricsTest, EverySeriesButThoseOfModelsIsThereFromTheStart) {
  for (const char* name : {
           "dragoman_requests_total{code=\"OK\",method=\"Translate\",model=\"\"}",
           "dragoman_requests_total{code=\"DEADLINE_EXCEEDED\",method=\"Translate\",model=\"\"}",
           "dragoman_requests_total{code=\"NOT_FOUND\",method=\"Translate\",model=\"\"}",
           "dragoman_requests_total{code=\"NOT_FOUND\",method=\"Score\",model=\"\"}",
           "dragoman_requests_total{code=\"OK\",method=\"ListModels\",model=\"\"}",
           "dragoman_request_duration_seconds_count{method=\"Translate\",model=\"\"}",
           "dragoman_model_loads_total{model=\"en-de\",result=\"broken\"}",
           "dragoman_engine_step_seconds_count{phase=\"encode\"}",
           "dragoman_engine_step_seconds_count{phase=\"decode\"}",
           "dragoman_time_per_output_token_seconds_count",
           "dragoman_ok_duration_seconds_count{method=\"Translate\",model=\"\"}",
           "dragoman_requests_in_flight",
           "dragoman_queue_requests_limit",
           "dragoman_queue_tokens_limit",
           "dragoman_connections_limit",
           "dragoman_cpu_throttled_seconds_total",
           "dragoman_queue_requests{priority=\"interactive\"}",
           "dragoman_queue_requests{priority=\"batch\"}",
           "dragoman_queue_tokens{priority=\"interactive\"}",
           "dragoman_queue_tokens{priority=\"batch\"}",
           "dragoman_queue_oldest_age_seconds{priority=\"interactive\"}",
           "dragoman_queue_oldest_age_seconds{priority=\"batch\"}",
           "dragoman_batch_rows_count{phase=\"encode\"}",
           "dragoman_batch_rows_count{phase=\"decode\"}",
           "dragoman_batch_tokens_count{phase=\"decode\"}",
           "dragoman_engine_busy_seconds_total{worker=\"0\"}",
           "dragoman_engine_busy_seconds_total{worker=\"1\"}",
           "dragoman_engine_interactive_seconds_total{worker=\"0\"}",
           "dragoman_source_tokens_total",
           "dragoman_target_tokens_total",
           "dragoman_sentences_total",
           "dragoman_memory_matches_total{kind=\"exact\"}",
           "dragoman_glossary_terms_total{outcome=\"said\"}",
           "dragoman_source_characters_total",
           "dragoman_rejected_total{reason=\"queue_full\"}",
           "dragoman_rejected_total{reason=\"draining\"}",
           "dragoman_rejected_total{reason=\"principal_limit\"}",
           "dragoman_rejected_total{reason=\"unauthenticated\"}",
           "dragoman_reload_failures_total{what=\"certificates\"}",
           "dragoman_reload_failures_total{what=\"tokens\"}",
           "dragoman_invalid_total{reason=\"contents\"}",
           "dragoman_cancelled_total{cause=\"client\"}",
           "dragoman_cancelled_total{cause=\"deadline\"}",
           "dragoman_finish_total{reason=\"eos\"}",
           "dragoman_finish_total{reason=\"max_length\"}",
           "dragoman_finish_total{reason=\"repetition\"}",
           "dragoman_unknown_tokens_total",
           "dragoman_kv_cache_bytes",
           "dragoman_kv_cache_capacity_bytes",
           "dragoman_principal_requests_total{principal=\"anonymous\"}",
           "dragoman_principal_requests_total{principal=\"others\"}",
       }) {
    EXPECT_EQ(Sample(name), 0) << name;
  }
}

// The samples of one model.
std::set<std::string> SeriesOf(const Metrics& metrics, const std::string& model) {
  std::set<std::string> series;
  for (const auto& [sample, value] : ParseMetrics(metrics.Text())) {
    if (sample.find("model=\"" + model + "\"") != std::string::npos) series.insert(sample);
  }
  return series;
}

TEST_F(MetricsTest, AModelThatNobodyUsesHasFewSeries) {
  metrics_.SetBatchRows("en-de", 64);
  metrics_.OnModelLoaded("en-de", "1");
  EXPECT_LE(SeriesOf(metrics_, "en-de").size(), 10u);
}

TEST_F(MetricsTest, AModelHasAtMost150SeriesWhateverHappens) {
  metrics_.SetBatchRows("en-de", 64);
  metrics_.OnModelLoaded("en-de", "1");
  metrics_.OnTranslated(*model_, 5, {});
  metrics_.OnFirstText(*model_, absl::Milliseconds(1));
  for (const char* method : {"Translate", "TranslateStream", "TranslateBulk", "TranslateBulkItem",
                             "Score", "Tokenize"}) {
    for (const absl::Status& status :
         {absl::OkStatus(), absl::CancelledError(""), absl::InvalidArgumentError(""),
          absl::InternalError(""), absl::DeadlineExceededError(""), absl::UnavailableError(""),
          absl::ResourceExhaustedError(""), absl::UnimplementedError(""),
          absl::FailedPreconditionError("")}) {
      metrics_.OnCallStarted();
      metrics_.OnCallEnded({.method = method, .model = "en-de", .status = status});
    }
  }
  const std::set<std::string> series = SeriesOf(metrics_, "en-de");
  EXPECT_LE(series.size(), 150u);
  EXPECT_TRUE(series.contains(
      "dragoman_stage_duration_seconds_count{model=\"en-de\",stage=\"detokenize\"}"));
  // Other methods are timed for all models together.
  EXPECT_EQ(Sample("dragoman_request_duration_seconds_count{method=\"Score\",model=\"\"}"), 9);
  EXPECT_EQ(Sample("dragoman_ok_duration_seconds_count{method=\"Translate\",model=\"en-de\"}"), 1);
}

TEST_F(MetricsTest, SaysWhatIsLoadedAndWhatRuns) {
  const std::string text = metrics_.Text();
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "dragoman_model_info\\{isa=\"[a-z0-9_]+\",matmul=\"native\",model=\"en-de\","
                  "precision=\"float32\"\\} 1\n"));
  EXPECT_THAT(text, testing::ContainsRegex("dragoman_build_info\\{version=\"[0-9.]+\"\\} 1\n"));
  EXPECT_EQ(Sample("dragoman_model_load_seconds{model=\"en-de\"}"), 1.5);
  for (const char* name :
       {"process_cpu_seconds_total", "process_resident_memory_bytes",
        "process_virtual_memory_bytes", "process_open_fds", "process_max_fds", "process_threads"}) {
    EXPECT_GT(Sample(name), 0) << name;
  }
  // The start time is between 2020 and a minute from now.
  EXPECT_GT(Sample("process_start_time_seconds"), 1577836800);
  EXPECT_LT(Sample("process_start_time_seconds"), absl::ToUnixSeconds(absl::Now()) + 60);
}

TEST_F(MetricsTest, EveryFamilyHasHelpAndAType) {
  const std::string text = metrics_.Text();
  for (const auto& [sample, value] : ParseMetrics(text)) {
    std::string family = sample.substr(0, sample.find('{'));
    for (const char* suffix : {"_bucket", "_sum", "_count"}) {
      if (family.ends_with(suffix)) family.resize(family.size() - std::strlen(suffix));
    }
    EXPECT_THAT(text, testing::HasSubstr("# HELP " + family + " "));
    EXPECT_THAT(text, testing::HasSubstr("# TYPE " + family + " "));
  }
}

// The names in the first column of the table in docs/metrics.md; those that gRPC gives are not
// ours.
std::set<std::string> DocumentedSeries() {
  std::ifstream file("docs/metrics.md");
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `") || line.starts_with("| `grpc_")) continue;
    const std::string column = line.substr(0, line.find(" | ", 2));
    const std::vector<std::string> parts = absl::StrSplit(column, '`');
    for (size_t i = 1; i < parts.size(); i += 2) names.insert("dragoman_" + parts[i]);
  }
  return names;
}

TEST_F(MetricsTest, TheDocumentationNamesEverySeries) {
  // What begins with an event, or only if there are such files.
  metrics_.AddHttpPath("probes", "/metrics");
  metrics_.OnTranslated(*model_, 5, {});
  metrics_.OnFirstText(*model_, absl::Milliseconds(1));
  metrics_.SetBatchRows("en-de", 64);
  metrics_.OnModelLoaded("en-de", "1");
  metrics_.OnModelEvicted("en-fr");
  metrics_.OnReload(Reloaded::kTokens, absl::OkStatus());
  metrics_.OnCertificates(absl::UnixEpoch(), absl::UnixEpoch());
  std::set<std::string> names;
  const std::vector<std::string> lines = absl::StrSplit(metrics_.Text(), '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (line.starts_with("# TYPE dragoman_")) names.insert(words[2]);
  }
  EXPECT_EQ(DocumentedSeries(), names);
}

TEST_F(MetricsTest, CallIsInFlightUntilItEnds) {
  metrics_.OnCallStarted();
  EXPECT_EQ(Sample("dragoman_requests_in_flight"), 1);
  metrics_.OnCallEnded({.method = "Translate",
                        .model = "en-de",
                        .status = absl::OkStatus(),
                        .duration = absl::Milliseconds(7)});
  EXPECT_EQ(Sample("dragoman_requests_in_flight"), 0);
  EXPECT_EQ(Sample("dragoman_requests_total{code=\"OK\",method=\"Translate\",model=\"en-de\"}"), 1);
  const std::string labels = "method=\"Translate\",model=\"en-de\"";
  EXPECT_EQ(Sample("dragoman_request_duration_seconds_bucket{" + labels + ",le=\"0.005\"}"), 0);
  EXPECT_EQ(Sample("dragoman_request_duration_seconds_bucket{" + labels + ",le=\"0.01\"}"), 1);
  EXPECT_NEAR(Sample("dragoman_request_duration_seconds_sum{" + labels + "}"), .007, 1e-9);
  EXPECT_EQ(Sample("dragoman_ok_duration_seconds_bucket{" + labels + ",le=\"0.1\"}"), 1);
  metrics_.OnCallStarted();
  metrics_.OnCallEnded({.method = "Translate",
                        .model = "en-de",
                        .status = absl::InternalError(""),
                        .duration = absl::Milliseconds(4)});
  EXPECT_EQ(Sample("dragoman_request_duration_seconds_count{" + labels + "}"), 2);
  EXPECT_EQ(Sample("dragoman_ok_duration_seconds_count{" + labels + "}"), 1);
}

TEST_F(MetricsTest, CallsOverGrpcHaveTheNamesOfOpenTelemetryToo) {
  const std::string method = "grpc_method=\"dragoman.v1.TranslationService/Translate\"";
  const std::string started = "grpc_server_call_started_total{" + method + "}";
  const std::string seconds = "grpc_server_call_duration_seconds";
  EXPECT_EQ(Sample(started), 0);
  metrics_.OnCallStarted("Translate");
  EXPECT_EQ(Sample(started), 1);
  CallRecord record = {.method = "Translate",
                       .status = absl::InternalError(""),
                       .duration = absl::Milliseconds(7),
                       .over_grpc = true};
  metrics_.OnCallEnded(record);
  // What came over HTTP, or in a bulk call, is none of gRPC's.
  record.over_grpc = false;
  metrics_.OnCallStarted();
  metrics_.OnCallEnded(record);
  metrics_.OnBulkItemEnded(record);
  const std::string labels = "{" + method + ",grpc_status=\"INTERNAL\"";
  EXPECT_EQ(Sample(seconds + "_count" + labels + "}"), 1);
  EXPECT_EQ(Sample(seconds + "_bucket" + labels + ",le=\"0.005\"}"), 0);
  EXPECT_EQ(Sample(seconds + "_bucket" + labels + ",le=\"0.01\"}"), 1);
  EXPECT_EQ(Sample(started), 1);
}

TEST_F(MetricsTest, MessagesOverGrpcAreMeasuredInBytes) {
  metrics_.OnRpcMessages("Translate", absl::StatusCode::kOk, 3000, 0);
  const std::string labels =
      "{grpc_method=\"dragoman.v1.TranslationService/Translate\",grpc_status=\"OK\"";
  const std::string received = "grpc_server_call_rcvd_total_compressed_message_size_bytes";
  EXPECT_EQ(Sample(received + "_sum" + labels + "}"), 3000);
  EXPECT_EQ(Sample(received + "_bucket" + labels + ",le=\"2048\"}"), 0);
  EXPECT_EQ(Sample(received + "_bucket" + labels + ",le=\"4096\"}"), 1);
  const std::string sent = "grpc_server_call_sent_total_compressed_message_size_bytes";
  EXPECT_EQ(Sample(sent + "_count" + labels + "}"), 1);
  EXPECT_EQ(Sample(sent + "_bucket" + labels + ",le=\"0\"}"), 1);
}

TEST_F(MetricsTest, AMethodOfAdminServiceHasItsServicesName) {
  metrics_.OnCallStarted("AdminService/Drain");
  EXPECT_EQ(
      Sample("grpc_server_call_started_total{grpc_method=\"dragoman.v1.AdminService/Drain\"}"), 1);
}

TEST_F(MetricsTest, ReasonsComeFromAShortList) {
  const auto end = [&](const absl::Status& status, bool draining = false) {
    metrics_.OnCallStarted();
    metrics_.OnCallEnded({.method = "Translate", .status = status, .draining = draining});
  };
  end(InvalidField("contents[17]", "bad"));
  end(InvalidField("options.beam_size", "bad"));
  end(InvalidField("target_language", "bad"));
  end(absl::NotFoundError("no model"));
  end(absl::InvalidArgumentError("bad"));
  end(absl::ResourceExhaustedError("full"));
  end(absl::UnavailableError("the server is draining"), /*draining=*/true);
  end(absl::UnavailableError("model en-fr is not loaded"));
  absl::Status store = absl::UnavailableError("the store: is full");
  store.SetPayload(kStorePayload, absl::Cord());
  end(store);
  end(absl::DeadlineExceededError("late"));
  end(absl::CancelledError("gone"));
  end(absl::CancelledError("gone"), /*draining=*/true);
  for (const char* name :
       {"dragoman_invalid_total{reason=\"contents\"}", "dragoman_invalid_total{reason=\"options\"}",
        "dragoman_invalid_total{reason=\"language\"}", "dragoman_invalid_total{reason=\"model\"}",
        "dragoman_invalid_total{reason=\"other\"}",
        "dragoman_rejected_total{reason=\"queue_full\"}",
        "dragoman_rejected_total{reason=\"draining\"}",
        "dragoman_rejected_total{reason=\"not_loaded\"}",
        "dragoman_rejected_total{reason=\"store\"}", "dragoman_cancelled_total{cause=\"deadline\"}",
        "dragoman_cancelled_total{cause=\"client\"}",
        "dragoman_cancelled_total{cause=\"drain\"}"}) {
    EXPECT_EQ(Sample(name), 1) << name;
  }
}

TEST_F(MetricsTest, PrincipalsHaveABoundedNumberOfSeries) {
  const auto call = [&](std::optional<std::string_view> principal) {
    metrics_.OnCallStarted();
    metrics_.OnCallEnded(
        {.method = "Translate", .status = absl::OkStatus(), .principal = principal});
  };
  call(std::nullopt);  // nobody was identified: not counted
  call("");
  for (int i = 0; i < 1000; ++i) call("team-" + std::to_string(i));
  for (int i = 0; i < 5; ++i) call("team-0");
  EXPECT_EQ(Sample("dragoman_principal_requests_total{principal=\"anonymous\"}"), 1);
  EXPECT_EQ(Sample("dragoman_principal_requests_total{principal=\"team-0\"}"), 6);
  double series = 0, calls = 0;
  for (const auto& [sample, value] : ParseMetrics(metrics_.Text())) {
    if (sample.rfind("dragoman_principal_requests_total{", 0) == 0) ++series, calls += value;
  }
  EXPECT_EQ(series, 102);  // 100 principals, anonymous and others
  EXPECT_EQ(calls, 1006);
}

TEST_F(MetricsTest, NamesNoPrincipalIfNoneIsToBeNamed) {
  Metrics discreet(1, /*named_principals=*/0);
  for (const char* principal : {"", "team-a", "team-b"}) {
    discreet.OnCallStarted();
    discreet.OnCallEnded(
        {.method = "Translate", .status = absl::OkStatus(), .principal = principal});
  }
  const Samples samples = ParseMetrics(discreet.Text());
  EXPECT_EQ(samples.at("dragoman_principal_requests_total{principal=\"anonymous\"}"), 1);
  EXPECT_EQ(samples.at("dragoman_principal_requests_total{principal=\"others\"}"), 2);
  EXPECT_THAT(discreet.Text(), testing::Not(testing::HasSubstr("team")));
}

TEST_F(MetricsTest, CountsTheWorkOfTheEngine) {
  metrics_.OnEncode(*model_, 2, 10, absl::Milliseconds(2));
  metrics_.OnDecodeStep(*model_, 2, 8, absl::Milliseconds(1));
  metrics_.OnBusy(1, absl::Milliseconds(3), absl::Milliseconds(1));
  EXPECT_EQ(Sample("dragoman_batch_rows_sum{phase=\"encode\"}"), 10);
  EXPECT_EQ(Sample("dragoman_batch_rows_sum{phase=\"decode\"}"), 8);
  EXPECT_EQ(Sample("dragoman_batch_tokens_sum{phase=\"decode\"}"), 2);
  EXPECT_EQ(Sample("dragoman_engine_step_seconds_count{phase=\"decode\"}"), 1);
  EXPECT_NEAR(Sample("dragoman_engine_busy_seconds_total{worker=\"1\"}"), .003, 1e-9);
  EXPECT_NEAR(Sample("dragoman_engine_interactive_seconds_total{worker=\"1\"}"), .001, 1e-9);
}

TEST_F(MetricsTest, CountReloadsAndGiveExpiryTimes) {
  EXPECT_THAT(metrics_.Text(), testing::Not(testing::HasSubstr("dragoman_certificate_not")));
  metrics_.OnReload(Reloaded::kTokens, absl::InvalidArgumentError("broken"));
  metrics_.OnReload(Reloaded::kCertificates, absl::OkStatus());
  metrics_.OnCertificates(absl::FromUnixSeconds(1000), absl::FromUnixSeconds(2000));
  EXPECT_EQ(Sample("dragoman_reload_failures_total{what=\"tokens\"}"), 1);
  EXPECT_EQ(Sample("dragoman_reload_failures_total{what=\"certificates\"}"), 0);
  EXPECT_NEAR(Sample("dragoman_last_reload_success_timestamp_seconds{what=\"certificates\"}"),
              static_cast<double>(absl::ToUnixSeconds(absl::Now())), 60);
  EXPECT_EQ(Sample("dragoman_certificate_not_before_timestamp_seconds"), 1000);
  EXPECT_EQ(Sample("dragoman_certificate_not_after_timestamp_seconds"), 2000);
}

TEST(ServedMetrics, TellWhatWasTranslated) {
  TestServer server;
  v1::TranslateRequest request = RequestFor({"The cat is old.", "", "Ünïcödé"});
  request.mutable_output()->set_tokens(true);
  v1::TranslateResponse response;
  ASSERT_TRUE(server.Translate(request, &response).ok());
  int source_tokens = 0;
  int target_tokens = 0;
  for (const v1::Translation& translation : response.translations()) {
    source_tokens += translation.source_tokens();
    target_tokens += translation.hypotheses(0).tokens_size();
  }
  server.AwaitSample("dragoman_requests_in_flight", 0);
  const Samples samples = server.Metrics();
  EXPECT_EQ(samples.at("dragoman_sentences_total"), 2);  // the empty one needs no translation
  EXPECT_EQ(samples.at("dragoman_source_tokens_total"), source_tokens);
  EXPECT_EQ(samples.at("dragoman_target_tokens_total"), target_tokens);
  EXPECT_EQ(samples.at("dragoman_source_characters_total"), 15 + 7);
  EXPECT_GT(samples.at("dragoman_unknown_tokens_total"), 0);
  EXPECT_EQ(samples.at("dragoman_finish_total{reason=\"eos\"}"), 2);
  EXPECT_EQ(samples.at("dragoman_kv_cache_capacity_bytes"), 256 << 20);
  EXPECT_EQ(samples.at("dragoman_time_per_output_token_seconds_count"), 2);
  for (const char* stage : {"tokenize", "queue", "encode", "decode", "detokenize"}) {
    EXPECT_EQ(samples.at(std::string("dragoman_stage_duration_seconds_count{model=\"en-de\","
                                     "stage=\"") +
                         stage + "\"}"),
              1);
  }
}

TEST_F(MetricsTest, NewLabelsGetTheirOwnSeries) {
  Metrics metrics(1);
  for (int i = 0; i < 2; ++i) {
    metrics.OnCallStarted();
    metrics.OnCallEnded({.method = "Summon", .model = "fi-sv", .status = absl::DataLossError("")});
  }
  metrics.OnCallStarted();
  metrics.OnCallEnded(
      {.method = "ListModels", .model = "", .status = absl::DeadlineExceededError("")});
  metrics.OnBusy(7, absl::Seconds(1), absl::Seconds(1));
  metrics.OnTranslated(*model_, 5, {});
  const Samples samples = ParseMetrics(metrics.Text());
  EXPECT_EQ(samples.at("dragoman_requests_total{code=\"DATA_LOSS\",method=\"Summon\","
                       "model=\"fi-sv\"}"),
            2);
  EXPECT_EQ(samples.at("dragoman_requests_total{code=\"DEADLINE_EXCEEDED\","
                       "method=\"ListModels\",model=\"\"}"),
            1);
  EXPECT_EQ(samples.at("dragoman_engine_busy_seconds_total{worker=\"7\"}"), 1);
  EXPECT_EQ(samples.at("dragoman_stage_duration_seconds_count{model=\"en-de\",stage=\"queue\"}"),
            1);
}

}  // namespace
}  // namespace dragoman
