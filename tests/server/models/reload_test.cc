// Models that are replaced, added and removed while the server is serving: good versions, broken
// ones, ones that are too large, and ones whose translations differ from the golden ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <streambuf>

#include "absl/time/clock.h"
#include "server/observe/logging.h"
#include "tests/server/test_server.h"

namespace dragoman::reload_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTrained[] = "tests/golden/models/marian-trained";
constexpr char kOther[] = "tests/golden/models/marian-rand";  // the same vocabulary, random weights
constexpr char kText[] = "The cat is old.";

class ReloadTest : public testing::Test {
 protected:
  ReloadTest()
      : root_(fs::path(testing::TempDir()) /
              ("dragoman_reload_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(root_);
    options_.models = {{"en-de", Directory("current").string()}};
    Point("current", kTrained);
  }
  ~ReloadTest() override { fs::remove_all(root_); }

  fs::path Directory(const std::string& name) const { return root_ / name; }

  // Makes `name` a directory with copies of a model's files.
  fs::path Copy(const std::string& name, const std::string& model) const {
    const fs::path directory = Directory(name);
    fs::create_directories(directory);
    for (const auto& file : fs::directory_iterator(model)) {
      fs::copy_file(file.path(), directory / file.path().filename());
    }
    return directory;
  }

  // Points the link `name` to a directory in one atomic step.
  void Point(const std::string& name, const fs::path& target) const {
    const fs::path next = Directory(name + ".next");
    fs::create_directory_symlink(fs::absolute(target), next);
    fs::rename(next, Directory(name));
  }

  void Start() {
    server_ = std::make_unique<TestServer>(options_, [this] { return Wanted(); });
  }
  // Sets the configuration from now on.
  void Configure(const ServerOptions& options) {
    absl::MutexLock lock(&mutex_);
    wanted_ = options;
  }
  absl::StatusOr<ServerOptions> Wanted() {
    absl::MutexLock lock(&mutex_);
    return wanted_.has_value() ? *wanted_ : absl::StatusOr<ServerOptions>(options_);
  }

  v1::ListModelsResponse List() {
    grpc::ClientContext context;
    v1::ListModelsResponse list;
    const grpc::Status status =
        server_->models().ListModels(&context, v1::ListModelsRequest(), &list);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return list;
  }
  // The versions of a model, such as "stable ready" or "canary failed golden".
  std::vector<std::string> States(const std::string& model = "en-de") {
    std::vector<std::string> states;
    const v1::ListModelsResponse list = List();
    for (const v1::Model& listed : list.models()) {
      if (listed.name() != model) continue;
      for (const v1::ModelVersion& version : listed.versions()) {
        std::string state = v1::Model::State_Name(version.state()).substr(6);
        states.push_back(version.label() + " " + state +
                         (version.failure().empty() ? "" : " " + version.failure()));
      }
    }
    return states;
  }
  void AwaitStates(const std::vector<std::string>& want, const std::string& model = "en-de") {
    for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end;) {
      if (States(model) == want) return;
      absl::SleepFor(absl::Milliseconds(5));
    }
    EXPECT_EQ(States(model), want);
  }
  std::string Version(const std::string& model = "en-de") {
    const v1::ListModelsResponse list = List();
    for (const v1::Model& listed : list.models()) {
      if (listed.name() == model) return listed.version();
    }
    return "";
  }
  void AwaitOtherVersion(const std::string& than, const std::string& model = "en-de") {
    for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end;) {
      if (Version(model) != than) return;
      absl::SleepFor(absl::Milliseconds(5));
    }
    FAIL() << "still version " << than;
  }
  grpc::Status Translate(const v1::TranslateRequest& request, v1::TranslateResponse* response) {
    return server_->Translate(request, response);
  }

  const fs::path root_;
  ServerOptions options_ = TestOptions();
  std::unique_ptr<TestServer> server_;
  absl::Mutex mutex_;
  std::optional<ServerOptions> wanted_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(ReloadTest, ANewVersionTakesOver) {
  Start();
  const std::string first = Version(), translation = server_->Translate(kText);
  Point("current", kOther);
  server_->server().Reload();
  AwaitOtherVersion(first);
  AwaitStates({"stable READY"});
  v1::TranslateResponse response;
  ASSERT_TRUE(Translate(RequestFor({kText}), &response).ok());
  EXPECT_EQ(response.model(), "en-de");
  EXPECT_EQ(response.model_label(), "stable");
  EXPECT_EQ(response.model_version(), Version());
  EXPECT_NE(response.translations(0).hypotheses(0).text(), translation);
  // It is switched back.
  Point("current", kTrained);
  server_->server().Reload();
  AwaitOtherVersion(response.model_version());
  EXPECT_EQ(Version(), first);
  EXPECT_EQ(server_->Translate(kText), translation);
  server_->AwaitSample("dragoman_model_loads_total{model=\"en-de\",result=\"loaded\"}", 3);
  AwaitStates({"stable READY"});
  EXPECT_EQ(server_->Metrics().at("dragoman_model_version_info{model=\"en-de\",version=\"" + first +
                                  "\"}"),
            1);
  EXPECT_FALSE(server_->Metrics().contains(
      "dragoman_model_version_info{model=\"en-de\",version=\"" + response.model_version() + "\"}"));
}

