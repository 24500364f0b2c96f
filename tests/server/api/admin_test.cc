// AdminService: who reaches it and who may call what, and what its methods do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dragoman/v1/admin.grpc.pb.h"
#include "tests/server/http_client.h"
#include "tests/server/test_server.h"

namespace dragoman::admin_test {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMethods[] = {"ListModels", "LoadModel",   "UnloadModel", "PinModel",
                                    "UnpinModel", "SetLogLevel", "Drain"};

std::string TokenOf(const std::string& principal) { return principal + "-token-0123456789"; }

class AdminTest : public testing::Test {
 protected:
  AdminTest() : path_(testing::TempDir() + "dragoman_admin_" + std::to_string(getpid())) {
    InitLogging({}, &log_);
    options_.models.push_back({"second", kModelDirectory});
  }
  ~AdminTest() override {
    server_ = nullptr;
    InitLogging(LogOptions());
    std::filesystem::remove(path_ + ".tokens");
  }

  // `tokens` is the content of the token file; "": there is none.
  void Start(const std::string& address, const std::string& tokens) {
    options_.config.set_admin_address(address);
    if (!tokens.empty()) {
      std::ofstream(path_ + ".tokens") << tokens;
      options_.auth.tokens = path_ + ".tokens";
    }
    absl::StatusOr<std::unique_ptr<Server>> server =
        Server::Start(options_, nullptr, [this] { ++drains_; });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    stub_ = v1::AdminService::NewStub(
        grpc::CreateChannel(server_->admin_address(), grpc::InsecureChannelCredentials()));
  }

  // The status of a call of a method, with a request that changes nothing that matters.
  grpc::Status Call(const std::string& method, const std::string& principal = "") {
    grpc::ClientContext context;
    if (!principal.empty()) {
      context.AddMetadata("authorization", "Bearer " + TokenOf(principal));
    }
    v1::LoadModelRequest load;
    v1::LoadModelResponse loaded;
    v1::UnloadModelRequest unload;
    v1::UnloadModelResponse unloaded;
    v1::PinModelRequest pin;
    v1::PinModelResponse pinned;
    v1::UnpinModelRequest unpin;
    v1::UnpinModelResponse unpinned;
    v1::SetLogLevelRequest level;
    v1::SetLogLevelResponse set;
    v1::DrainResponse drained;
    pin.set_name("second");
    unpin.set_name("second");
    load.set_name("second");
    unload.set_name("second");
    level.set_level("info");
    if (method == "ListModels") return stub_->ListModels(&context, {}, &models_);
    if (method == "LoadModel") return stub_->LoadModel(&context, load, &loaded);
    if (method == "UnloadModel") return stub_->UnloadModel(&context, unload, &unloaded);
    if (method == "PinModel") return stub_->PinModel(&context, pin, &pinned);
    if (method == "UnpinModel") return stub_->UnpinModel(&context, unpin, &unpinned);
    if (method == "SetLogLevel") return stub_->SetLogLevel(&context, level, &set);
    return stub_->Drain(&context, {}, &drained);
  }

  // Waits until the model has as many versions in memory, loading or draining.
  void AwaitVersions(const std::string& model, int versions) {
    int last = -1;
    for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end;) {
      ASSERT_TRUE(Call("ListModels").ok());
      for (const v1::Model& listed : models_.models()) {
        if (listed.name() == model) last = listed.versions_size();
      }
      if (last == versions) return;
      absl::SleepFor(absl::Milliseconds(5));
    }
    ADD_FAILURE() << model << " has " << last << " versions, want " << versions;
  }

