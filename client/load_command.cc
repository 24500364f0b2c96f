// dragoman load: the load generator.

#include <CLI/CLI.hpp>
#include <fstream>
#include <iomanip>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/commands.h"
#include "client/json.h"
#include "client/load_curve.h"
#include "client/load_generator.h"
#include "client/text_table.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kLoadDescription[] =
    "Puts the server under load; prints throughput, latencies and status codes.";
constexpr char kLoadNotes[] =
    "\n--concurrency is a closed loop: a number of callers, each waiting for its answer.  --rate\n"
    "is an open loop: requests arrive at random, at a rate per second, whether or not the server\n"
    "keeps up; latencies then count from the time a request was due.  --sweep goes through "
    "several\n"
    "rates:\n"
    "  dragoman load --sweep 50:400:8 --duration 20 --write curve\n"
    "writes curve.json, curve.csv and curve.svg.  The exit code is 2 if at some rate no answer was "
    "OK.";

constexpr char kDefaultTexts[] =
    "Good morning.\n"
    "Where is the nearest station?\n"
    "I would like a cup of coffee, please.\n"
    "She has lived in Boston for three years.\n"
    "What time does the next train leave?\n"
    "We had a lot of fun at the party last night.\n"
    "If it rains tomorrow, we will stay at home and read.\n"
    "He told me that he had never seen such a beautiful house before.\n";

struct LoadFlags {
  ServerFlags server;
  RequestFlags request;
  bool json = false;
  std::string input;
  double duration_seconds = 0.0;
  double cancel_after_seconds = 0.02;
  double objective_seconds = 1.0;
  std::string sweep;
  std::string write;  // path of a sweep's files, without their suffixes
  LoadOptions load;
};

absl::StatusOr<std::vector<std::string>> ReadTexts(const std::string& path) {
  std::string lines = kDefaultTexts;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(lines, ReadUtf8File(path));
  }
  std::vector<std::string> texts =
      absl::StrSplit(lines, absl::ByAnyChar("\r\n"), absl::SkipEmpty());
  if (texts.empty()) return InvalidArgumentError(path, " holds no text");
  return texts;
}

void PrintLatencies(std::ostream& out, const char* name, const Latencies& latencies) {
  out << "\n" << name;
  for (const auto& [label, p] : kPercentiles) {
    out << " " << label << " " << Percentile(latencies, p) * 1e3 << " ms";
  }
}

void PrintText(std::ostream& out, const LoadReport& report) {
  out << std::fixed << std::setprecision(1) << "requests    " << report.requests << " in "
      << report.seconds << " s\nthroughput  " << report.PerSecond(report.requests)
      << " requests/s, " << report.PerSecond(report.texts) << " texts/s, "
      << report.PerSecond(report.source_tokens) << " source tokens/s, "
      << report.PerSecond(report.good) << " good answers/s";
  PrintLatencies(out, "latency    ", report.latencies);
  if (!report.document_latencies.empty()) {
    PrintLatencies(out, "documents  ", report.document_latencies);
  }
  if (!report.batch_latencies.empty()) {
    PrintLatencies(out, "batch work ", report.batch_latencies);
  }
  out << "\ncodes      ";
  for (const auto& [code, count] : report.codes) out << " " << code << " " << count;
  out << "\n";
}

absl::Status WriteFile(const std::string& path, const std::string& content,
                       std::ios::openmode mode = std::ios::trunc) {
  std::ofstream file(path, std::ios::binary | mode);
  file << content;
  if (file.flush()) return absl::OkStatus();
  return UnavailableError("cannot write ", path);
}

// Reveals a wrong --write before anything is measured.  Keeps what an existing file contains.
absl::Status CheckWritable(const LoadFlags& flags) {
  if (flags.write.empty()) return absl::OkStatus();
  return WriteFile(flags.write + ".json", "", std::ios::app);
}