TEST_F(ReloadTest, ATouchedModelIsNotReplaced) {
  Copy("touched", kTrained);
  Point("current", Directory("touched"));
  // This one is looked at after the other, so that its new version tells that both were.
  Point("last", kTrained);
  options_.models.push_back({"last", Directory("last").string()});
  Start();
  const std::string version = Version(), last = Version("last");
  PendingTranslation pending(server_.get(), LongRequest());  // a version that is replaced drains
  server_->AwaitSample("dragoman_requests_in_flight", 1);
  fs::last_write_time(Directory("touched") / "config.json", fs::file_time_type::clock::now());
  Point("last", kOther);
  server_->server().Reload();
  AwaitOtherVersion(last, "last");
  EXPECT_EQ(States(), std::vector<std::string>{"stable READY"});
  EXPECT_EQ(Version(), version);
  EXPECT_EQ(server_->Metrics().at("dragoman_model_stale{model=\"en-de\"}"), 0);
  pending.Cancel();
  pending.Await();
}

TEST_F(ReloadTest, EveryFileOfAModelIsPartOfItsVersion) {
  Copy("changed", kTrained);
  Point("current", Directory("changed"));
  Start();
  const std::string version = Version();
  std::ofstream(Directory("changed") / "generation_config.json", std::ios::app) << "\n";
  server_->server().Reload();
  AwaitOtherVersion(version);
}

TEST_F(ReloadTest, ABrokenVersionIsReportedAndTheOldOneKeepsServing) {
  Start();
  const std::string version = Version(), translation = server_->Translate(kText);
  const fs::path broken = Copy("broken", kOther);
  fs::resize_file(broken / "model.safetensors", fs::file_size(broken / "model.safetensors") / 2);
  Point("current", broken);
  server_->server().Reload();
  AwaitStates({"stable READY", "stable FAILED broken"});
  EXPECT_EQ(server_->Translate(kText), translation);
  EXPECT_EQ(server_->Metrics().at("dragoman_model_stale{model=\"en-de\"}"), 1);
  EXPECT_EQ(server_->Metrics().at("dragoman_model_loads_total{model=\"en-de\",result=\"broken\"}"),
            1);
  // The model is repaired.
  fs::copy_file(fs::path(kOther) / "model.safetensors", broken / "model.safetensors",
                fs::copy_options::overwrite_existing);
  server_->server().Reload();
  AwaitOtherVersion(version);
  AwaitStates({"stable READY"});
  EXPECT_EQ(server_->Metrics().at("dragoman_model_stale{model=\"en-de\"}"), 0);
}

TEST_F(ReloadTest, AnErrorThatWasUndoneIsNoLongerReported) {
  Start();
  Point("current", root_);  // a directory without a model
  server_->server().Reload();
  AwaitStates({"stable READY", "stable FAILED broken"});
  Point("current", kTrained);
  server_->server().Reload();
  AwaitStates({"stable READY"});
  EXPECT_EQ(server_->Metrics().at("dragoman_model_stale{model=\"en-de\"}"), 0);
}