  grpc::Status Translate(const std::string& model) {
    const auto channel =
        grpc::CreateChannel(server_->grpc_address(), grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    v1::TranslateRequest request = RequestFor({"The cat is old."});
    request.set_model(model);
    v1::TranslateResponse response;
    return v1::TranslationService::NewStub(channel)->Translate(&context, request, &response);
  }

  const std::string path_;
  ServerOptions options_ = TestOptions();
  std::ostringstream log_;
  std::atomic<int> drains_ = 0;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
  v1::ListModelsResponse models_;
};

TEST_F(AdminTest, EachMethodNeedsItsRight) {
  std::string tokens;
  std::vector<std::string> principals = {"clerk", "chief"};
  const auto add = [&](const std::string& principal, const std::string& rights) {
    absl::StrAppend(&tokens, principal, " ", TokenOf(principal), " ", rights, "\n");
  };
  add("clerk", "");
  add("chief", "admin=all methods=none");
  for (const std::string method : kMethods) {
    add(method, "admin=" + method);
    principals.push_back(method);
  }
  Start("127.0.0.1:0", tokens);
  for (const std::string& principal : principals) {
    for (const std::string method : kMethods) {
      const grpc::Status status = Call(method, principal);
      const bool may = principal == "chief" || principal == method;
      // The model is one that always stays.
      const StatusCode done =
          method == "UnpinModel" ? StatusCode::FAILED_PRECONDITION : StatusCode::OK;
      EXPECT_EQ(status.error_code(), may ? done : StatusCode::PERMISSION_DENIED)
          << principal << " calls " << method << ": " << status.error_message();
      if (may) continue;
      EXPECT_EQ(status.error_message(),
                absl::StrCat("\"", principal, "\" lacks the right admin=", method));
      EXPECT_EQ(DetailOf<google::rpc::ErrorInfo>(status).metadata().at("value"), method);
    }
  }
  EXPECT_EQ(drains_, 2);
  for (const std::string method : kMethods) {
    EXPECT_EQ(Call(method).error_code(), StatusCode::UNAUTHENTICATED) << method;
    EXPECT_EQ(Call(method, "stranger").error_code(), StatusCode::UNAUTHENTICATED) << method;
  }
  server_ = nullptr;
  EXPECT_THAT(log_.str(), HasSubstr("method=AdminService/UnloadModel api=admin "));
  EXPECT_THAT(log_.str(), HasSubstr("reason=missing_right right=\"admin=Drain\" "));
  EXPECT_THAT(log_.str(), HasSubstr("admin: unload value=second principal=chief request_id="));
  EXPECT_THAT(log_.str(), Not(HasSubstr("-token-0123456789")));
}

TEST_F(AdminTest, IsAtItsOwnAddressOnly) {
  Start("unix:" + path_, "");
  const auto unimplemented = [](const std::string& address, const char* method) {
    const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    grpc::ClientContext context;
    if (std::string(method) == "Drain") {
      v1::DrainResponse response;
      return v1::AdminService::NewStub(channel)->Drain(&context, {}, &response).error_code();
    }
    v1::TranslateResponse response;
    return v1::TranslationService::NewStub(channel)
        ->Translate(&context, {}, &response)
        .error_code();
  };
  EXPECT_EQ(unimplemented(server_->grpc_address(), "Drain"), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(unimplemented(server_->admin_address(), "Translate"), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(drains_, 0);
  for (const char* path : {"/v1/admin/drain", "/dragoman.v1.AdminService/Drain"}) {
    EXPECT_EQ(
        HttpPost(server_->http_address(), path, "{}", "Content-Type: application/json\r\n").code,
        404);
  }
}

TEST_F(AdminTest, TheOwnerOfTheProcessNeedsNoTokenAtItsSocketUnlessThereAreTokens) {
  Start("unix:" + path_, "");
  struct stat file;
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_TRUE(Call("ListModels").ok());
  server_ = nullptr;
  EXPECT_NE(stat(path_.c_str(), &file), 0);

  Start("unix:" + path_,
        "clerk " + TokenOf("clerk") + "\nchief " + TokenOf("chief") + " admin=all");
  EXPECT_EQ(Call("ListModels").error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Call("ListModels", "clerk").error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(Call("ListModels", "chief").ok());
}

TEST_F(AdminTest, AModelThatIsUnloadedIsRefusedUntilItIsLoaded) {
  Start("unix:" + path_, "");
  ASSERT_TRUE(Translate("second").ok());
  ASSERT_TRUE(Call("UnloadModel").ok());
  AwaitVersions("second", 0);
  EXPECT_EQ(Translate("second").error_code(), StatusCode::UNAVAILABLE);
  EXPECT_TRUE(Translate("en-de").ok());
  server_->Reload();  // does not bring it back
  ASSERT_TRUE(Call("LoadModel").ok());
  AwaitVersions("second", 1);
  for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end;) {
    if (Translate("second").ok()) break;
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_TRUE(Translate("second").ok());
}

TEST_F(AdminTest, ALastModelStays) {
  options_.models.resize(1);
  Start("unix:" + path_, "");
  grpc::ClientContext context, other;
  v1::UnloadModelRequest request;
  v1::UnloadModelResponse response;
  request.set_name("en-de");
  EXPECT_EQ(stub_->UnloadModel(&context, request, &response).error_code(),
            StatusCode::FAILED_PRECONDITION);
  request.set_name("no-no");
  EXPECT_EQ(stub_->UnloadModel(&other, request, &response).error_code(), StatusCode::NOT_FOUND);
  EXPECT_TRUE(Translate("en-de").ok());
}

TEST_F(AdminTest, TheLevelOfTheLogChangesAtOnce) {
  Start("unix:" + path_, "");
  const auto set = [&](const char* level) {
    grpc::ClientContext context;
    v1::SetLogLevelRequest request;
    v1::SetLogLevelResponse response;
    request.set_level(level);
    return stub_->SetLogLevel(&context, request, &response);
  };
  EXPECT_EQ(set("loud").error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(set("error").ok());
  EXPECT_TRUE(Translate("en-de").ok());
  EXPECT_TRUE(set("info").ok());
  EXPECT_TRUE(Translate("second").ok());
  server_ = nullptr;
  const std::string log = log_.str();
  EXPECT_THAT(log, HasSubstr("admin: log level value=error principal=owner "));
  EXPECT_THAT(log, Not(HasSubstr("method=Translate api=grpc model=en-de")));
  EXPECT_THAT(log, HasSubstr("method=Translate api=grpc model=second"));
}

}  // namespace
}  // namespace dragoman::admin_test