absl::Status WriteCurve(const LoadFlags& flags, const std::vector<LoadPoint>& points) {
  if (flags.write.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(WriteFile(flags.write + ".json", WriteJson(ToJson(points), 1) + "\n"));
  RETURN_IF_ERROR(WriteFile(flags.write + ".csv", ToCsv(points)));
  return WriteFile(flags.write + ".svg", ToSvg(points, flags.load.objective));
}

// Refusals are a result of a sweep, which goes beyond what the server can do.  But a server answers
// some requests at any rate: if it answered none, it has failed, or has gone.
ExitCode CheckAnswered(const std::vector<LoadPoint>& points, const Console& console) {
  std::vector<double> unanswered;
  for (const auto& [rate, report] : points) {
    if (report.codes.count("OK") == 0) unanswered.push_back(rate);
  }
  if (unanswered.empty()) return kExitOk;
  console.err << "dragoman: no answer was OK at " << absl::StrJoin(unanswered, ", ")
              << " requests/s\n";
  return kExitRefused;
}

// Runs one load for each rate, and reports it as it ends: a sweep that is stopped leaves what it
// has measured.
Outcome RunSweep(const LoadFlags& flags, const std::vector<double>& rates,
                 const std::vector<std::string>& texts, TranslationClient* client,
                 const Console& console) {
  std::vector<LoadPoint> points;
  for (const double rate : rates) {
    LoadOptions load = flags.load;
    load.rate = rate;
    points.push_back({rate, RunLoad(client, flags.request.Request(), texts, load)});
    if (!flags.json) {
      console.out << "== " << rate << " requests/s offered\n";
      PrintText(console.out, points.back().report);
      console.out.flush();
    }
    RETURN_IF_ERROR(WriteCurve(flags, points));
  }
  if (flags.json) console.out << ToJson(points) << "\n";
  return CheckAnswered(points, console);
}

Outcome RunLoadCommand(LoadFlags flags, const Console& console) {
  std::vector<double> rates;
  if (!flags.sweep.empty()) {
    ASSIGN_OR_RETURN(rates, ParseRates(flags.sweep));
    RETURN_IF_ERROR(CheckWritable(flags));
  } else if (!flags.write.empty()) {
    return absl::InvalidArgumentError("--write needs --sweep");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, ReadTexts(flags.input));
  flags.load.cancel_after = absl::Seconds(flags.cancel_after_seconds);
  flags.load.objective = absl::Seconds(flags.objective_seconds);
  if (flags.duration_seconds > 0) flags.load.duration = absl::Seconds(flags.duration_seconds);
  const bool endless = flags.load.duration == absl::InfiniteDuration();
  if (endless && flags.load.requests == INT64_MAX) flags.load.duration = absl::Seconds(10);
  // A refusal is a result.
  ASSIGN_OR_RETURN(const auto client, flags.server.Connect(console, /*retry=*/false));
  const v1::TranslateRequest request = flags.request.Request();
  // First one request that is not counted: it connects, and reveals errors in the flags.
  v1::TranslateRequest first = request;
  first.add_contents(texts.front());
  if (const absl::Status status = client->Translate(first).status(); !status.ok()) {
    return ReportFailedTranslation(console, status, client.get());
  }
  if (!rates.empty()) return RunSweep(flags, rates, texts, client.get(), console);
  const LoadReport report = RunLoad(client.get(), request, texts, flags.load);
  if (flags.json) {
    console.out << ToJson(report) << "\n";
  } else {
    PrintText(console.out, report);
  }
  return report.codes.count("OK") > 0 ? kExitOk : kExitRefused;
}

// How many requests, and how fast.
void AddRateFlags(CLI::App* command, LoadFlags* flags) {
  CLI::Option* concurrency =
      command->add_option("--concurrency", flags->load.concurrency, "callers of a closed loop")
          ->check(CLI::Range(1, 100'000))
          ->capture_default_str();
  CLI::Option* rate =
      command->add_option("--rate", flags->load.rate, "requests per second of an open loop")
          ->check(CLI::PositiveNumber)
          ->excludes(concurrency);
  command
      ->add_option("--sweep", flags->sweep,
                   "rates of successive open loops: 20,50,100 or FIRST:LAST:COUNT")
      ->excludes(concurrency)
      ->excludes(rate);
  command->add_option("--write", flags->write,
                      "NAME: a sweep is written to NAME.json, NAME.csv and NAME.svg");
  command
      ->add_option("--objective", flags->objective_seconds,
                   "seconds within which an answer counts as good")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--duration", flags->duration_seconds,
                   "seconds to send for (10, if --requests is not given either)")
      ->check(CLI::PositiveNumber);
  command->add_option("--requests", flags->load.requests, "the most requests to send")
      ->check(CLI::PositiveNumber);
}

// What the requests are.
void AddTrafficFlags(CLI::App* command, LoadFlags* flags) {
  command->add_option("--texts-per-request", flags->load.texts_per_request)
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command
      ->add_option("--document-share", flags->load.document_share,
                   "fraction of the requests, 0 to 1, that are documents")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--document-texts", flags->load.document_texts, "texts of a document")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command
      ->add_option("--batch-share", flags->load.batch_share,
                   "fraction of the requests, 0 to 1, with batch priority")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--cancel-share", flags->load.cancel_share,
                   "fraction of the requests, 0 to 1, that are cancelled")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--cancel-after", flags->cancel_after_seconds,
                   "seconds after which they are cancelled")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--seed", flags->load.seed, "of everything random")->capture_default_str();
  command->add_option("--input", flags->input,
                      "FILE with a text per line; by default, some built-in texts");
}

}  // namespace

void AddLoadCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App* command = app->add_subcommand("load", kLoadDescription)->footer(kLoadNotes);
  flags->server.AddTo(command);
  flags->request.AddTo(command);
  AddOutputFlag(command, &flags->json);
  AddRateFlags(command, flags.get());
  AddTrafficFlags(command, flags.get());
  command->callback([flags, &console, exit_code] {
    *exit_code = CodeOf(RunLoadCommand(*flags, console), console);
  });
}

}  // namespace dragoman