TEST_F(ReloadTest, AModelThatDoesNotFitIsNotEvenRead) {
  Start();
  const fs::path large = Copy("large", kOther);
  std::ifstream file(large / "config.json");
  std::string config{std::istreambuf_iterator<char>(file), {}};
  const size_t width = config.find("\"d_model\": ");
  ASSERT_NE(width, std::string::npos);
  const size_t comma = config.find(',', width);
  config.replace(width, comma - width, "\"d_model\": 65536");
  std::ofstream(large / "config.json") << config;
  Point("current", large);
  server_->server().Reload();
  AwaitStates({"stable READY", "stable FAILED memory"});
  EXPECT_NE(server_->Translate(kText), "");
}

TEST_F(ReloadTest, AGoldenSentenceDecides) {
  Start();
  const std::string version = Version(), translation = server_->Translate(kText);
  const fs::path other = Copy("other", kOther);
  std::ofstream(other / "golden.json") << "{\"goldens\": [{\"source\": \"" << kText
                                       << "\", \"target\": \"" << translation << "\"}]}";
  Point("current", other);
  server_->server().Reload();
  AwaitStates({"stable READY", "stable FAILED golden"});
  EXPECT_EQ(Version(), version);
  fs::remove(other / "golden.json");
  server_->server().Reload();
  AwaitOtherVersion(version);
}

TEST_F(ReloadTest, AGoldenOfTheConfigurationDecidesAtTheStartToo) {
  options_.models[0].goldens = {{kText, "No such translation."}};
  const auto server = Server::Start(options_);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("golden sentence 1 of 1"));
}

