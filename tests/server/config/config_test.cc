#include "server/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/config/settings.h"
#include "tests/base/doc_table.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<CommandLine> Parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "dragoman-server");
  return ParseCommandLine(static_cast<int>(flags.size()), flags.data());
}

// A file that is removed at the end of the test.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(testing::TempDir() + "dragoman_config_test.txtpb") {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  const std::string path_;
};

TEST(Config, OneModelIsEnoughAndTheRestHasTheDefaultsOfTheDesign) {
  const auto parsed = Parse({"--model", "en-de=/models/en-de"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const ServerOptions& options = parsed->options;
  ASSERT_EQ(options.models.size(), 1u);
  EXPECT_EQ(options.models[0].name, "en-de");
  EXPECT_EQ(options.models[0].directory, "/models/en-de");
  EXPECT_EQ(options.default_model, "en-de");
  EXPECT_EQ(options.config.grpc_address(), "127.0.0.1:50051");
  EXPECT_EQ(options.config.http_address(), "127.0.0.1:9464");
  EXPECT_EQ(options.precision, Precision::kAuto);
  EXPECT_EQ(options.pool.workers, 0);
  EXPECT_EQ(options.pool.max_batch_rows, 0);  // auto
  EXPECT_EQ(options.pool.max_waiting_requests, 256);
  EXPECT_EQ(options.limits.max_texts, 128);
  EXPECT_EQ(options.limits.max_characters, 131072);
  EXPECT_EQ(options.limits.max_source_tokens, 512);
  EXPECT_EQ(options.limits.max_beam_size, 16);
  EXPECT_EQ(options.limits.max_hypotheses, 8);
  EXPECT_EQ(options.max_message_bytes, 1 << 20);
  EXPECT_EQ(ToDuration(options.config.drain_delay()), absl::ZeroDuration());
  EXPECT_EQ(ToDuration(options.config.drain_timeout()), absl::Seconds(30));
  EXPECT_FALSE(options.tls.enabled());
  EXPECT_EQ(options.auth.tokens, "");
  EXPECT_EQ(options.auth.max_requests_per_principal, 0);
  EXPECT_EQ(options.config.metrics_principals(), 100);
  EXPECT_EQ(options.connections.keepalive_time, absl::Minutes(1));
  EXPECT_EQ(options.connections.max_age, absl::InfiniteDuration());
  EXPECT_EQ(options.log.level, "info");
  EXPECT_EQ(options.log.format, "text");
  EXPECT_TRUE(options.config.log_peers());
  EXPECT_EQ(options.config.metrics_address(), "");
}

TEST(Config, EveryFieldIsASettingWhoseFlagHasItsNameUnlessItsCommentGivesAnother) {
  std::ifstream file("proto/dragoman/v1/config.proto");
  const std::string proto{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(proto, HasSubstr("unless the comment gives another"));
  const auto parsed = Parse({"--help"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_TRUE(parsed->print.has_value());
  std::set<std::string> fields;
  for (const Setting& setting : Settings()) {
    ASSERT_NE(setting.Field(), nullptr) << setting.field;
    EXPECT_TRUE(fields.insert(setting.field).second) << setting.field;
    EXPECT_THAT(*parsed->print, HasSubstr("--" + setting.Flag() + " "));
    if (setting.flag != nullptr) {
      const std::string type = setting.type;
      EXPECT_THAT(proto, HasSubstr("--" + setting.Flag() + " " + type.substr(0, type.find('['))));
    }
  }
  EXPECT_EQ(static_cast<int>(fields.size()), v1::ServerConfig::descriptor()->field_count());
}

TEST(Config, ASwitchWithoutAValueIsTrue) {
  for (const Setting& setting : Settings()) {
    if (setting.kind != SettingKind::kSwitch) continue;
    for (const char* value : {"", "=true", "=on", "=false", "=0"}) {
      const std::string flag = "--" + setting.Flag() + value;
      const auto parsed = Parse({"--model", "a=x", flag.c_str()});
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      const v1::ServerConfig& config = parsed->options.config;
      EXPECT_EQ(config.GetReflection()->GetBool(config, setting.Field()),
                flag.find("=false") == flag.npos && flag.find("=0") == flag.npos)
          << flag;
    }
    EXPECT_FALSE(Parse({"--model", "a=x", ("--" + setting.Flag() + "=maybe").c_str()}).ok());
  }
}

TEST(Config, SmallDefaultsGiveWayToWhatIsGiven) {
  v1::ServerConfig config;
  config.add_models()->set_name("a");
  config.mutable_models(0)->set_directory("/a");
  config.set_small(true);
  config.set_http_threads(3);
  const auto resolved = Resolve(config);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->pool.workers, 1);
  EXPECT_EQ(resolved->pool.kv_capacity_bytes, size_t{32} << 20);
  EXPECT_EQ(resolved->config.http_threads(), 3);
  config.clear_small();
  EXPECT_EQ(Resolve(config)->pool.workers, 0);
}

TEST(Config, PackedWeightsAreKeptForModelsThatComeAndGo) {
  v1::ServerConfig config;
  config.add_models()->set_name("a");
  config.mutable_models(0)->set_directory("/a");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(Resolve(config)->packed_cache, "");
  config.set_model_memory(1 << 30);
  EXPECT_EQ(Resolve(config)->packed_cache, "/caches/dragoman");
  config.set_packed_cache("none");
  EXPECT_EQ(Resolve(config)->packed_cache, "");
  config.set_packed_cache("beside");
  EXPECT_EQ(Resolve(config)->packed_cache, "beside");
  unsetenv("XDG_CACHE_HOME");
}

// Where a ServerOptions is made without a configuration, as in tests, it has the same defaults.
TEST(Config, TheDefaultsOfTheTableAreThoseOfTheOptions) {
  v1::ServerConfig config;
  config.add_models()->set_name("a");
  config.mutable_models(0)->set_directory("/a");
  const auto resolved = Resolve(config);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const ServerOptions options;
  EXPECT_EQ(resolved->pool.max_waiting_requests, options.pool.max_waiting_requests);
  EXPECT_EQ(resolved->pool.max_waiting_tokens, options.pool.max_waiting_tokens);
  EXPECT_EQ(resolved->pool.threads_per_worker, options.pool.threads_per_worker);
  EXPECT_EQ(resolved->limits.max_texts, options.limits.max_texts);
  EXPECT_EQ(resolved->limits.max_characters, options.limits.max_characters);
  EXPECT_EQ(resolved->limits.max_source_tokens, options.limits.max_source_tokens);
  EXPECT_EQ(resolved->limits.max_beam_size, options.limits.max_beam_size);
  EXPECT_EQ(resolved->limits.max_hypotheses, options.limits.max_hypotheses);
  EXPECT_EQ(resolved->max_message_bytes, options.max_message_bytes);
  EXPECT_EQ(resolved->documents.max_bytes, options.documents.max_bytes);
  EXPECT_EQ(resolved->documents.at_once, options.documents.at_once);
  EXPECT_EQ(resolved->connections.keepalive_time, options.connections.keepalive_time);
  EXPECT_EQ(resolved->connections.keepalive_timeout, options.connections.keepalive_timeout);
  EXPECT_EQ(resolved->connections.max_age, options.connections.max_age);
  EXPECT_EQ(resolved->connections.max_age_grace, options.connections.max_age_grace);
  EXPECT_EQ(resolved->compat, options.compat);
}

v1::ServerConfig WithMemory(int64_t limit) {
  v1::ServerConfig config;
  config.add_models()->set_directory("/m");
  config.mutable_models(0)->set_name("m");
  config.set_memory_limit(limit);
  return config;
}

size_t SumOfParts(const ServerOptions& options) {
  const bool in_memory = options.config.store() == "memory";
  return options.pool.kv_capacity_bytes + options.pool.cache_bytes + options.model_memory +
         static_cast<size_t>(options.index_bytes) +
         (in_memory ? static_cast<size_t>(options.store_bytes) : 0) + options.documents.memory +
         options.requests_memory + options.answers.all;
}

TEST(Config, ThePartsOfTheMemoryFitIntoItsLimit) {
  for (int64_t limit = int64_t{64} << 20; limit < int64_t{1} << 42; limit = limit * 3 / 2) {
    for (const double cache : {0.0, 0.3}) {
      for (const double keys_values : {0.0, 0.2, 0.6}) {
        v1::ServerConfig config = WithMemory(limit);
        config.set_cache_bytes(static_cast<int64_t>(cache * static_cast<double>(limit)));
        config.set_kv_cache_bytes(static_cast<int64_t>(keys_values * static_cast<double>(limit)));
        const auto resolved = Resolve(config);
        // The largest message wants room in any case, which 96 MiB have by default.
        const bool given = cache + keys_values > 0;
        if (limit < (int64_t{given ? 700 : 96} << 20) && !resolved.ok()) continue;
        ASSERT_TRUE(resolved.ok()) << resolved.status();
        EXPECT_LE(SumOfParts(*resolved), static_cast<size_t>(limit));
        const auto message = static_cast<size_t>(resolved->max_message_bytes);
        EXPECT_GE(resolved->requests_memory, 2 * (message + MemoryOfMessage(message)));
        EXPECT_GT(resolved->documents.memory, 0u);
      }
    }
  }
  EXPECT_EQ(Resolve(WithMemory(int64_t{4} << 30))->pool.kv_capacity_bytes, size_t{1} << 30);
}

TEST(Config, PartsThatAreLargerThanTheMemoryAreNamed) {
  v1::ServerConfig config = WithMemory(int64_t{1} << 30);
  config.set_index_bytes(int64_t{1} << 30);
  const absl::Status status = Resolve(config).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("memory-limit is 1073741824 bytes"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("index-bytes 1073741824"));
}

TEST(Config, TheSettingsAreDocumented) { ExpectTable("docs/settings.md", SettingsAsMarkdown()); }

// A value for each flag.
const std::vector<std::pair<std::string, std::string>> kAllFlags = {
    {"model", "a=/a=b"},
    {"model", "org/b=/b"},
    {"default-model", "org/b"},
    {"pivot", "en"},
    {"grpc-address", "0.0.0.0:1"},
    {"http-address", "[::]:0"},
    {"metrics-address", "127.0.0.1:9"},
    {"admin-address", "unix:/run/a"},
    {"otlp-endpoint", "https://collector:4318"},
    {"otlp-one-in", "7"},
    {"otlp-headers", "/h"},
    {"debug-services", "true"},
    {"memory-limit", "64GiB"},
    {"precision", "float32"},
    {"matmul", "onednn"},
    {"kv-cache-precision", "int8"},
    {"workers", "3"},
    {"threads-per-worker", "4"},
    {"max-batch-rows", "64"},
    {"max-encode-tokens", "100"},
    {"kv-cache-bytes", "3GiB"},
    {"max-waiting-requests", "5"},
    {"max-waiting-tokens", "500"},
    {"max-texts", "7"},
    {"max-characters", "800"},
    {"max-source-tokens", "90"},
    {"max-beam-size", "10"},
    {"max-hypotheses", "2"},
    {"max-message-bytes", "64KiB"},
    {"max-document-bytes", "3MiB"},
    {"max-documents", "5"},
    {"drain-delay", "5s"},
    {"drain-timeout", "1m30s"},
    {"tls-cert", "/c"},
    {"tls-key", "/k"},
    {"tls-client-ca", "/a"},
    {"auth-tokens", "/t"},
    {"max-requests-per-principal", "4"},
    {"metrics-principals", "3"},
    {"quota-per-minute", "5000"},
    {"quota-burst", "600"},
    {"keepalive-time", "2m"},
    {"keepalive-timeout", "5s"},
    {"max-connection-age", "1h"},
    {"max-connection-age-grace", "10s"},
    {"log-level", "debug"},
    {"log-format", "json"},
    {"log-peers", "false"},
    {"shortlist", "org/b=dir:x/lex.s2t:50,40"},
    {"shortlist", "a=lex=1.bin"},
};

void ExpectAllFlagsSet(const ServerOptions& options) {
  ASSERT_EQ(options.models.size(), 2u);
  EXPECT_EQ(options.models[0].directory, "/a=b");
  EXPECT_EQ(options.default_model, "org/b");
  EXPECT_EQ(options.pivot, "en");
  EXPECT_EQ(options.config.grpc_address(), "0.0.0.0:1");
  EXPECT_EQ(options.config.http_address(), "[::]:0");
  EXPECT_EQ(options.config.metrics_address(), "127.0.0.1:9");
  EXPECT_EQ(options.config.admin_address(), "unix:/run/a");
  EXPECT_EQ(options.config.otlp_endpoint(), "https://collector:4318");
  EXPECT_EQ(options.config.otlp_headers(), "/h");
  EXPECT_EQ(options.traces.one_in, 7);
  EXPECT_EQ(options.precision, Precision::kFloat32);
  EXPECT_EQ(options.matmul, Matmul::kOneDnn);
  EXPECT_EQ(options.keys_values, Precision::kInt8);
  EXPECT_EQ(options.pool.workers, 3);
  EXPECT_EQ(options.pool.threads_per_worker, 4);
  EXPECT_EQ(options.pool.max_batch_rows, 64);
  EXPECT_EQ(options.pool.max_encode_tokens, 100);
  EXPECT_EQ(options.pool.kv_capacity_bytes, size_t{3} << 30);
  EXPECT_EQ(options.pool.max_waiting_requests, 5);
  EXPECT_EQ(options.pool.max_waiting_tokens, 500);
  EXPECT_EQ(options.limits.max_texts, 7);
  EXPECT_EQ(options.limits.max_characters, 800);
  EXPECT_EQ(options.limits.max_source_tokens, 90);
  EXPECT_EQ(options.limits.max_beam_size, 10);
  EXPECT_EQ(options.limits.max_hypotheses, 2);
  EXPECT_EQ(options.max_message_bytes, 64 << 10);
  EXPECT_EQ(options.documents.max_bytes, size_t{3} << 20);
  EXPECT_EQ(options.documents.at_once, 5);
  EXPECT_EQ(ToDuration(options.config.drain_delay()), absl::Seconds(5));
  EXPECT_EQ(ToDuration(options.config.drain_timeout()), absl::Seconds(90));
  EXPECT_EQ(options.tls.cert, "/c");
  EXPECT_EQ(options.tls.key, "/k");
  EXPECT_EQ(options.tls.client_ca, "/a");
  EXPECT_EQ(options.auth.tokens, "/t");
  EXPECT_EQ(options.auth.max_requests_per_principal, 4);
  EXPECT_EQ(options.config.metrics_principals(), 3);
  EXPECT_EQ(options.auth.quota, (Quota{.per_minute = 5000, .burst = 600}));
  EXPECT_EQ(options.connections.keepalive_time, absl::Minutes(2));
  EXPECT_EQ(options.connections.keepalive_timeout, absl::Seconds(5));
  EXPECT_EQ(options.connections.max_age, absl::Hours(1));
  EXPECT_EQ(options.connections.max_age_grace, absl::Seconds(10));
  EXPECT_EQ(options.log.level, "debug");
  EXPECT_EQ(options.log.format, "json");
  EXPECT_FALSE(options.config.log_peers());
  EXPECT_EQ(options.models[0].shortlist.file, "lex=1.bin");
  EXPECT_FALSE(options.models[0].shortlist.first.has_value());
  EXPECT_EQ(options.models[1].shortlist.file, "dir:x/lex.s2t");
  EXPECT_EQ(options.models[1].shortlist.first, 50);
  EXPECT_EQ(options.models[1].shortlist.best, 40);
}

TEST(Config, EveryFlagSetsItsOption) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : kAllFlags) arguments.push_back("--" + name + "=" + value);
  std::vector<const char*> flags;
  for (const std::string& argument : arguments) flags.push_back(argument.c_str());
  const auto parsed = Parse(flags);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectAllFlagsSet(parsed->options);
}

// Variables of the environment that are gone at the end of the test.
class Variables {
 public:
  void Set(const std::string& name, const std::string& value) {
    names_.push_back(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const std::string& name : names_) unsetenv(name.c_str());
  }

 private:
  std::vector<std::string> names_;
};

// The variable of a flag or of a field.
std::string VariableOf(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return "DRAGOMAN_" + name;
}

TEST(Config, EveryFlagCanBeAVariable) {
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : kAllFlags) {
    std::string& all = values[VariableOf(name)];
    all += (all.empty() ? "" : ";") + value;
  }
  Variables variables;
  for (const auto& [name, value] : values) variables.Set(name, value);
  const auto parsed = Parse({});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ExpectAllFlagsSet(parsed->options);
}

TEST(Config, FlagsWinOverVariablesAndThoseOverTheFile) {
  const ConfigFile file(R"(
      models { name: "a" directory: "/a" }
      workers: 1
      max_texts: 1
      max_hypotheses: 1)");
  Variables variables;
  variables.Set("DRAGOMAN_CONFIG", file.path());
  variables.Set("DRAGOMAN_WORKERS", "2");
  variables.Set("DRAGOMAN_MAX_TEXTS", "2");
  variables.Set("DRAGOMAN_VERSION", "9.9");  // no setting
  const auto parsed = Parse({"--workers=3"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.pool.workers, 3);
  EXPECT_EQ(parsed->options.limits.max_texts, 2);
  EXPECT_EQ(parsed->options.limits.max_hypotheses, 1);
  variables.Set("DRAGOMAN_LOG_LEVEL", "loud");
  EXPECT_THAT(std::string(Parse({}).status().message()), HasSubstr("log-level is \"loud\""));
}

TEST(Config, BadFlagsAreRefusedWithTheirNameAndValue) {
  const struct {
    std::vector<const char*> flags;
    const char* message;
  } cases[] = {
      {{}, "no model to serve"},
      {{"--model", "en-de"}, "--model: \"en-de\" is not of the form NAME=DIR"},
      {{"--model", "=dir"}, "the name \"\""},
      {{"--model", "a b=dir"}, "the name \"a b\""},
      {{"--model", "a="}, "model a has no directory"},
      {{"--model", "a=x", "--model", "a=y"}, "model a is given twice"},
      {{"--model", "a=x", "b=y"}, "b=y"},
      {{"--model", "a=x", "--default-model", "b"}, "default-model is \"b\""},
      {{"--model", "a=x", "--pin", "b"}, "pin is \"b\", but no --model has that name"},
      {{"--model", "a=x", "--pivot", "mul"}, "pivot is \"mul\""},
      {{"--model", "a=x", "--grpc-address", "localhost"}, "grpc-address is \"localhost\""},
      {{"--model", "a=x", "--grpc-address", ":50051"}, "grpc-address is \":50051\""},
      {{"--model", "a=x", "--http-address", "0.0.0.0:99999"}, "http-address is \"0.0.0.0:99999\""},
      {{"--model", "a=x", "--http-address", "0.0.0.0:80x"}, "http-address is \"0.0.0.0:80x\""},
      {{"--model", "a=x", "--metrics-address", "9465"}, "metrics-address is \"9465\""},
      {{"--model", "a=x", "--precision", "float8"}, "float8"},
      {{"--model", "a=x", "--matmul", "mkl"}, "matmul is \"mkl\", want auto, onednn or native"},
      {{"--model", "a=x", "--kv-cache-precision", "int4"},
       "kv-cache-precision is \"int4\", want auto, float32, bfloat16 or int8"},
      {{"--model", "a=x", "--workers", "-1"}, "workers is -1, want 0 to 1024"},
      {{"--model", "a=x", "--threads-per-worker", "0"}, "threads-per-worker is 0, want 1 to 255"},
      {{"--model", "a=x", "--workers", "9", "--threads-per-worker", "128"},
       "workers x threads-per-worker is 1152, want at most 1024"},
      {{"--model", "a=x", "--workers", "two"}, "two"},
      {{"--model", "a=x", "--workers"}, "--workers"},
      {{"--model", "a=x", "--max-texts", "0"}, "max-texts is 0, want 1 to"},
      {{"--model", "a=x", "--max-batch-rows", "8"}, "max-batch-rows is 8, want at least 16"},
      {{"--model", "a=x", "--kv-cache-bytes", "4GB"}, "--kv-cache-bytes: \"4GB\""},
      {{"--model", "a=x", "--max-message-bytes", "4GiB"}, "max-message-bytes is 4294967296"},
      {{"--model", "a=x", "--drain-timeout", "30"}, "--drain-timeout: \"30\" is not a duration"},
      {{"--model", "a=x", "--drain-timeout", "-1s"}, "drain-timeout is -1s"},
      {{"--model", "a=x", "--tls-key", "k"}, "tls-key is given without tls-cert"},
      {{"--model", "a=x", "--tls-client-ca", "c"}, "tls-client-ca is given without tls-cert"},
      {{"--model", "a=x", "--max-requests-per-principal", "4"}, "identifies callers"},
      {{"--model", "a=x", "--keepalive-time", "0s"}, "keepalive-time is 0, want 1s to 24h"},
      {{"--model", "a=x", "--max-connection-age", "48h"}, "max-connection-age is 48h"},
      {{"--model", "a=x", "--log-level", "loud"}, "log-level is \"loud\""},
      {{"--model", "a=x", "--log-format", "xml"}, "log-format is \"xml\""},
      {{"--model", "a=x", "--shortlist", "lex"}, "--shortlist: \"lex\" is not of the form"},
      {{"--model", "a=x", "--shortlist", "a="}, "--shortlist: \"a=\" is not of the form"},
      {{"--model", "a=x", "--shortlist", "b=lex"}, "shortlist is for \"b\""},
      {{"--model", "a=x", "--shortlist", "a=1", "--shortlist", "a=2"}, "of a is given twice"},
      {{"--model", "a=x", "--canary", "a=y"}, "--canary: \"a=y\" is not of the form"},
      {{"--model", "a=x", "--canary", "a=y:101"}, "canary of a has 101 percent"},
      {{"--model", "a=x", "--canary", "a=y:nan"}, "canary of a has nan percent"},
      {{"--model", "a=x", "--canary", "b=y:5"}, "canary is for \"b\""},
      {{"--model", "a=x", "--canary", "a=y:5", "--canary", "a=z:5"}, "of a is given twice"},
      {{"--model", "a=x", "--model-poll-seconds", "-1"}, "model-poll-seconds is -1"},
      {{"--model", "a=x", "--no-such-flag"}, "--no-such-flag"},
      {{"--model", "a=x", "--config", "/no/such/file"}, "cannot read /no/such/file"},
  };
  for (const auto& test : cases) {
    const auto parsed = Parse(test.flags);
    ASSERT_FALSE(parsed.ok()) << test.message;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(test.message));
  }
}

TEST(Config, NamesTheSettingsThatNeedARestart) {
  v1::ServerConfig before, after;
  before.set_workers(2);
  before.add_models()->set_name("a");
  after.set_workers(3);
  after.mutable_drain_timeout()->set_seconds(5);
  after.add_canaries()->set_percent(5);
  after.set_pivot("en");
  after.set_log_level("debug");
  EXPECT_EQ(NamesOfFixedChanges(before, after), "drain_timeout workers");
  EXPECT_EQ(NamesOfFixedChanges(before, before), "");
}

TEST(Config, VersionIsPrinted) {
  const auto parsed = Parse({"--version"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->print.value_or(""), testing::StartsWith("dragoman-server "));
}

TEST(Config, TheMachineIsDescribedAsItWouldBeUsed) {
  const auto parsed = Parse({"--machine", "--matmul=native"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_TRUE(parsed->print.has_value());
  for (const char* line :
       {"\ncpu  ", "\ncores  ", "\nmemory  ", "\nhuge pages  ", "\nkernels  ",
        "\nfloat32      native ", "\nbfloat16     none: bfloat16 is multiplied by oneDNN alone",
        "\nint8         native "}) {
    EXPECT_THAT(*parsed->print, testing::HasSubstr(line));
  }
  EXPECT_FALSE(Parse({"--machine", "--matmul=mkl"}).ok());
}

TEST(Config, FileIsReadAndFlagsWin) {
  const ConfigFile file(R"(
      models { name: "a" directory: "/a" }
      models { name: "b" directory: "/b" }
      default_model: "b"
      workers: 2
      max_texts: 9
      drain_timeout { seconds: 60 }
      kv_cache_bytes: 1073741824)");
  const auto parsed =
      Parse({"--config", file.path(), "--max-texts", "10", "--drain-timeout", "500ms"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->options.models.size(), 2u);
  EXPECT_EQ(parsed->options.default_model, "b");
  EXPECT_EQ(parsed->options.pool.workers, 2);
  EXPECT_EQ(parsed->options.limits.max_texts, 10);
  EXPECT_EQ(ToDuration(parsed->options.config.drain_timeout()), absl::Milliseconds(500));
  EXPECT_EQ(parsed->options.pool.kv_capacity_bytes, size_t{1} << 30);
}

TEST(Config, ModelsOfTheFlagsReplaceThoseOfTheFile) {
  const ConfigFile file(R"(models { name: "a" directory: "/a" })");
  const auto parsed = Parse({"--config", file.path(), "--model", "c=/c"});
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->options.models.size(), 1u);
  EXPECT_EQ(parsed->options.models[0].name, "c");
}

TEST(Config, ShortlistsOfTheFlagsReplaceThoseOfTheFile) {
  const ConfigFile file(R"(
      models { name: "a" directory: "/a" }
      models { name: "b" directory: "/b" }
      shortlists { model: "a" file: "a.lex" best: 20 })");
  const auto from_file = Parse({"--config", file.path()});
  ASSERT_TRUE(from_file.ok()) << from_file.status();
  EXPECT_EQ(from_file->options.models[0].shortlist.file, "a.lex");
  EXPECT_EQ(from_file->options.models[0].shortlist.best, 20);
  EXPECT_FALSE(from_file->options.models[0].shortlist.first.has_value());
  EXPECT_EQ(from_file->options.models[1].shortlist.file, "");
  const auto from_flag = Parse({"--config", file.path(), "--shortlist", "b=b.lex"});
  ASSERT_TRUE(from_flag.ok()) << from_flag.status();
  EXPECT_EQ(from_flag->options.models[0].shortlist.file, "");
  EXPECT_EQ(from_flag->options.models[1].shortlist.file, "b.lex");
}

TEST(Config, ErrorInTheFileNamesTheLine) {
  const ConfigFile file("workers: 2\nno_such_field: 1\n");
  const auto parsed = Parse({"--config", file.path()});
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(
      std::string(parsed.status().message()),
      testing::AllOf(HasSubstr(file.path()), HasSubstr("line 2"), HasSubstr("no_such_field")));
}

TEST(ParseBytes, TakesBinaryUnitsAndNothingElse) {
  EXPECT_EQ(ParseBytes("0").value(), 0);
  EXPECT_EQ(ParseBytes("123").value(), 123);
  EXPECT_EQ(ParseBytes("64KiB").value(), 64 << 10);
  EXPECT_EQ(ParseBytes("2TiB").value(), int64_t{2} << 40);
  for (const char* bad : {"", "KiB", "4G", "4 GiB", "-1", "1.5GiB", "9999999999GiB", "4GiBx"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
}

TEST(Config, AnAddressForOperatorsNeedsTokensUnlessItIsAFile) {
  const auto parse = [](std::initializer_list<const char*> flags) {
    std::vector<const char*> all = {"--model", "a=b"};
    all.insert(all.end(), flags);
    return Parse(all).status();
  };
  EXPECT_TRUE(parse({"--admin-address", "unix:/run/a"}).ok());
  EXPECT_TRUE(parse({"--admin-address", "127.0.0.1:1", "--auth-tokens", "/t"}).ok());
  EXPECT_THAT(parse({"--admin-address", "127.0.0.1:1"}).ToString(), HasSubstr("no auth-tokens"));
  EXPECT_THAT(parse({"--admin-address", "here"}).ToString(), HasSubstr("want HOST:PORT"));
}

}  // namespace
}  // namespace dragoman
