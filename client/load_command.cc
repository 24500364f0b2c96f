// dragoman load: the load generator.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iomanip>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/commands.h"
#include "client/json.h"
#include "client/line_reader.h"
#include "client/load_generator.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kDescription[] =
    "Puts the server under load; prints throughput, latencies and status codes.";
constexpr char kNotes[] =
    "\n--concurrency is a closed loop: so many callers, each waiting for its answer.  --rate is "
    "an\n"
    "open loop: requests arrive at random, so many per second, whether or not the server keeps up.";

const std::vector<std::string>& DefaultTexts() {
  static const auto* const kTexts = new std::vector<std::string>{
      "Good morning.",
      "Where is the nearest station?",
      "I would like a cup of coffee, please.",
      "She has lived in Boston for three years.",
      "What time does the next train leave?",
      "We had a lot of fun at the party last night.",
      "If it rains tomorrow, we will stay at home and read.",
      "He told me that he had never seen such a beautiful house before."};
  return *kTexts;
}

struct LoadFlags {
  ServerFlags server;
  RequestFlags request;
  bool json = false;
  std::string input;
  double duration_seconds = 0.0;
  LoadOptions load;
};

absl::StatusOr<std::vector<std::string>> ReadTexts(const std::string& path) {
  if (path.empty()) return DefaultTexts();
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(path + ": " + std::strerror(errno));
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd,
                                                                [](const int* f) { close(*f); });
  std::vector<std::string> texts;
  LineReader reader(fd, /*max_bytes=*/512 << 10);
  while (true) {
    ASSIGN_OR_RETURN(std::optional<std::string> line, reader.Next());
    if (!line.has_value()) break;
    if (!line->empty()) texts.push_back(*std::move(line));
  }
  if (texts.empty()) return absl::InvalidArgumentError(path + " holds no text");
  return texts;
}

void PrintText(std::ostream& out, const LoadReport& report) {
  out << std::fixed << std::setprecision(1) << "requests    " << report.requests << " in "
      << report.seconds << " s\nthroughput  " << report.PerSecond(report.requests)
      << " requests/s, " << report.PerSecond(report.texts) << " texts/s, "
      << report.PerSecond(report.source_tokens) << " source tokens/s\nlatency    ";
  const std::pair<const char*, double> kPercentiles[] = {
      {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};
  for (const auto& [name, p] : kPercentiles) {
    out << " " << name << " " << report.Percentile(p) * 1e3 << " ms";
  }
  out << "\ncodes      ";
  for (const auto& [code, count] : report.codes) out << " " << code << " " << count;
  out << "\n";
}

ExitCode RunLoadCommand(LoadFlags flags, const Console& console) {
  const absl::StatusOr<std::vector<std::string>> texts = ReadTexts(flags.input);
  if (!texts.ok()) {
    ReportError(console, texts.status());
    return kExitUsage;
  }
  if (flags.duration_seconds > 0) flags.load.duration = absl::Seconds(flags.duration_seconds);
  const bool endless = flags.load.duration == absl::InfiniteDuration();
  if (endless && flags.load.requests == INT64_MAX) flags.load.duration = absl::Seconds(10);
  const auto client = flags.server.Connect(console, /*retry=*/false);  // a refusal is a result
  if (!client.ok()) return ReportUsage(console, client.status());
  const v1::TranslateRequest request = flags.request.Request();
  // One request ahead, not counted: it connects, and shows what is wrong with the flags.
  v1::TranslateRequest first = request;
  first.add_contents(texts->front());
  if (const absl::Status status = (*client)->Translate(first).status(); !status.ok()) {
    return ReportFailedTranslation(console, status, client->get());
  }
  const LoadReport report = RunLoad(client->get(), request, *texts, flags.load);
  if (flags.json) {
    console.out << ToJson(report) << "\n";
  } else {
    PrintText(console.out, report);
  }
  return report.codes.count("OK") > 0 ? kExitOk : kExitRefused;
}

}  // namespace

void AddLoadCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App* command = app->add_subcommand("load", kDescription)->footer(kNotes);
  flags->server.AddTo(command);
  flags->request.AddTo(command);
  AddOutputFlag(command, &flags->json);
  CLI::Option* concurrency =
      command->add_option("--concurrency", flags->load.concurrency, "callers of a closed loop")
          ->check(CLI::Range(1, 100'000))
          ->capture_default_str();
  command->add_option("--rate", flags->load.rate, "requests per second of an open loop")
      ->check(CLI::PositiveNumber)
      ->excludes(concurrency);
  command
      ->add_option("--duration", flags->duration_seconds,
                   "seconds to send for (10, if --requests is not given either)")
      ->check(CLI::PositiveNumber);
  command->add_option("--requests", flags->load.requests, "requests to send at the most")
      ->check(CLI::PositiveNumber);
  command->add_option("--texts-per-request", flags->load.texts_per_request)
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--seed", flags->load.seed, "of the open loop's arrivals")
      ->capture_default_str();
  command->add_option("--input", flags->input, "FILE with a text per line; some are built in");
  command->callback([flags, &console, exit_code] { *exit_code = RunLoadCommand(*flags, console); });
}

}  // namespace dragoman