TEST_F(ReloadTest, ModelsComeAndGoWithTheConfiguration) {
  Start();
  ServerOptions two = options_;
  two.models.push_back({"second", kOther});
  two.default_model = "second";
  Configure(two);
  server_->server().Reload();
  AwaitStates({"stable READY"}, "second");
  v1::TranslateRequest request = RequestFor({kText});
  v1::TranslateResponse response;
  ASSERT_TRUE(Translate(request, &response).ok());
  EXPECT_EQ(response.model(), "second");

  Configure(options_);
  server_->server().Reload();
  AwaitStates({}, "second");
  ASSERT_TRUE(Translate(request, &response).ok());
  EXPECT_EQ(response.model(), "en-de");
  request.set_model("second");
  EXPECT_EQ(Translate(request, &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ReloadTest, AModelThatCannotBeAddedIsUnavailable) {
  Start();
  ServerOptions two = options_;
  two.models.push_back({"second", Directory("nothing").string()});
  Configure(two);
  server_->server().Reload();
  AwaitStates({"stable FAILED broken"}, "second");
  v1::TranslateRequest request = RequestFor({kText});
  v1::TranslateResponse response;
  request.set_model("second");
  EXPECT_EQ(Translate(request, &response).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(server_->Translate(kText), "");
}

TEST_F(ReloadTest, IfNothingOfANewConfigurationLoadsTheOldModelsKeepServing) {
  Start();
  ServerOptions other = options_;
  other.models = {{"other", Directory("nothing").string()}};
  other.default_model = "other";
  Configure(other);
  server_->server().Reload();
  AwaitStates({"stable FAILED broken"}, "other");
  EXPECT_NE(server_->Translate(kText), "");
}

TEST_F(ReloadTest, AnOldVersionLeavesWithItsLastSentence) {
  Start();
  PendingTranslation pending(server_.get(), LongRequest());
  server_->AwaitSample("dragoman_requests_in_flight", 1);
  Point("current", kOther);
  server_->server().Reload();
  AwaitStates({"stable READY", "stable DRAINING"});
  v1::TranslateResponse response;
  ASSERT_TRUE(Translate(RequestFor({kText}), &response).ok());
  EXPECT_EQ(response.model_version(), Version());
  pending.Cancel();
  EXPECT_EQ(pending.Await().error_code(), grpc::StatusCode::CANCELLED);
  AwaitStates({"stable READY"});
}

TEST_F(ReloadTest, TheSameTextsComeToTheSameCanary) {
  options_.canaries = {{"en-de", kOther, 30}};
  Start();
  AwaitStates({"stable READY", "canary READY"});
  int canary = 0;
  for (int i = 0; i < 60; ++i) {
    const v1::TranslateRequest request = RequestFor({"The cat is " + std::to_string(i) + "."});
    v1::TranslateResponse once, again;
    ASSERT_TRUE(Translate(request, &once).ok());
    ASSERT_TRUE(Translate(request, &again).ok());
    EXPECT_EQ(once.model_label(), again.model_label());
    EXPECT_EQ(once.model(), "en-de");
    canary += once.model_label() == "canary";
  }
  EXPECT_GT(canary, 6);
  EXPECT_LT(canary, 35);
  EXPECT_EQ(server_->Metrics().at("dragoman_requests_total{code=\"OK\",method=\"Translate\","
                                  "model=\"en-de@canary\"}"),
            2 * canary);
}

TEST_F(ReloadTest, ARequestMayNameTheLabel) {
  options_.canaries = {{"en-de", kOther, 0}};
  Start();
  v1::TranslateResponse response;
  for (const auto& [name, label] : {std::pair("en-de", "stable"),
                                    {"en-de@stable", "stable"},
                                    {"en-de@canary", "canary"},
                                    {"@canary", "canary"}}) {
    v1::TranslateRequest request = RequestFor({kText});
    request.set_model(name);
    ASSERT_TRUE(Translate(request, &response).ok()) << name;
    EXPECT_EQ(response.model_label(), label) << name;
  }
  v1::TranslateRequest request = RequestFor({kText});
  request.set_model("en-de@best");
  EXPECT_EQ(Translate(request, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  // The canary is removed: no request can name it any more.
  ServerOptions without = options_;
  without.canaries.clear();
  Configure(without);
  server_->server().Reload();
  AwaitStates({"stable READY"});
  request.set_model("en-de@canary");
  EXPECT_EQ(Translate(request, &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

// Learns from the log when the model begins to be loaded.
class LoadingTest : public ReloadTest, std::streambuf {
 protected:
  LoadingTest() {
    Point("last", kTrained);  // is looked at after the other one
    options_.models.push_back({"last", Directory("last").string()});
    InitLogging({}, &log_);
  }
  ~LoadingTest() override {
    server_ = nullptr;
    InitLogging(LogOptions());
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (std::string_view(text, size).find(" loading model=en-de ") != std::string_view::npos) {
      ++loads_;
      if (!changing_.empty()) std::ofstream(changing_, std::ios::app) << "\n";
    }
    return size;
  }

  std::ostream log_{this};
  std::atomic<int> loads_ = 0;
  fs::path changing_;  // a file that changes whenever the model is being loaded
};

TEST_F(LoadingTest, FilesThatChangeMeanwhileAreNotServed) {
  Start();
  const std::string version = Version(), last = Version("last");
  changing_ = Copy("changing", kOther) / "generation_config.json";
  Point("current", Directory("changing"));
  Point("last", kOther);
  server_->server().Reload();
  AwaitOtherVersion(last, "last");
  EXPECT_EQ(Version(), version);
}

TEST_F(LoadingTest, ABrokenVersionIsLoadedAgainOnlyIfItChanges) {
  options_.model_poll = absl::Milliseconds(20);
  Start();
  const std::string version = Version(), last = Version("last");
  const fs::path broken = Copy("broken", kOther);
  fs::resize_file(broken / "model.safetensors", 1000);
  Point("current", broken);
  AwaitStates({"stable READY", "stable FAILED broken"});
  const int loads = loads_;
  Point("last", kOther);
  AwaitOtherVersion(last, "last");
  EXPECT_EQ(loads_, loads);
  fs::copy_file(fs::path(kOther) / "model.safetensors", broken / "model.safetensors",
                fs::copy_options::overwrite_existing);
  AwaitOtherVersion(version);
}

TEST_F(ReloadTest, ChangesAreSeenWithoutBeingTold) {
  options_.model_poll = absl::Milliseconds(20);
  Start();
  const std::string version = Version();
  Point("current", kOther);
  AwaitOtherVersion(version);
}

}  // namespace
}  // namespace dragoman::reload_test
